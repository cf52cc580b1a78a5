"""Situations without anything special."""

from __future__ import annotations

from driveproof.collect.plan import Plan
from driveproof.collect.staging import Stage


def free_drive(stage: Stage) -> Plan:
    """Driving along in light traffic."""
    stage.traffic = min(stage.traffic, 6)
    stage.ego_clear = 80.0
    return stage.open(stage.ego_on_run(70.0))


def start_from_standstill(stage: Stage) -> Plan:
    """The ego stands: at a light about to turn green, or somewhere on the road."""
    lit = any(m.control == "light" for m in stage.roads.maneuvers)
    if not lit or stage.rng.random() < 0.3:
        ego = stage.ego_on_run(70.0)
        ego.speed = 0.0
        return stage.open(ego)
    ego = stage.ego_before(stage.maneuver(["light"]), stage.uniform(4.0, 16.0))
    ego.speed = 0.0
    for stop in ego.path.stops:
        if stop.kind == "light" and stop.s > ego.s_front:
            cycle = stage.lights.cycle_of(stop.signal_id)
            if cycle is not None and len(cycle.phases) > 1:
                cycle.set_phase(stop.signal_id, -stage.uniform(1.5, 5.0), 0.0)
            break
    return stage.open(ego)
