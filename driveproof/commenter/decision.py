"""The expert's decision: one typed object, from which keys and words are both rendered."""

from __future__ import annotations

import math
from dataclasses import dataclass

from driveproof.commenter.conflicts import Conflict
from driveproof.commenter.context import Context
from driveproof.commenter.lateral import (
    FLOWING,
    Move,
    other_reasons,
    pass_obstruction,
)
from driveproof.commenter.longitudinal import Brake, decide_braking, may_speed_up
from driveproof.commenter.obstruction import Obstruction, find_obstruction
from driveproof.commenter.recovery import Recovery, recovery_of
from driveproof.commenter.signs import Signs
from driveproof.questions import ActionKeys, DirectionKey, SpeedKey
from driveproof.questions import terms as t
from driveproof.scene import Command

JUNCTION_NEAR_M = 8.0
STRAIGHT_RAD = math.radians(10.0)
DEFAULT_MPS, HIGHWAY_MPS, TURN_MPS = 8.0, 18.0, 5.5
ROLLING_MPS, GAIN_MPS = 1.5, 1.5
"""Who rolls accelerates only if it need not brake at the speed that it will have at the next decision."""
CLEAR_M, TOO_NEAR_M = 0.1, 3.0
"""Sideways distance at which one is past, and the gap below which one no longer swings round."""
FLOW_REACH_M = 40.0
QUEUE_MPS, QUEUE_CRAWL_MPS, QUEUE_REACH_M = 8.0, 3.0, 45.0
"""Speed at which one passes a queue beside, speed up to which others queue, and how far ahead one looks for them."""
BESIDE_M = (1.8, 4.5)
"""Sideways distances of who is in the lane beside."""
_TURNS = {
    Command.LEFT: DirectionKey.TURN_LEFT,
    Command.RIGHT: DirectionKey.TURN_RIGHT,
    Command.STRAIGHT: DirectionKey.GO_STRAIGHT,
}
_KEYS = {
    t.Maneuver.CHANGE_LEFT: DirectionKey.CHANGE_LANE_LEFT,
    t.Maneuver.CHANGE_EITHER: DirectionKey.CHANGE_LANE_LEFT,
    t.Maneuver.USE_ONCOMING_LANE: DirectionKey.CHANGE_LANE_LEFT,
    t.Maneuver.CHANGE_RIGHT: DirectionKey.CHANGE_LANE_RIGHT,
    t.Maneuver.SHIFT_LEFT: DirectionKey.DEVIATE_LEFT,
    t.Maneuver.SHIFT_RIGHT: DirectionKey.DEVIATE_RIGHT,
}


@dataclass(frozen=True)
class ExpertDecision:
    """What the expert does now, and everything that it rests on.

    Attributes
    ----------
    keys
        Exactly one direction and one speed.
    around, other
        The move because of an obstruction, and for any other reason.
    move
        Which of the two holds (the first that is needed), or the recovery's.
    brake
        Whether and why to brake.
    recovery
        The recovery, if the state is out of the ordinary.
    obstruction
        What stands in the way.
    target_mps
        The speed that the expert would drive if nothing were in the way.
    """

    keys: ActionKeys
    around: Move
    other: Move
    move: Move
    brake: Brake
    recovery: Recovery | None
    obstruction: Obstruction | None
    target_mps: float


def decide(context: Context, signs: Signs, conflicts: list[Conflict]) -> ExpertDecision:
    """The decision in a moment."""
    recovery = recovery_of(context)
    limit = signs.limit / 3.6 if signs.limit is not None else _map_limit(context)
    target = _target(context, limit)
    if recovery is not None:
        return _recover(context, recovery, signs, conflicts, limit, target)
    obstruction = None if context.road.in_junction else find_obstruction(context, signs)
    around = Move() if context.road.in_junction else pass_obstruction(context, obstruction)
    other = other_reasons(context, obstruction)
    move = around if around.needed and not _first(context, other) else other
    passing = move.now and move.maneuver is not t.Maneuver.CANNOT_PASS and bool(around.rows)
    brake = decide_braking(
        context, signs, _relevant(conflicts, around.rows if passing else ()), move, limit
    )
    if passing and set(brake.rows) <= set(around.rows) and brake.rows:
        brake = _while_passing(context, obstruction, brake)
    direction = _direction(context, move)
    speed = _speed(context, brake, target)
    if speed is SpeedKey.ACCELERATE and not passing:
        ego = context.frame.ego.speed
        soon = context.at_speed(ego + GAIN_MPS) if ego > ROLLING_MPS else None
        then = decide_braking(soon, signs, conflicts, move, limit) if soon else Brake()
        if then.level is not t.Braking.NONE or not may_speed_up(context):
            speed = SpeedKey.KEEP
    return ExpertDecision(
        ActionKeys(direction, speed), around, other, move, brake, None, obstruction, target
    )


def _first(context: Context, other: Move) -> bool:
    """Whether another reason comes before an obstruction: out of the oncoming lane, out of a parking place."""
    return context.road.wrong_way or other.cause is t.ManeuverCause.PARKING_EXIT


def _relevant(conflicts: list[Conflict], passed: tuple[int, ...]) -> list[Conflict]:
    return [conflict for conflict in conflicts if conflict.row not in passed]


def _while_passing(context: Context, obstruction: Obstruction | None, brake: Brake) -> Brake:
    """The thing that is being passed is no reason to stop, unless it is too near to swing round."""
    if obstruction is None:
        return Brake()
    gap = obstruction.begin - context.frame.ego.length / 2.0
    half, beside = context.frame.ego.width / 2.0, context.road.lateral
    clear = beside - half > obstruction.high + CLEAR_M or beside + half < obstruction.low - CLEAR_M
    if gap < TOO_NEAR_M and not clear:
        return brake
    fast = context.frame.ego.speed > 6.0
    return (
        Brake(t.Braking.SLOW_DOWN, brake.reason, brake.rows, urgency=1.0)
        if fast and gap < 15.0
        else Brake()
    )


def _recover(
    context: Context,
    recovery: Recovery,
    signs: Signs,
    conflicts: list[Conflict],
    limit: float | None,
    target: float,
) -> ExpertDecision:
    move = Move(recovery.maneuver, recovery.cause, now=True)
    if recovery.hopeless:
        brake = Brake(t.Braking.STOP, t.Reason.OFF_ROAD)
        keys = ActionKeys(recovery.direction, SpeedKey.STOP)
        return ExpertDecision(keys, Move(), move, move, brake, recovery, None, 0.0)
    brake = decide_braking(context, signs, conflicts, move, limit)
    ego = context.frame.ego.speed
    if brake.level is t.Braking.STOP:
        speed = SpeedKey.STOP
    elif ego > 5.0:
        speed = SpeedKey.DECELERATE
        brake = (
            brake
            if brake.level is not t.Braking.NONE
            else Brake(t.Braking.SLOW_DOWN, _why(recovery))
        )
    else:
        speed = SpeedKey.ACCELERATE if ego < 2.0 else SpeedKey.KEEP
        brake = Brake()
    keys = ActionKeys(recovery.direction, speed)
    return ExpertDecision(keys, Move(), move, move, brake, recovery, None, min(target, 4.0))


def _why(recovery: Recovery) -> t.Reason:
    return {
        t.ManeuverCause.OFF_ROAD: t.Reason.OFF_ROAD,
        t.ManeuverCause.WRONG_WAY: t.Reason.WRONG_WAY,
    }.get(recovery.cause, t.Reason.MISALIGNED)


def _map_limit(context: Context) -> float | None:
    limit = float(context.town.lanes.speed_limit[context.road.lane])
    return limit if math.isfinite(limit) and limit > 0.0 else None


def _target(context: Context, limit: float | None) -> float:
    """The wanted speed: within the limit, fast only where no junction is near, as the others where they flow."""
    road = context.road
    wanted = HIGHWAY_MPS if road.highway and math.isinf(road.to_junction) else DEFAULT_MPS
    flow = _flow(context)
    if context.frame.scenario in FLOWING and flow > 0.0:
        wanted = min(max(flow, DEFAULT_MPS), HIGHWAY_MPS)
    if _queue_beside(context):
        wanted = min(wanted, QUEUE_MPS)
    turning = context.frame.command_near in (Command.LEFT, Command.RIGHT)
    if turning and (road.in_junction or road.to_junction < 12.0):
        wanted = TURN_MPS
    return min(wanted, 0.95 * limit) if limit is not None else wanted


def _queue_beside(context: Context) -> bool:
    """Whether vehicles stand or crawl in a lane beside the ego's, one of whom may pull out."""
    return any(
        agent.kind == "vehicle"
        and abs(agent.speed) < QUEUE_CRAWL_MPS
        and abs(heading) < math.radians(45.0)
        and 0.0 < x < QUEUE_REACH_M
        and BESIDE_M[0] < abs(context.lane_place(row)[1]) < BESIDE_M[1]
        for row, (agent, (x, _, heading)) in enumerate(
            zip(context.frame.agents, context.local.tolist(), strict=True)
        )
    )


def _flow(context: Context) -> float:
    """Mean speed of those around who move in the ego's direction, m/s; 0 if nobody does."""
    speeds = [
        agent.speed
        for agent, (x, y, heading) in zip(context.frame.agents, context.local.tolist(), strict=True)
        if agent.kind == "vehicle"
        and agent.speed > 1.0
        and abs(heading) < math.radians(45.0)
        and math.hypot(x, y) < FLOW_REACH_M
    ]
    return sum(speeds) / len(speeds) if speeds else 0.0


def _direction(context: Context, move: Move) -> DirectionKey:
    road = context.road
    if move.now and move.maneuver in _KEYS:
        return _KEYS[move.maneuver]
    if road.in_junction or road.to_junction < JUNCTION_NEAR_M:
        return _through_junction(context)
    return DirectionKey.FOLLOW_LANE


def _through_junction(context: Context) -> DirectionKey:
    """The commanded way; straight on once the exit lies ahead, and back where the ego has turned too far."""
    key = _TURNS.get(context.frame.command_near, DirectionKey.GO_STRAIGHT)
    if key is DirectionKey.GO_STRAIGHT or not context.road.in_junction:
        return key
    exit_ = min(max(_to_exit(context), 2.0), context.path.length)
    turn = context.frame.local_heading(float(context.path.heading(exit_)))
    if abs(turn) < STRAIGHT_RAD:
        return DirectionKey.GO_STRAIGHT
    over = turn < 0.0 if key is DirectionKey.TURN_LEFT else turn > 0.0
    if not over:
        return key
    return DirectionKey.TURN_RIGHT if key is DirectionKey.TURN_LEFT else DirectionKey.TURN_LEFT


def _to_exit(context: Context) -> float:
    """Metres along the path to the end of the junction that the ego is in."""
    lanes, lane = context.town.lanes, context.road.lane
    way = float(lanes.length[lane]) - context.road.arc
    for _ in range(4):
        inside = [n for n in lanes.successors(lane).tolist() if lanes.junction[n] >= 0]
        if not inside:
            break
        lane = int(inside[0])
        way += float(lanes.length[lane])
    return way


def _speed(context: Context, brake: Brake, target: float) -> SpeedKey:
    ego = context.frame.ego.speed
    if brake.level is t.Braking.STOP:
        return SpeedKey.STOP
    if brake.level is t.Braking.SLOW_DOWN:
        if ego < 1.0:
            return SpeedKey.ACCELERATE if not brake.rows and brake.signal is None else SpeedKey.KEEP
        return SpeedKey.KEEP if ego < 3.0 else SpeedKey.DECELERATE
    if ego > target + 2.5:
        return SpeedKey.DECELERATE
    return SpeedKey.ACCELERATE if ego < target - 1.0 else SpeedKey.KEEP
