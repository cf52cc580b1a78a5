"""Whether to brake, how hard, and because of what or whom.

Each rule looks at one thing and says how urgent it is; the most urgent one decides. Distances follow Bench2Drive-VL where
it gives them (leaders, lights, stop signs, pedestrians); where it acts on fixed metres only, the way that it takes to
stop is added, so that the rules hold at every speed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from driveproof.commenter.conflicts import Conflict
from driveproof.commenter.context import Context
from driveproof.commenter.lateral import Move
from driveproof.commenter.naming import kind_of
from driveproof.commenter.signs import Signs
from driveproof.commenter.traffic import sideways
from driveproof.questions import ObjectKind
from driveproof.questions import terms as t
from driveproof.scene import Command

LIMIT_FACTOR = 1.0313
JUNCTION_MPS = 64.0 / 3.6
COMFORT, HARD = 3.0, 5.5
"""Decelerations, m/s²: to slow down in time, and at the latest."""
REACTION_S = 0.6
"""Until the next decision acts."""
BUFFER_M = 3.0
CLOSE_M = 6.5
LEADER_M = 45.0
ACCEL, HEADWAY_S = 2.0, 0.8
"""Of the intelligent driver model behind others."""
SPEED_UP = 0.6
"""It must allow so much, m/s², to accelerate until the next decision."""
STOP_NEEDED = 3.5
"""Deceleration that a leader asks for, m/s², from which on only the full brake will do."""
BESIDE_M, BESIDE_PERSON_M = 0.25, 0.5
"""Sideways distance below which somebody ahead is in the way: vehicles and things, and people."""
COMING_S = 1.2
"""Who moves sideways towards the ego's path is on it so many seconds early."""
LINE_BUFFER_M = 1.5
CREEP_MPS, CREEP_TO_M = 2.5, 4.0
"""Past a thing at the roadside one creeps up to an obstruction, and stops at this gap."""
PASSED = frozenset(
    {
        t.ManeuverCause.ACCIDENT,
        t.ManeuverCause.CONSTRUCTION,
        t.ManeuverCause.PARKED_VEHICLE,
        t.ManeuverCause.HAZARD,
        t.ManeuverCause.OPEN_DOOR,
    }
)
"""Causes of moves that one waits for before an obstruction."""
CHANGE_ROOM_M = 18.0
"""So far before a junction a commanded lane change has to begin; until then one waits for a gap."""
COMMANDED = frozenset({t.ManeuverCause.COMMAND, t.ManeuverCause.HIGHWAY_COMMAND})
"""Causes of lane changes that the route needs."""
CURVE_ACCEL = 2.5
"""Sideways acceleration at which curves are taken, m/s²."""


@dataclass(frozen=True)
class Brake:
    """A wish to brake: how, why, and because of which agents (rows) or signal."""

    level: t.Braking = t.Braking.NONE
    reason: t.Reason = t.Reason.NONE
    rows: tuple[int, ...] = ()
    signal: str | None = None
    urgency: float = 0.0


def decide_braking(
    context: Context, signs: Signs, conflicts: list[Conflict], move: Move, limit_mps: float | None
) -> Brake:
    """The most urgent reason to brake; none if nothing asks for it."""
    wishes = [
        *_limits(context, limit_mps),
        *_lights_and_signs(context, signs),
        *_leaders(context),
        *_meetings(context, conflicts),
        *_waiting(context, move),
    ]
    return max(wishes, key=_weight, default=Brake())


def _weight(wish: Brake) -> tuple[bool, bool, float]:
    """A stop before slowing down, somebody or a signal before a curve or a limit, then the urgency."""
    return wish.level is t.Braking.STOP, bool(wish.rows or wish.signal), wish.urgency


def _before(context: Context, distance: float, speed: float, reason: t.Reason, rows: tuple[int, ...] = (), signal: str | None = None, buffer: float = BUFFER_M) -> Brake | None:  # fmt: skip
    """The wish to be at ``speed`` within ``distance`` metres of the bumper, if it is time to brake for it."""
    ego = context.frame.ego.speed
    room = max(distance - buffer - REACTION_S * max(ego - speed, 0.0), 0.1)
    needed = (ego**2 - speed**2) / (2.0 * room) if ego > speed else 0.0
    stands = speed < 0.3
    if stands and (
        needed > HARD * 0.6 or distance < buffer + 1.0 or (ego < 2.5 and distance < buffer + 3.0)
    ):
        return Brake(t.Braking.STOP, reason, rows, signal, needed + 1.0)
    if needed > COMFORT * 0.5:
        return Brake(t.Braking.SLOW_DOWN, reason, rows, signal, needed)
    return None


def _limits(context: Context, limit: float | None) -> Iterator[Brake]:
    ego, road = context.frame.ego.speed, context.road
    if limit is not None and ego > LIMIT_FACTOR * limit + 0.5:
        yield Brake(t.Braking.SLOW_DOWN, t.Reason.SPEED_LIMIT, urgency=0.5)
    if road.in_junction and ego > JUNCTION_MPS:
        yield Brake(t.Braking.SLOW_DOWN, t.Reason.JUNCTION_SPEED, urgency=0.6)
    for distance, speed in _curve_speeds(context):
        wish = _before(context, distance, speed, t.Reason.CURVE, buffer=0.0)
        if wish is not None:
            yield wish


def _curve_speeds(context: Context) -> Iterator[tuple[float, float]]:
    """(metres ahead, speed) of the sharpest part of the course ahead."""
    points = context.course.points
    if len(points) < 6:
        return
    steps = np.diff(points, axis=0)
    headings = np.unwrap(np.arctan2(steps[:, 1], steps[:, 0]))
    arc = context.course.arc[1:-1]
    # Over four steps, since lane joints kink by a hair.
    change = np.abs(headings[4:] - headings[:-4])
    span = context.course.arc[5:] - context.course.arc[1:-4]
    curvature = change / np.maximum(span, 1.0)
    speeds = np.sqrt(CURVE_ACCEL / np.maximum(curvature, 1e-4))
    index = int(np.argmin(speeds + 0.05 * arc[: len(speeds)]))
    if curvature[index] > 0.015:
        yield float(max(arc[index] - 2.0, 0.5)), float(max(speeds[index], 3.5))


def _lights_and_signs(context: Context, signs: Signs) -> Iterator[Brake]:
    frame = context.frame
    if signs.light is not None and signs.light_colour in (t.LightColour.RED, t.LightColour.YELLOW):
        distance = signs.stop_distance(frame, signs.light)
        reason = (
            t.Reason.RED_LIGHT if signs.light_colour is t.LightColour.RED else t.Reason.YELLOW_LIGHT
        )
        hard = frame.ego.speed**2 / (2.0 * max(distance, 0.1)) > HARD
        late = distance < -1.0 or (signs.light_colour is t.LightColour.YELLOW and hard)
        if not late and not context.road.in_junction:
            wish = _before(
                context,
                max(distance, 0.0),
                0.0,
                reason,
                signal=signs.light.id,
                buffer=LINE_BUFFER_M,
            )
            if wish is not None:
                yield wish
    if signs.stop is not None and signs.stop_state is t.SignState.PENDING:
        distance = signs.stop_distance(frame, signs.stop)
        if distance > -2.0:
            wish = _before(
                context,
                max(distance, 0.0),
                0.0,
                t.Reason.STOP_SIGN,
                signal=signs.stop.id,
                buffer=LINE_BUFFER_M,
            )
            if wish is not None:
                yield wish
    for sign in signs.affecting:
        if sign.type_id == "traffic.yield" and 0.0 < signs.stop_distance(frame, sign) < 20.0:
            wish = _before(
                context, signs.stop_distance(frame, sign), 4.0, t.Reason.YIELD_SIGN, signal=sign.id
            )
            if wish is not None:
                yield wish


def _leaders(context: Context) -> Iterator[Brake]:
    """Whoever is ahead on the ego's path."""
    for row, gap, speed in _ahead(context):
        agent = context.frame.agents[row]
        if agent.kind == "walker":
            wish = _before(context, gap, 0.0, t.Reason.PEDESTRIAN_CROSSING, (row,), buffer=4.0)
        elif speed < -0.5:
            wish = _before(context, gap / 2.0, 0.0, t.Reason.ONCOMING_VEHICLE, (row,))
        else:
            wish = _behind(context, row, gap, speed)
        if wish is not None:
            yield wish


def _ahead(context: Context) -> Iterator[tuple[int, float, float]]:
    """Row, gap (m) and speed along the ego's way (m/s) of all who are on its path, or come into it."""
    ego = context.frame.ego
    for row, agent in enumerate(context.frame.agents):
        s, lateral = context.path_place(row)
        gap = s - (agent.length + ego.length) / 2.0
        if s <= 0.5 or gap > LEADER_M or abs(agent.z - ego.z) > 4.0 or agent.height < 0.2:
            continue
        _, _, heading = context.local[row].tolist()
        turned = heading - context.frame.local_heading(float(context.path.heading(s)))
        coming = max(sideways(context, row), 0.0) * COMING_S if agent.kind != "prop" else 0.0
        beside = BESIDE_PERSON_M if agent.kind == "walker" else BESIDE_M
        across = abs(agent.length * math.sin(turned)) + abs(agent.width * math.cos(turned))
        if abs(lateral) - coming > (across + ego.width) / 2.0 + beside:
            continue
        along = agent.speed * math.cos(turned)
        yield row, gap, along if abs(turned) > math.radians(120.0) else max(along, 0.0)


def may_speed_up(context: Context) -> bool:
    """Whether the way to those ahead allows to accelerate until the next decision."""
    ego = context.frame.ego.speed
    return all(_follow(ego, gap, max(speed, 0.0)) > SPEED_UP for _, gap, speed in _ahead(context))


def _follow(ego: float, gap: float, speed: float) -> float:
    """Acceleration of the intelligent driver model (Treiber 2000) behind a leader, m/s², without a wanted speed."""
    wanted = BUFFER_M + HEADWAY_S * ego + ego * (ego - speed) / (2.0 * math.sqrt(COMFORT * ACCEL))
    return ACCEL * (1.0 - (max(wanted, 0.0) / max(gap, 0.5)) ** 2)


def _behind(context: Context, row: int, gap: float, speed: float) -> Brake | None:
    ego, agent = context.frame.ego, context.frame.agents[row]
    accel = _follow(ego.speed, gap, speed)
    needed = max(ego.speed - speed, 0.0) ** 2 / (2.0 * max(gap - 1.5, 0.1))
    close = gap < CLOSE_M
    reason = _leader_reason(context, row, speed, close=close)
    if needed > STOP_NEEDED or (gap < BUFFER_M + 1.0 and speed < 1.0) or gap < 1.5:
        return Brake(t.Braking.STOP, reason, (row,), urgency=needed + 1.0)
    braking = agent.brake > 0.6 and gap < 8.0 + ego.speed and speed < ego.speed + 0.5
    if accel < -1.0 and (ego.speed > speed - 1.0 or gap < 2.5):
        return Brake(t.Braking.SLOW_DOWN, reason, (row,), urgency=max(needed, 0.5))
    if braking and ego.speed > 2.0:
        return Brake(t.Braking.SLOW_DOWN, t.Reason.BRAKING_VEHICLE, (row,), urgency=0.5)
    return None


def _leader_reason(context: Context, row: int, speed: float, *, close: bool = False) -> t.Reason:
    agent = context.frame.agents[row]
    if agent.kind == "prop":
        return t.Reason.OBSTACLE
    if kind_of(agent) is ObjectKind.BICYCLE:
        return t.Reason.BICYCLE
    if speed < 0.5:
        crossing = context.town.lanes.junction[context.lanes.lane[row]] >= 0
        blocked = crossing and not context.road.in_junction
        return t.Reason.BLOCKED_JUNCTION if blocked else t.Reason.STOPPED_VEHICLE
    if close:
        return t.Reason.VEHICLE_TOO_CLOSE
    return t.Reason.BRAKING_VEHICLE if agent.brake > 0.3 else t.Reason.SLOW_VEHICLE


_CONFLICT_REASONS = {
    t.ConflictReason.CUTTING_IN: t.Reason.CUT_IN,
    t.ConflictReason.CROSSING_JUNCTION: t.Reason.CROSSING_VEHICLE,
    t.ConflictReason.ONCOMING_TURN: t.Reason.CROSSING_VEHICLE,
    t.ConflictReason.MERGING: t.Reason.MERGING_TRAFFIC,
    t.ConflictReason.ONCOMING_IN_LANE: t.Reason.ONCOMING_VEHICLE,
    t.ConflictReason.CROSSING_ROAD: t.Reason.PEDESTRIAN_CROSSING,
}


def _meetings(context: Context, conflicts: list[Conflict]) -> Iterator[Brake]:
    """Whoever will be on the ego's path when the ego is there."""
    ego = context.frame.ego
    for conflict in conflicts:
        reason = _CONFLICT_REASONS.get(conflict.reason)
        agent = context.frame.agents[conflict.row]
        if reason is None or (
            conflict.time == 0.0 and conflict.reason is not t.ConflictReason.CUTTING_IN
        ):
            continue  # those are leaders
        gap = conflict.distance - (ego.length + max(agent.width, 1.0)) / 2.0
        if conflict.reason is t.ConflictReason.CUTTING_IN:
            yield from _only(
                _behind(context, conflict.row, gap - agent.length / 2.0, agent.speed), reason
            )
            continue
        if kind_of(agent) is ObjectKind.BICYCLE:
            reason = t.Reason.BICYCLE
        if _has_priority(context, conflict) or gap < -1.0:
            continue
        gap -= conflict.distance - conflict.nearest  # one stops before all that it sweeps over
        wish = _before(context, max(gap, 0.0), 0.0, reason, (conflict.row,), buffer=2.5)
        if wish is not None:
            yield wish


def _some(wish: Brake | None) -> Iterator[Brake]:
    if wish is not None:
        yield wish


def _only(wish: Brake | None, reason: t.Reason) -> Iterator[Brake]:
    if wish is not None:
        yield Brake(wish.level, reason, wish.rows, wish.signal, wish.urgency)


def _has_priority(context: Context, conflict: Conflict) -> bool:
    """Whether the other has to give way and does: it is slow, far from the place, and the ego goes straight on."""
    agent = context.frame.agents[conflict.row]
    if agent.kind == "walker" or conflict.reason is t.ConflictReason.ONCOMING_TURN:
        return False
    straight = context.frame.command_near in (Command.STRAIGHT, Command.FOLLOW, Command.UNKNOWN)
    return straight and agent.speed < 2.0 and conflict.time > 1.5


def _waiting(context: Context, move: Move) -> Iterator[Brake]:
    """Waiting before what cannot be passed yet."""
    if move.cause is t.ManeuverCause.PARKING_EXIT and not move.now:
        yield Brake(t.Braking.STOP, t.Reason.WAITING_TO_CHANGE_LANE, urgency=1.0)
    if move.cause in COMMANDED and move.postponed is t.Postponement.LANE_OCCUPIED:
        room = context.road.to_junction - context.frame.ego.length / 2.0 - CHANGE_ROOM_M
        yield from _some(
            _before(context, max(room, 0.0), 0.0, t.Reason.WAITING_TO_CHANGE_LANE, buffer=0.0)
        )
    if not move.needed or not move.rows:
        return
    impossible = move.maneuver is t.Maneuver.CANNOT_PASS
    creeping = not move.now and move.postponed is t.Postponement.OBSTACLE_NOT_PASSED
    waiting = creeping or move.postponed in (
        t.Postponement.LANE_OCCUPIED,
        t.Postponement.ONCOMING_TRAFFIC,
    )
    if not (impossible or waiting) or move.cause not in PASSED:
        return
    row = min(move.rows, key=lambda r: context.path_place(r)[0])
    agent = context.frame.agents[row]
    gap = context.path_place(row)[0] - (agent.length + context.frame.ego.length) / 2.0
    reason = t.Reason.OBSTACLE if impossible else t.Reason.WAITING_TO_CHANGE_LANE
    speed, buffer = 0.0, 7.0
    if creeping:
        speed, buffer = (CREEP_MPS, 6.0) if gap > CREEP_TO_M else (0.0, 3.0)
    yield from _some(_before(context, max(gap, 0.0), speed, reason, move.rows, buffer=buffer))
