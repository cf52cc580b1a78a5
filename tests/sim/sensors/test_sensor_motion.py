"""IMU, GNSS and collisions against closed forms and CARLA's own geodesy."""

from __future__ import annotations

import math
from collections.abc import Callable

import msgpack
import numpy as np
import pytest
from sensor_world import FLAT, HILLY, World

from driveproof.maps import find_town
from driveproof.sim.engine import Pose3, VehicleControl
from driveproof.sim.sensors import CollisionEvent, make_sensor
from driveproof.sim.sensors.geodesy import Geodesy


def unpacked(world: World, name: str, pose: Pose3 | None = None, **more: str) -> list[object]:
    actor = world.sensor(name, pose or Pose3(), more)
    message = make_sensor(world.engine, actor).measure(world.engine)
    assert isinstance(message, bytes)
    return msgpack.unpackb(message)  # type: ignore[no-any-return]


def test_imu_at_rest_feels_gravity_and_knows_north(world: World) -> None:
    force, turn, compass = unpacked(world, "other.imu")
    assert force == pytest.approx([0.0, 0.0, 9.81], abs=0.05)
    assert turn == pytest.approx([0.0, 0.0, 0.0], abs=1e-3)
    yaw = -math.degrees(world.ego.pose.yaw)  # CARLA's: clockwise from east
    assert compass == pytest.approx(math.radians((yaw + 90.0) % 360.0), abs=1e-4)
    tilted, _, _ = unpacked(world, "other.imu", Pose3(pitch=0.3))
    assert tilted[0] == pytest.approx(9.81 * math.sin(0.3), abs=0.05)  # type: ignore[index]


def test_imu_feels_acceleration_and_turning_in_carlas_frame(world: World) -> None:
    for _ in range(40):
        world.ego.control = VehicleControl(throttle=0.7, steer=0.25)
        world.engine.step(0.05)
    force, turn, _ = unpacked(world, "other.imu")
    speed = float(np.linalg.norm(world.ego.velocity))
    assert speed > 2.0
    assert turn[2] > 0.05  # type: ignore[index]  # to the right is positive
    assert turn[2] == pytest.approx(-world.ego.angular_velocity[2], abs=1e-5)  # type: ignore[index]
    assert force[1] == pytest.approx(speed * turn[2], rel=0.4)  # type: ignore[index]  # towards the right


def test_imu_noise_follows_its_seed(world: World) -> None:
    rough = {"noise_accel_stddev_x": "0.5", "noise_gyro_bias_z": "0.2", "noise_seed": "3"}
    one = unpacked(world, "other.imu", **rough)
    assert one == unpacked(world, "other.imu", **rough)
    assert one != unpacked(world, "other.imu", **(rough | {"noise_seed": "4"}))
    assert one[1][2] == pytest.approx(0.2, abs=0.01)  # type: ignore[index]


@pytest.mark.parametrize("town", ["Town01", "Town10HD", "Town04"])
def test_gnss_agrees_with_the_clients_geodesy(town: str) -> None:
    carla = pytest.importorskip("carla")
    text = find_town(town).replace("+lat_0=0 +lon_0=0", "+lat_0=48.5 +lon_0=8.25")
    reference = carla.Map(town, text)
    geodesy = Geodesy.of(text)
    for x, y, z in ((0.0, 0.0, 0.0), (120.0, -75.0, 3.0), (-310.0, 222.0, -1.0)):
        fix = reference.transform_to_geolocation(carla.Location(x, -y, z))
        found = geodesy.locate(x, y, z)
        assert found[:2] == pytest.approx((fix.latitude, fix.longitude), abs=1e-9)
        assert found[2] == pytest.approx(fix.altitude, abs=1e-3)


def test_gnss_bias_and_height(build: Callable[[str], World]) -> None:
    world = build(HILLY)
    plain = unpacked(world, "other.gnss")
    assert plain[2] == pytest.approx(world.ego.pose.z, abs=0.01)
    biased = unpacked(world, "other.gnss", noise_alt_bias="5.0")
    assert biased[2] == pytest.approx(plain[2] + 5.0)  # type: ignore[operator]
    assert unpacked(build(FLAT), "other.gnss") != plain


def test_a_crash_is_reported_to_both_sides_once_a_step(world: World) -> None:
    wall = world.spawn("vehicle.carlamotors.firetruck", 12.0, 0.0)
    sensor = make_sensor(world.engine, world.sensor("other.collision"))
    away = np.array([math.cos(world.ego.pose.yaw), math.sin(world.ego.pose.yaw), 0.0])
    assert sensor.measure(world.engine) == []
    world.ego.velocity = 10.0 * away
    for _ in range(40):
        world.engine.step(0.05)
        events = sensor.measure(world.engine)
        if events:
            break
    (event,) = events
    assert isinstance(event, CollisionEvent)
    assert (event.self_id, event.other_id) == (world.ego.id, wall.id)
    assert event.impulse @ away < -1000.0  # pushed back
