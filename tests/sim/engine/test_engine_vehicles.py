"""Vehicles drive like vehicles."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from engine_roads import straight_road, town_of

from driveproof.maps import TownMap, load_town
from driveproof.sim.blueprints import BlueprintLibrary
from driveproof.sim.engine import (
    AckermannControl,
    Engine,
    Gear,
    LaneGround,
    Pose3,
    Vehicle,
    VehicleControl,
    Wheel,
)

MKZ = "vehicle.lincoln.mkz_2020"
DT = 0.05


def car(
    engine: Engine, x: float = 0.0, y: float = 0.0, yaw: float = 0.0, what: str = MKZ
) -> Vehicle:
    vehicle = engine.spawn(what, {}, Pose3(x, y, yaw=yaw))
    assert isinstance(vehicle, Vehicle)
    return vehicle


def roll(engine: Engine, vehicle: Vehicle, control: VehicleControl, seconds: float) -> None:
    vehicle.control = control
    for _ in range(round(seconds / DT)):
        engine.step(DT)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(("throttle", "allowed"), [("0.4", 0.25), ("0.7", 0.5), ("1.0", 0.5)])
def test_speeds_follow_the_recorded_runs_at_constant_throttle(
    shared_dir: Path, catalogue: BlueprintLibrary, throttle: str, allowed: float
) -> None:
    """Root mean square error of speed, m/s, over whole recordings that reach 4, 33 and 33 m/s."""
    path = shared_dir / f"data/fixtures/carla/garage_vehicle/throttle_{throttle}.json"
    record = json.loads(path.read_text())
    speed = np.array(record["ego_speeds"]) / 3.6
    place = np.array(record["ego_locations"]) * [1.0, -1.0]
    heading = np.radians(-np.array(record["ego_rotations"]))
    # brakes at the end of the recording do not count, nor does the clutch at its very beginning
    first = int(np.flatnonzero(speed[8:] > 0.6)[0]) + 11
    last = 3160 if throttle == "0.4" else int(speed.argmax())
    town = load_town("Town04")
    engine = Engine(town, catalogue)
    ground = LaneGround(town)
    x, y = place[first].tolist()
    z, _, _ = ground.surface(np.array([x]), np.array([y]), np.array([0.5]))
    vehicle = engine.spawn(MKZ, {}, Pose3(x, y, float(z[0]), yaw=float(heading[first])))
    assert isinstance(vehicle, Vehicle)
    vehicle.velocity = speed[first] * np.array([np.cos(heading[first]), np.sin(heading[first]), 0])
    vehicle.control = VehicleControl(throttle=float(throttle))
    error = []
    for k in range(first + 1, last + 1):
        engine.step(DT)
        error.append(vehicle.speed - speed[k])
    assert np.sqrt(np.mean(np.square(error))) < allowed


def test_full_braking_from_20_metres_a_second_takes_the_way_of_a_good_road(plain: Engine) -> None:
    vehicle = car(plain)
    vehicle.velocity = (20.0, 0.0, 0.0)
    roll(plain, vehicle, VehicleControl(brake=1.0), 6.0)
    assert 20.0 < vehicle.pose.x < 33.0  # 10 to 6 m/s²
    assert vehicle.speed == 0.0


def test_a_standing_vehicle_does_not_creep(plain: Engine) -> None:
    vehicle = car(plain, x=5.0)
    roll(plain, vehicle, VehicleControl(), 5.0)
    assert vehicle.pose.x == 5.0
    assert vehicle.speed == 0.0


def test_it_holds_on_a_slope_and_leans_with_it(catalogue: BlueprintLibrary) -> None:
    engine = Engine(town_of(straight_road(slope=0.1)), catalogue)
    vehicle = car(engine, 300.0, -1.75)
    vehicle.pose = Pose3(300.0, -1.75, 30.0)
    roll(engine, vehicle, VehicleControl(), 3.0)
    assert vehicle.pose.x == pytest.approx(300.0, abs=0.01)
    assert vehicle.pose.z == pytest.approx(30.0, abs=0.02)
    assert vehicle.pose.pitch == pytest.approx(math.atan(0.1), abs=1e-3)
    assert vehicle.pose.roll == pytest.approx(0.0, abs=1e-3)


def test_across_a_slope_the_right_side_hangs_down(catalogue: BlueprintLibrary) -> None:
    engine = Engine(town_of(straight_road(slope=0.1)), catalogue)
    vehicle = engine.spawn(MKZ, {}, Pose3(300.0, 0.0, 30.0, yaw=math.pi / 2))  # uphill is right
    for _ in range(20):
        engine.step(DT)
    assert vehicle.pose.roll == pytest.approx(-math.atan(0.1), abs=2e-3)


@pytest.mark.parametrize("steer", [-0.5, -0.1, 0.2, 0.6])
def test_the_rear_axle_circles_at_wheelbase_over_tangent(plain: Engine, steer: float) -> None:
    vehicle = car(plain)
    vehicle.constant_velocity = (2.0, 0.0, 0.0)
    roll(plain, vehicle, VehicleControl(steer=steer), 2.0)
    wheelbase = vehicle.spec.wheelbase
    points = []
    for _ in range(200):
        plain.step(DT)
        pose = vehicle.pose
        points.append(
            [
                pose.x - wheelbase / 2 * math.cos(pose.yaw),
                pose.y - wheelbase / 2 * math.sin(pose.yaw),
            ]
        )
    rate = vehicle.angular_velocity[2]
    assert np.sign(rate) == -np.sign(steer)  # CARLA steers to the right with positive values
    radius = wheelbase / math.tan(abs(vehicle.wheel_angle))
    assert 2.0 / abs(rate) == pytest.approx(radius, rel=1e-2)
    track = np.array(points)
    # a circle through three points of the track
    (ax, ay), (bx, by), (cx, cy) = track[0], track[70], track[140]
    sides = (
        math.dist((ax, ay), (bx, by))
        * math.dist((bx, by), (cx, cy))
        * math.dist((cx, cy), (ax, ay))
    )
    area = abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) / 2
    assert sides / (4 * area) == pytest.approx(radius, rel=1e-2)


def test_fast_vehicles_steer_less_and_no_harder_than_tyres_grip(plain: Engine) -> None:
    vehicle = car(plain)
    vehicle.velocity = (30.0, 0.0, 0.0)
    vehicle.control = VehicleControl(steer=1.0, throttle=0.5)
    for _ in range(60):
        plain.step(DT)
        speed = float(np.hypot(*vehicle.velocity[:2]))
        assert abs(vehicle.angular_velocity[2]) * speed < 9.81 * 1.1
    assert vehicle.wheel_angle < 0.0


def test_reverse_drives_backwards_and_brakes_to_a_stand(plain: Engine) -> None:
    vehicle = car(plain)
    roll(plain, vehicle, VehicleControl(throttle=0.6, reverse=True), 4.0)
    assert vehicle.speed < -1.0
    assert vehicle.control.gear == -1
    roll(plain, vehicle, VehicleControl(brake=1.0, reverse=True), 3.0)
    assert vehicle.speed == 0.0


def test_neutral_does_not_drive_and_a_manual_gear_stays(plain: Engine) -> None:
    vehicle = car(plain)
    roll(plain, vehicle, VehicleControl(throttle=1.0, manual_gear_shift=True, gear=0), 2.0)
    assert vehicle.speed == pytest.approx(0.0, abs=1e-6)
    roll(plain, vehicle, VehicleControl(throttle=1.0, manual_gear_shift=True, gear=1), 20.0)
    assert vehicle.control.gear == 1
    assert 5.0 < vehicle.speed < 14.0


def test_the_hand_brake_stops(plain: Engine) -> None:
    vehicle = car(plain)
    vehicle.velocity = (10.0, 0.0, 0.0)
    roll(plain, vehicle, VehicleControl(hand_brake=True), 4.0)
    assert vehicle.speed == 0.0
    assert vehicle.pose.x < 20.0


@pytest.mark.parametrize(
    ("what", "fastest"),
    [
        ("vehicle.diamondback.century", 12.5),
        ("vehicle.carlamotors.european_hgv", 33.5),
        (MKZ, 56.0),
    ],
)
def test_each_class_has_its_top_speed(plain: Engine, what: str, fastest: float) -> None:
    vehicle = car(plain, what=what)
    roll(plain, vehicle, VehicleControl(throttle=1.0), 60.0)
    assert 0.5 * fastest < vehicle.speed < fastest


def test_a_vehicle_falls_and_lands(plain: Engine) -> None:
    vehicle = plain.spawn(MKZ, {}, Pose3(z=4.905))
    for _ in range(20):  # 4.905 m take a second
        assert vehicle.pose.z > 0.0
        plain.step(DT)
    for _ in range(5):
        plain.step(DT)
    assert vehicle.pose.z == 0.0
    assert vehicle.velocity[2] == 0.0


def test_without_physics_or_gravity_it_stays_where_it_is_put(plain: Engine) -> None:
    vehicle = plain.spawn(MKZ, {}, Pose3(z=5.0))
    vehicle.simulate_physics = False
    floating = plain.spawn(MKZ, {}, Pose3(x=20.0, z=5.0))
    floating.gravity = False
    for _ in range(20):
        plain.step(DT)
    assert vehicle.pose.z == floating.pose.z == 5.0
    vehicle.simulate_physics = True
    for _ in range(40):
        plain.step(DT)
    assert vehicle.pose.z == 0.0


def test_constant_velocity_holds_and_lets_go(plain: Engine) -> None:
    vehicle = car(plain, yaw=math.pi / 2)
    vehicle.constant_velocity = (5.0, 0.0, 0.0)
    roll(plain, vehicle, VehicleControl(brake=1.0), 2.0)
    assert vehicle.velocity.tolist() == pytest.approx([0.0, 5.0, 0.0], abs=1e-9)
    assert vehicle.pose.y == pytest.approx(10.0)
    vehicle.constant_velocity = None
    roll(plain, vehicle, VehicleControl(brake=1.0), 2.0)
    assert vehicle.speed == 0.0


def test_impulse_and_force_change_momentum(plain: Engine) -> None:
    vehicle = car(plain)
    mass = vehicle.physics.mass
    vehicle.add_impulse((mass * 3.0, 0.0, 0.0))
    assert vehicle.velocity[0] == pytest.approx(3.0)
    other = car(plain, x=50.0)
    other.control = VehicleControl(manual_gear_shift=True, gear=0)
    other.add_force((mass * 4.0, 0.0, 0.0))
    plain.step(DT)
    assert other.speed == pytest.approx(4.0 * DT, rel=0.2)
    other.add_angular_impulse((0.0, 0.0, 4000.0))
    assert other.angular_velocity[2] > 0.5


def test_a_changed_mass_counts(plain: Engine) -> None:
    from dataclasses import replace

    light, heavy = car(plain), car(plain, y=10.0)
    heavy.physics = replace(heavy.physics, mass=3.0 * heavy.physics.mass)
    for vehicle in (light, heavy):
        vehicle.control = VehicleControl(throttle=1.0)
    for _ in range(60):
        plain.step(DT)
    assert heavy.speed < 0.6 * light.speed


def test_ackermann_reaches_its_speed_and_steers_to_the_right(plain: Engine) -> None:
    vehicle = car(plain)
    vehicle.ackermann = AckermannControl(speed=10.0, acceleration=3.0)
    for _ in range(600):
        plain.step(DT)
    assert vehicle.speed == pytest.approx(10.0, abs=1.0)
    vehicle.ackermann = AckermannControl(speed=3.0, steer=0.2)
    for _ in range(800):
        plain.step(DT)
    assert vehicle.speed == pytest.approx(3.0, abs=0.6)
    assert vehicle.angular_velocity[2] < 0.0
    vehicle.control = VehicleControl(brake=1.0)
    assert vehicle.ackermann is None


def test_the_acceleration_is_that_of_the_step(plain: Engine) -> None:
    vehicle = car(plain)
    vehicle.velocity = (10.0, 0.0, 0.0)
    vehicle.control = VehicleControl(brake=1.0)
    before = vehicle.velocity
    plain.step(DT)
    assert vehicle.acceleration.tolist() == pytest.approx(
        ((vehicle.velocity - before) / DT).tolist()
    )
    assert vehicle.acceleration[0] < -5.0


def test_bridges_and_what_lies_below_keep_apart(catalogue: BlueprintLibrary) -> None:
    """Town04's motorway passes over streets: a vehicle keeps to the level that it was put on."""
    town: TownMap = load_town("Town04")
    ground = LaneGround(town)
    lanes = town.lanes
    tree_x = lanes.centre[:, :2]
    from scipy.spatial import cKDTree

    pairs = cKDTree(tree_x).query_pairs(1.0, output_type="ndarray")
    gap = np.abs(lanes.centre[pairs[:, 0], 2] - lanes.centre[pairs[:, 1], 2])
    crossing = pairs[gap > 4.0]
    assert len(crossing)
    for a, b in crossing[:: max(1, len(crossing) // 20)].tolist():
        for point in (a, b):
            x, y, z = lanes.centre[point]
            found, _, _ = ground.surface(np.array([x]), np.array([y]), np.array([z + 0.3]))
            assert found[0] == pytest.approx(z, abs=0.35)


def test_heights_are_those_of_the_lanes(town10: TownMap) -> None:
    ground = LaneGround(town10)
    lanes = town10.lanes
    some = np.arange(0, len(lanes.centre), 37)
    x, y, z = lanes.centre[some].T
    found, _, _ = ground.surface(x, y, z)
    assert np.abs(found - z).max() < 0.3
    assert np.isfinite(
        ground.surface(np.array([1e9, -1e9]), np.array([0.0, 1e9]), np.zeros(2))[0]
    ).all()


_NONSENSE = (0.0, -1.0, 1e-30, 1e38, -1e38, math.inf, math.nan)


@pytest.mark.parametrize("value", _NONSENSE)
def test_no_constants_of_a_vehicle_break_the_world(plain: Engine, value: float) -> None:
    vehicle, bystander = car(plain), car(plain, x=20.0)
    sound = vehicle.physics
    names = [field.name for field in fields(sound) if isinstance(getattr(sound, field.name), float)]
    broken = [replace(sound, **{name: value}) for name in names]
    broken += [
        replace(sound, torque_curve=((value, value), (0.0, value))),
        replace(sound, steering_curve=((value, value), (value, 1.0))),
        replace(sound, gears=(Gear(value, value, value),) * 3),
        replace(sound, wheels=(Wheel(value, value, value, value, value),) * 4),
    ]
    for constants in broken:
        vehicle.physics = constants
        for control in (VehicleControl(1.0, 0.5), VehicleControl(0.2, -1.0, 1.0, reverse=True)):
            roll(plain, vehicle, control, 0.2)
        assert np.isfinite(plain.table.position).all()
        assert np.isfinite(plain.table.velocity).all()
        assert np.isfinite(plain.table.rotation).all()
        assert math.isfinite(vehicle.engine_rpm)
    vehicle.physics = sound
    assert bystander.alive


def test_nothing_is_put_beyond_the_edge_of_the_world(plain: Engine) -> None:
    vehicle = car(plain)
    vehicle.pose = Pose3(1e38, -1e38, 1e200)
    assert np.abs(vehicle.pose.position).max() <= 1e6
    far = plain.spawn("sensor.other.imu", {}, Pose3(1e300, 0.0, 0.0), parent=vehicle.id)
    plain.step(DT)
    assert np.isfinite(far.pose.position).all()
