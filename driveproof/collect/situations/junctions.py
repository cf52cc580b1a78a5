"""Situations at junctions: lights, signs and turns."""

from __future__ import annotations

from driveproof.collect.plan import Placed, Plan
from driveproof.collect.staging import NoPlace, Stage
from driveproof.scene import Command
from driveproof.sim.drivers import StopPoint


def _next_light(ego: Placed) -> StopPoint:
    for stop in ego.path.stops:
        if stop.kind == "light" and stop.s > ego.s_front:
            return stop
    raise NoPlace("no light ahead")


def _before_light(stage: Stage, distance: float, *commands: Command) -> tuple[Placed, StopPoint]:
    ego = stage.ego_before(stage.maneuver(["light"], commands), distance)
    stop = _next_light(ego)
    if stop.s - ego.s_front > distance + 15.0:
        raise NoPlace("light too far ahead")
    return ego, stop


def red_light(stage: Stage) -> Plan:
    """The light is red when the ego arrives and turns green some seconds later."""
    ego, stop = _before_light(stage, stage.uniform(45.0, 75.0))
    cycle = stage.lights.cycle_of(stop.signal_id)
    if cycle is None or len(cycle.phases) < 2:
        raise NoPlace("light without a red phase")
    arrival = (stop.s - ego.s_front) / max(ego.speed, 3.0)
    green_at = min(arrival + stage.uniform(5.0, 10.0), 17.0)
    cycle.set_phase(stop.signal_id, -green_at, 0.0)
    return stage.open(ego)


def yellow_light(stage: Stage) -> Plan:
    """The light turns yellow when the ego is two to five seconds away."""
    ego, stop = _before_light(stage, stage.uniform(45.0, 70.0))
    cycle = stage.lights.cycle_of(stop.signal_id)
    if cycle is None:
        raise NoPlace("light without a cycle")
    arrival = (stop.s - ego.s_front) / max(ego.speed, 3.0)
    yellow_at = max(arrival - stage.uniform(2.0, 4.5), 0.5)
    cycle.set_phase(stop.signal_id, cycle.green - yellow_at, 0.0)
    return stage.open(ego)


def stop_sign(stage: Stage) -> Plan:
    """A stop sign: halt, look, go."""
    ego = stage.ego_before(stage.maneuver(["stop"]), stage.uniform(40.0, 65.0))
    return stage.open(ego)


def _turn(stage: Stage, command: Command) -> Plan:
    ego = stage.ego_before(stage.maneuver(commands=[command]), stage.uniform(30.0, 60.0))
    for stop in ego.path.stops:
        if stop.kind == "light" and stop.s > ego.s_front:
            cycle = stage.lights.cycle_of(stop.signal_id)
            if cycle is not None:
                cycle.set_phase(stop.signal_id, stage.uniform(-1.0, 1.0), 0.0)
            break
    return stage.open(ego)


def turn_left(stage: Stage) -> Plan:
    """A left turn; a light on the way is green."""
    return _turn(stage, Command.LEFT)


def turn_right(stage: Stage) -> Plan:
    """A right turn; a light on the way is green."""
    return _turn(stage, Command.RIGHT)
