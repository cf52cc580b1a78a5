"""Traffic and an expert in a real town, on the real engine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from driveproof.maps import TownMap, load_town
from driveproof.sim.client import WorldState
from driveproof.sim.drivers import (
    Drivers,
    ExpertDriver,
    ObliviousDriver,
    Path,
    Roads,
    Traffic,
    Vehicle,
)
from driveproof.sim.drivers.engine_world import EngineWorld
from driveproof.sim.drivers.fleet import EGO
from driveproof.sim.drivers.traffic import GONE


@pytest.fixture(scope="module")
def roads() -> Roads:
    return Roads(load_town("Town03"))


def town_drive(
    roads: Roads, seconds: float, count: int, seed: int = 3
) -> tuple[list[WorldState], Drivers, Vehicle, Traffic]:
    world = EngineWorld.of(roads.town, delta_s=0.1)
    drivers = Drivers(world, roads)
    rng = np.random.default_rng(seed)
    route = roads.town.random_route(rng, 700.0)
    start = (*route.line.at(3.0).tolist(), float(route.line.heading(3.0)))
    ego = world.spawn_vehicle(EGO, start, float(route.z[0]))
    expert = ExpertDriver(drivers, ego, route)
    traffic = Traffic(world, drivers, ego.id, rng, count=count)
    states = [world.tick()]
    for _ in range(round(seconds * 10)):
        traffic.step(states[-1])
        world.apply(drivers.decide(states[-1]))
        states.append(world.tick())
    return states, drivers, expert.vehicle, traffic


@pytest.mark.slow
def test_traffic_stays_around_the_ego_and_nobody_touches_anybody(roads: Roads) -> None:
    states, drivers, ego, traffic = town_drive(roads, 30.0, 12, seed=6)
    assert not [hit for state in states for hit in state.collisions]
    assert ego.s > 100.0
    assert len(traffic.own) >= 8
    end = states[-1]
    for number in traffic.own & end.actors.keys():
        other, here = end.actors[number], end.actors[ego.agent_id]
        assert math.hypot(other.x - here.x, other.y - here.y) < GONE + 20.0
    assert set(drivers.driven) == traffic.own | {ego.agent_id}


@pytest.mark.slow
def test_the_same_seed_drives_the_same_bit_for_bit(roads: Roads) -> None:
    assert town_drive(roads, 8.0, 8)[0] == town_drive(roads, 8.0, 8)[0]


def test_lamps_tell_who_brakes_and_only_when_they_change(roads: Roads) -> None:
    world = EngineWorld.of(roads.town, delta_s=0.1)
    drivers = Drivers(world, roads)
    route = roads.town.random_route(np.random.default_rng(3), 200.0)
    start = (*route.line.at(3.0).tolist(), float(route.line.heading(3.0)))
    ego = world.spawn_vehicle(EGO, start, float(route.z[0]), speed=6.0)
    ObliviousDriver(drivers, ego, route, speed=6.0)
    drivers.decide(world.tick())
    first = drivers.lamps()
    assert first[ego.id] & 0x8 == 0
    assert drivers.lamps() == {}
    drivers.driven[ego.id].command = -2.0
    assert drivers.lamps()[ego.id] & 0x8


def test_an_oblivious_driver_keeps_its_speed_through_everything(roads: Roads) -> None:
    world = EngineWorld.of(roads.town, delta_s=0.05)
    drivers = Drivers(world, roads)
    route = roads.town.random_route(np.random.default_rng(5), 300.0)
    start = (*route.line.at(3.0).tolist(), float(route.line.heading(3.0)))
    ego = world.spawn_vehicle(EGO, start, float(route.z[0]), speed=7.0)
    driver = ObliviousDriver(drivers, ego, route, speed=7.0)
    state = world.tick()
    for _ in range(300):
        world.apply(drivers.decide(state))
        state = world.tick()
        assert state.actors[ego.id].speed == pytest.approx(7.0, abs=1.2)
    assert driver.vehicle.s == pytest.approx(3.0 + 300 * 0.05 * 7.0, abs=6.0)


def test_a_route_path_changes_lanes_smoothly_and_knows_where(roads: Roads) -> None:
    seen = 0
    for seed in range(12):
        route = roads.town.random_route(np.random.default_rng(seed), 500.0)
        path = roads.route_path(route)
        bend = np.abs(np.diff(np.unwrap(path.heading)))
        assert bend.max() < math.radians(40.0)
        for change in path.changes:
            seen += 1
            a, b = path.point(change.begin), path.point(change.end)
            course = float(path.heading[path.index(change.begin)])
            assert change.begin < change.end <= change.limit
            if abs(path.heading[path.index(change.end)] - course) < 0.02:
                left = -(b[0] - a[0]) * math.sin(course) + (b[1] - a[1]) * math.cos(course)
                assert left == pytest.approx(change.shift, abs=0.5)
    assert seen > 3


def test_paths_of_lanes_know_their_stop_lines(roads: Roads) -> None:
    town: TownMap = roads.town
    for maneuver in roads.maneuvers[:60]:
        path: Path = roads.path([maneuver.entry, *maneuver.inner])
        kinds: set[Any] = {stop.kind for stop in path.stops}
        assert maneuver.control == "none" or maneuver.control in kinds
        crossing = path.crossings[-1]
        assert crossing.junction_id == maneuver.junction_id
        assert crossing.start == pytest.approx(float(town.lanes.length[maneuver.entry]), abs=0.6)
