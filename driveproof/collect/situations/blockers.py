"""Situations with something or somebody on the road."""

from __future__ import annotations

import math

from driveproof.collect.plan import Placed, Plan, Thing
from driveproof.collect.staging import NoPlace, Stage, lane_edge
from driveproof.sim.drivers.fleet import CONE, WARNING, random_vehicle

SWERVE_ROOM = 4.0
"""Metres from the lane centre to the left edge that a swerve around a car needs."""


def _needs_room(ego: Placed, low: float, high: float) -> None:
    part = slice(ego.path.index(low - 12.0), ego.path.index(high + 12.0))
    if float(ego.path.left[part].min()) < SWERVE_ROOM:
        raise NoPlace("no room to pass")


def _parked(stage: Stage, ego: Placed, s: float, offset: float) -> Placed:
    model = random_vehicle(stage.rng)
    return Placed(model, ego.path, s, offset=offset, parked=True, indicator="hazard")


def _thing(ego: Placed, type_id: str, s: float, offset: float) -> Thing:
    x, y, heading = ego.path.pose(s, offset).tolist()
    return Thing(type_id, (x, y, heading), float(ego.path.z[ego.path.index(s)]))


def parked_car(stage: Stage) -> Plan:
    """A car stands in the lane or half in it; the ego goes around it."""
    ego = stage.ego_on_run(110.0)
    s = ego.s_front + stage.uniform(45.0, 70.0)
    _needs_room(ego, s - 5.0, s + 5.0)
    offset = -stage.uniform(0.6, 1.1) if stage.rng.random() < 0.6 else 0.0
    stage.ego_clear = 110.0
    return stage.open(ego, [_parked(stage, ego, s, offset)])


def accident(stage: Stage) -> Plan:
    """Two damaged cars behind a warning sign and cones block the lane."""
    ego = stage.ego_on_run(125.0)
    s = ego.s_front + stage.uniform(65.0, 85.0)
    _needs_room(ego, s - 12.0, s + 12.0)
    cars = [
        _parked(stage, ego, s, stage.uniform(-0.6, 0.0)),
        _parked(stage, ego, s + stage.uniform(6.5, 8.0), stage.uniform(-0.8, 0.0)),
    ]
    for car in cars:
        car.turn = math.radians(stage.uniform(-15.0, 15.0))
    stage.ego_clear = 120.0
    plan = stage.open(ego, cars)
    plan.things.append(_thing(ego, WARNING, s - 13.0, -0.6))
    for back in (9.0, 6.5):
        plan.things.append(_thing(ego, CONE, s - back, stage.uniform(0.2, 0.7)))
    return plan


def pedestrian_crossing(stage: Stage) -> Plan:
    """Somebody steps onto the road ahead of the ego and crosses it."""
    ego = stage.ego_on_run(80.0)
    s = ego.s_front + stage.uniform(30.0, 55.0)
    left, right = lane_edge(ego.path, s)
    if left + right > 14.0:
        raise NoPlace("road too wide to cross")
    plan = stage.open(ego)
    for number in range(1 if stage.rng.random() < 0.6 else 2):
        at = s + 1.2 * number
        ends = [ego.path.point(at, -right - 1.2), ego.path.point(at, left + 1.5)]
        if stage.rng.random() < 0.35:
            ends.reverse()
        pace, eta = stage.uniform(1.2, 2.0), stage.uniform(2.6, 4.0)
        plan.walkers.append(stage.walker(ends, pace, eta, float(ego.path.z[ego.path.index(at)])))
    return plan
