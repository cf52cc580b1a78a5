"""Situations with something or somebody on the road."""

from __future__ import annotations

import math

from driveproof.collect.staging import NoPlace, Stage, lane_edge
from driveproof.sim.world import Obstacle, Vehicle, World
from driveproof.sim.world.agents import Body
from driveproof.sim.world.fleet import CONE, WARNING, random_vehicle

SWERVE_ROOM = 4.0
"""Metres from the lane centre to the left edge that a swerve around a car needs."""


def _needs_room(ego: Vehicle, low: float, high: float) -> None:
    part = slice(ego.path.index(low - 12.0), ego.path.index(high + 12.0))
    if float(ego.path.left[part].min()) < SWERVE_ROOM:
        raise NoPlace("no room to pass")


def _parked(stage: Stage, ego: Vehicle, agent_id: int, s: float, offset: float) -> Vehicle:
    body = random_vehicle(stage.rng)
    vehicle = Vehicle.on_path(agent_id, body, ego.path, s, 0.0, offset)
    vehicle.parked = True
    vehicle.script_indicator = True
    vehicle.indicator = "hazard"
    return vehicle


def _thing(ego: Vehicle, agent_id: int, body: Body, s: float, offset: float) -> Obstacle:
    x, y, heading = ego.path.pose(s, offset).tolist()
    return Obstacle(agent_id, body, x, y, heading, float(ego.path.z[ego.path.index(s)]))


def parked_car(stage: Stage) -> World:
    """A car stands in the lane or half in it; the ego goes around it."""
    ego = stage.ego_on_run(110.0)
    s = ego.s_front + stage.uniform(45.0, 70.0)
    _needs_room(ego, s - 5.0, s + 5.0)
    offset = -stage.uniform(0.6, 1.1) if stage.rng.random() < 0.6 else 0.0
    stage.ego_clear = 110.0
    return stage.open(ego, [_parked(stage, ego, 2, s, offset)])


def accident(stage: Stage) -> World:
    """Two damaged cars behind a warning sign and cones block the lane."""
    ego = stage.ego_on_run(125.0)
    s = ego.s_front + stage.uniform(65.0, 85.0)
    _needs_room(ego, s - 12.0, s + 12.0)
    cars = [
        _parked(stage, ego, 2, s, stage.uniform(-0.6, 0.0)),
        _parked(stage, ego, 3, s + stage.uniform(6.5, 8.0), stage.uniform(-0.8, 0.0)),
    ]
    for car in cars:
        car.state.heading += math.radians(stage.uniform(-15.0, 15.0))
    stage.ego_clear = 120.0
    world = stage.open(ego, cars)
    world.obstacles.append(_thing(ego, world.next_id(), WARNING, s - 13.0, -0.6))
    for back in (9.0, 6.5):
        cone = _thing(ego, world.next_id(), CONE, s - back, stage.uniform(0.2, 0.7))
        world.obstacles.append(cone)
    return world


def pedestrian_crossing(stage: Stage) -> World:
    """Somebody steps onto the road ahead of the ego and crosses it."""
    ego = stage.ego_on_run(80.0)
    s = ego.s_front + stage.uniform(30.0, 55.0)
    left, right = lane_edge(ego.path, s)
    if left + right > 14.0:
        raise NoPlace("road too wide to cross")
    world = stage.open(ego)
    for number in range(1 if stage.rng.random() < 0.6 else 2):
        at = s + 1.2 * number
        ends = [ego.path.point(at, -right - 1.2), ego.path.point(at, left + 1.5)]
        if stage.rng.random() < 0.35:
            ends.reverse()
        walker = stage.walker(
            world.next_id(), ends, stage.uniform(1.2, 2.0), float(ego.path.z[ego.path.index(at)])
        )
        walker.trigger_eta = stage.uniform(2.6, 4.0)
        world.walkers.append(walker)
    return world
