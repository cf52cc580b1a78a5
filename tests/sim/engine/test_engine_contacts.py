"""What touches pushes, and nothing passes through anything."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.geometry import box_corners, boxes_overlap
from driveproof.maps import TownMap
from driveproof.sim.blueprints import BlueprintLibrary
from driveproof.sim.engine import (
    Actor,
    Engine,
    FlatGround,
    Pose3,
    SpawnBlocked,
    StaticBox,
    VehicleControl,
    WalkerControl,
)

MKZ, TT, HGV = "vehicle.lincoln.mkz_2020", "vehicle.audi.tt", "vehicle.carlamotors.european_hgv"
PEDESTRIAN, CONE = "walker.pedestrian.0001", "static.prop.trafficcone01"
DT = 0.05
NEUTRAL = VehicleControl(manual_gear_shift=True, gear=0)


def momentum(engine: Engine, *actors: Actor) -> np.ndarray:
    return sum(engine.table.mass[a.row] * a.velocity for a in actors)  # type: ignore[return-value]


def overlap(engine: Engine, a: Actor, b: Actor) -> bool:
    corners = []
    for actor in (a, b):
        table, row = engine.table, actor.row
        pose = [*table.position[row, :2], table.rotation[row, 2]]
        cos, sin = math.cos(pose[2]), math.sin(pose[2])
        x, y = table.box_offset[row, :2]
        pose[0] += cos * x - sin * y
        pose[1] += sin * x + cos * y
        half = table.half_extent[row]
        corners.append(box_corners(np.array(pose), 2 * half[0] - 0.1, 2 * half[1] - 0.1))
    return bool(boxes_overlap(*corners))


def test_a_car_hit_from_behind_gains_what_the_striker_loses(plain: Engine) -> None:
    front, striker = plain.spawn(MKZ, {}, Pose3(20.0)), plain.spawn(MKZ, {}, Pose3(10.0))
    front.control = striker.control = NEUTRAL  # type: ignore[attr-defined]
    striker.velocity = (10.0, 0.0, 0.0)
    before = momentum(plain, front, striker)
    events = []
    while not events:
        plain.step(DT)
        events = plain.collisions
    assert striker.velocity[0] < 7.0
    assert front.velocity[0] > 3.0
    assert front.velocity[0] >= striker.velocity[0]
    assert momentum(plain, front, striker)[0] == pytest.approx(before[0], rel=0.03)  # road drag
    by_actor = {event.actor_id: event for event in events}
    assert by_actor[front.id].other_id == striker.id
    assert by_actor[front.id].impulse[0] > 0.0
    assert by_actor[striker.id].impulse == pytest.approx(-by_actor[front.id].impulse)
    assert by_actor[front.id].point[0] == pytest.approx(17.5, abs=0.6)


def test_a_lorry_is_hardly_slowed_by_a_car(plain: Engine) -> None:
    lorry, small = plain.spawn(HGV, {}, Pose3(0.0)), plain.spawn(TT, {}, Pose3(12.0))
    lorry.control = small.control = NEUTRAL  # type: ignore[attr-defined]
    lorry.velocity = (10.0, 0.0, 0.0)
    for _ in range(20):
        plain.step(DT)
    assert lorry.velocity[0] > 7.5
    assert small.velocity[0] > 5.0


def test_a_hit_off_centre_turns_the_car(plain: Engine) -> None:
    hit, striker = plain.spawn(MKZ, {}, Pose3(20.0)), plain.spawn(MKZ, {}, Pose3(10.0, 1.0))
    striker.velocity = (12.0, 0.0, 0.0)
    for _ in range(12):
        plain.step(DT)
    assert hit.pose.yaw < -0.002  # pushed forward on its left side


@pytest.mark.parametrize("speed", [5.0, 30.0, 60.0])
@pytest.mark.parametrize("target", [PEDESTRIAN, CONE, "vehicle.diamondback.century", "pole"])
def test_nothing_tunnels(
    street: TownMap, catalogue: BlueprintLibrary, target: str, speed: float
) -> None:
    pole = [StaticBox(30.0, 0.0, 2.0, 0.1, 0.1, 2.0)] if target == "pole" else []
    engine = Engine(street, catalogue, ground=FlatGround(), statics=pole)
    if target != "pole":
        height = 0.93 if target == PEDESTRIAN else 0.0
        engine.spawn(target, {}, Pose3(30.0, 0.0, height, yaw=math.pi / 2))
    striker = engine.spawn("vehicle.vespa.zx125", {}, Pose3(0.0))
    striker.control = NEUTRAL  # type: ignore[attr-defined]
    striker.velocity = (speed, 0.0, 0.0)
    hit = False
    for _ in range(round(45.0 / speed / DT)):
        engine.step(DT)
        hit |= any(event.actor_id == striker.id for event in engine.collisions)
    assert hit
    if target in ("pole", CONE):  # what cannot be moved stops it
        assert striker.pose.x < 30.0


def test_a_walker_who_is_hit_is_thrown_and_the_car_hardly_slows(plain: Engine) -> None:
    walker, striker = plain.spawn(PEDESTRIAN, {}, Pose3(10.0, 0.0, 0.93)), plain.spawn(MKZ)
    striker.velocity = (15.0, 0.0, 0.0)
    thrown = 0.0
    for _ in range(20):
        plain.step(DT)
        thrown = max(thrown, float(walker.velocity[0]))
    assert thrown > 8.0
    assert striker.velocity[0] > 10.0


def test_a_building_stops_a_car(street: TownMap, catalogue: BlueprintLibrary) -> None:
    house = StaticBox(40.0, 10.0, 5.0, 10.0, 12.0, 5.0, heading=0.3)
    engine = Engine(street, catalogue, ground=FlatGround(), statics=[house])
    striker = engine.spawn(MKZ, {}, Pose3(10.0))
    striker.control = VehicleControl(throttle=1.0)  # type: ignore[attr-defined]
    met = set()
    for _ in range(200):
        engine.step(DT)
        met |= {event.other_id for event in engine.collisions}
        wall = box_corners(np.array([40.0, 10.0, 0.3]), 20.0, 24.0)
        pose = striker.pose
        body = box_corners(np.array([pose.x, pose.y, pose.yaw]), 4.6, 1.6)
        assert not boxes_overlap(wall, body)
    assert met == {0}
    with pytest.raises(SpawnBlocked):
        engine.spawn(MKZ, {}, Pose3(42.0, 10.0))


def test_bodies_put_into_each_other_part_without_an_explosion(plain: Engine) -> None:
    one, other = plain.spawn(MKZ, {}, Pose3(0.0)), plain.spawn(MKZ, {}, Pose3(20.0))
    other.pose = Pose3(1.5, 0.4, yaw=0.2)
    assert overlap(plain, one, other)
    for _ in range(40):
        plain.step(DT)
    assert not overlap(plain, one, other)
    assert np.abs(plain.table.velocity).max() < 1.0


def test_a_pile_of_many_settles(plain: Engine) -> None:
    cars = [plain.spawn(MKZ, {}, Pose3(30.0 * k)) for k in range(8)]
    for k, actor in enumerate(cars):
        actor.pose = Pose3(0.8 * k, 0.5 * (k % 3), yaw=0.7 * k)
    for _ in range(200):
        plain.step(DT)
    assert not any(overlap(plain, a, b) for i, a in enumerate(cars) for b in cars[:i])
    assert np.abs(plain.table.velocity[[a.row for a in cars]]).max() < 0.5


def test_vehicles_on_a_bridge_do_not_touch_those_below(plain: Engine) -> None:
    plain.spawn(MKZ, {}, Pose3(0.0))
    above = plain.spawn(MKZ, {}, Pose3(0.0, 0.0, 6.0))
    above.gravity = False
    plain.step(DT)
    assert not plain.collisions


def test_no_collision_where_they_are_switched_off(plain: Engine) -> None:
    ghost, striker = plain.spawn(MKZ, {}, Pose3(8.0)), plain.spawn(MKZ, {}, Pose3(0.0))
    ghost.collisions_enabled = False
    striker.velocity = (10.0, 0.0, 0.0)
    for _ in range(20):
        plain.step(DT)
        assert not plain.collisions


def test_blocked_places_are_refused_and_leave_nothing(plain: Engine) -> None:
    plain.spawn(MKZ, {}, Pose3(0.0))
    rows = len(plain.table)
    with pytest.raises(SpawnBlocked):
        plain.spawn(TT, {}, Pose3(3.0, 0.5))
    assert len(plain.table) == rows
    plain.spawn(TT, {}, Pose3(0.0, 2.6))
    with pytest.raises(SpawnBlocked):
        plain.spawn(PEDESTRIAN, {}, Pose3(1.0, 0.0, 0.93))


number = st.floats(-1e9, 1e9)
wild = st.one_of(number, st.just(float("nan")), st.just(float("inf")), st.floats(-1.0, 1.0))


@pytest.mark.slow
@given(
    commands=st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 6), st.tuples(wild, wild, wild)), max_size=25
    )
)
def test_nothing_ever_becomes_nan(
    street: TownMap,
    catalogue: BlueprintLibrary,
    commands: list[tuple[int, int, tuple[float, float, float]]],
) -> None:
    engine = Engine(street, catalogue)
    kinds = [MKZ, TT, HGV, PEDESTRIAN, CONE, "vehicle.vespa.zx125"]
    actors = [engine.spawn(kind, {}, Pose3(12.0 * k, -1.75, 1.0)) for k, kind in enumerate(kinds)]
    actors[4].simulate_physics = True
    for which, what, (x, y, z) in commands:
        actor = actors[which]
        if what == 0 and hasattr(actor, "control"):
            actor.control = VehicleControl(x, y, z, reverse=y > 0.5)
        elif what == 1:
            actor.add_impulse((x, y, z))
        elif what == 2:
            actor.add_angular_impulse((x, y, z))
        elif what == 3:
            actor.velocity = (x, y, z)
        elif what == 4 and hasattr(actor, "add_force"):
            actor.add_force((x, y, z))
        elif what == 5:
            actor.pose = Pose3(x, y, z, yaw=x)
        elif hasattr(actor, "walker_control"):
            actor.walker_control = WalkerControl((x, y, z), y, jump=True)
        engine.step(DT)
        table = engine.table
        for column in (table.position, table.rotation, table.velocity, table.acceleration):
            assert np.isfinite(column).all()
        assert np.abs(table.velocity).max() < 400.0
