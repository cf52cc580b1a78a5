"""Where to drive: lane changes, passing, deviations, and whether now.

Obstructions first (question 10), then every other reason (question 12); of both, question 13 says what holds now.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from driveproof.commenter.context import Context
from driveproof.commenter.gaps import (
    beside_is_free,
    lane_is_free,
    occupants,
    oncoming_is_free,
    only_things,
    why_not,
)
from driveproof.commenter.naming import kind_of
from driveproof.commenter.obstruction import Obstruction
from driveproof.commenter.road import Beside
from driveproof.maps import LaneKind
from driveproof.questions import terms as t
from driveproof.questions.objects import EMERGENCY
from driveproof.scene import Command

BEGIN_M, BEGIN_S = 14.0, 2.6
"""A pass begins when the obstruction is nearer than this many metres plus seconds of the ego's speed."""
NOT_PASSED_M = 4.0
"""Behind the ego's centre; nearer things are not passed yet."""
RETURN_M, RETURN_S = 12.0, 0.8
"""From the oncoming lane one returns if its own lane is free for so many metres plus seconds."""
INVADER_AHEAD_M = 35.0
EMERGENCY_BEHIND_M, COMING_M = 40.0, 55.0
"""Behind the ego in its own lane, and in the lane that it wants."""
NEAR_COMMAND_M, JUNCTION_NEAR_M = 25.0, 35.0
"""A commanded lane change begins so near to the navigator's point, or to a junction before which it has to be made."""
LEAVES_M = 0.6
"""So far beside the middle of the ego's lane the way to another one has begun."""
LOOK_S = 1.0
"""Who leaves a parking place looks for so long first."""
INSIDE_M = 0.4
"""Whose side reaches so far into a lane has entered it."""
BESIDE_LANE_M = 0.3
"""So far beyond its border a vehicle's centre is beside a lane."""
ENTER_HIGHWAY = frozenset(
    {"HighwayCutIn", "MergerIntoSlowTrafficV2", "InterurbanAdvancedActorFlow"}
)
LEAVE_HIGHWAY = frozenset({"HighwayExit", "MergerIntoSlowTraffic", "InterurbanActorFlow"})
CHANGES = {Command.CHANGE_LEFT: 1, Command.CHANGE_RIGHT: -1}
"""Sides of commanded lane changes."""
FLOWING = ENTER_HIGHWAY | LEAVE_HIGHWAY | {"SequentialLaneChange"}
"""Scenarios among others who come fast from behind."""


@dataclass(frozen=True)
class Move:
    """A move out of the lane's middle, why, and whether now.

    ``rows`` are the agents that it is about; ``postponed`` says why it does not begin yet.
    """

    maneuver: t.Maneuver = t.Maneuver.NONE
    cause: t.ManeuverCause = t.ManeuverCause.NONE
    now: bool = False
    postponed: t.Postponement | None = None
    rows: tuple[int, ...] = ()

    @property
    def needed(self) -> bool:
        """Whether there is a move at all."""
        return self.maneuver is not t.Maneuver.NONE


def pass_obstruction(context: Context, obstruction: Obstruction | None) -> Move:
    """The move that an obstruction asks for."""
    if obstruction is None:
        return _dodge_invader(context)
    ego, road = context.frame.ego, context.road
    lanes = context.town.lanes
    width = float(lanes.width[lanes.points(road.lane).start])
    left_room, right_room = obstruction.room(width, ego.width)
    close = obstruction.begin - ego.length / 2.0 < BEGIN_M + BEGIN_S * ego.speed
    if left_room or right_room:
        maneuver = t.Maneuver.SHIFT_LEFT if left_room else t.Maneuver.SHIFT_RIGHT
        return _around(obstruction, maneuver, None if close else t.Postponement.TOO_EARLY)
    open_ = {1: road.left.drivable, -1: road.right.drivable}
    wide = {s for s in open_ if obstruction.leaves_beside(s, width, ego.width)}
    left, right = (open_[side] and side in wide for side in (1, -1))
    if left or right:
        there = {
            side: occupants(context, side, obstruction.rows)
            for side, drivable in ((1, left), (-1, right))
            if drivable
        }
        free = {side: not rows for side, rows in there.items()}
        maneuver = _which(free, both=left and right)
        if close and any(free.values()):
            return _around(obstruction, maneuver, None)
        things = any(only_things(context, rows) for rows in there.values())
        why = t.Postponement.OBSTACLE_NOT_PASSED if things else t.Postponement.LANE_OCCUPIED
        return _around(obstruction, maneuver, why if close else t.Postponement.TOO_EARLY)
    if _oncoming_lane(road.left) and 1 in wide:
        beside = beside_is_free(context, 1, obstruction.rows)
        free_way = oncoming_is_free(context, 1, obstruction.end)
        close = close and obstruction.begin < road.to_junction
        now = close and beside and free_way
        postponed = (
            None
            if now
            else t.Postponement.TOO_EARLY
            if not close
            else why_not(beside, not free_way)
        )
        return _around(obstruction, t.Maneuver.USE_ONCOMING_LANE, postponed)
    return _around(obstruction, t.Maneuver.CANNOT_PASS, None)


def _around(
    obstruction: Obstruction, maneuver: t.Maneuver, postponed: t.Postponement | None
) -> Move:
    return Move(maneuver, obstruction.cause, postponed is None, postponed, obstruction.rows)


def _which(free: dict[int, bool], *, both: bool) -> t.Maneuver:
    """Left before right; a side that is free before one that is not; "either" while both are."""
    if both and free.get(1) and free.get(-1):
        return t.Maneuver.CHANGE_EITHER
    side = next((side for side in (1, -1) if free.get(side)), 1 if 1 in free else -1)
    return t.Maneuver.CHANGE_LEFT if side > 0 else t.Maneuver.CHANGE_RIGHT


def _oncoming_lane(beside: Beside) -> bool:
    return beside.lane >= 0 and not beside.same and beside.kind is LaneKind.DRIVING


def _dodge_invader(context: Context) -> Move:
    """An oncoming vehicle that is partly in the ego's lane: shift to the right within the lane."""
    ego = context.frame.ego
    for row, agent in enumerate(context.frame.agents):
        _, _, heading = context.local[row].tolist()
        s, lateral = context.path_place(row)
        if agent.kind == "walker" or not 0.0 < s < INVADER_AHEAD_M:
            continue
        oncoming = abs(heading) > math.radians(120.0) and agent.speed > 0.5
        works = context.frame.scenario.startswith("InvadingTurn") and agent.kind == "prop"
        inner = lateral - agent.width / 2.0
        if (oncoming or works) and lateral > 0.8 and inner < ego.width / 2.0 + 0.6:
            return Move(
                t.Maneuver.SHIFT_RIGHT, t.ManeuverCause.INVADING_VEHICLE, now=True, rows=(row,)
            )
    return Move()


def other_reasons(context: Context, obstruction: Obstruction | None) -> Move:
    """Lane changes for any reason but an obstruction ahead."""
    road = context.road
    if road.in_junction:
        return Move()
    if road.wrong_way:
        return _leave_oncoming(context)
    for reason in (_yield_to_emergency, _leave_parking, _commanded):
        move = reason(context)
        if move.needed:
            return move
    return _own_lane(context, obstruction)


def _leave_oncoming(context: Context) -> Move:
    """On the lane of the oncoming traffic: back to the right as soon as nothing is beside."""
    ahead = RETURN_M + RETURN_S * context.frame.ego.speed
    blocked = [
        row
        for row, agent in enumerate(context.frame.agents)
        if agent.height > 0.2
        and agent.kind != "walker"
        and abs(agent.speed) < 3.0
        and -NOT_PASSED_M - agent.length / 2.0 < context.path_place(row)[0] < ahead
        and -6.0 < context.path_place(row)[1] < -1.4
    ]
    cause = t.ManeuverCause.ON_ONCOMING_LANE
    if blocked:
        return Move(
            t.Maneuver.CHANGE_RIGHT,
            cause,
            False,
            t.Postponement.OBSTACLE_NOT_PASSED,
            tuple(blocked),
        )
    return Move(t.Maneuver.CHANGE_RIGHT, cause, now=True)


def _yield_to_emergency(context: Context) -> Move:
    """An emergency vehicle close behind in the ego's lane: give it the lane."""
    ego = context.frame.ego
    for row, agent in enumerate(context.frame.agents):
        s, lateral = context.lane_place(row)
        _, _, heading = context.local[row].tolist()
        behind = -EMERGENCY_BEHIND_M < s < -2.0 and abs(lateral) < 2.0
        if kind_of(agent) not in EMERGENCY or not behind or abs(heading) > math.radians(60.0):
            continue
        if agent.speed < max(ego.speed - 1.0, 2.0):
            continue
        road = context.road
        sides = [side for side, beside in ((-1, road.right), (1, road.left)) if beside.drivable]
        free = [side for side in sides if beside_is_free(context, side)]
        cause = t.ManeuverCause.EMERGENCY_VEHICLE
        if not sides:
            return Move(t.Maneuver.SHIFT_RIGHT, cause, now=True, rows=(row,))
        side = free[0] if free else sides[0]
        maneuver = t.Maneuver.CHANGE_LEFT if side > 0 else t.Maneuver.CHANGE_RIGHT
        postponed = None if free else t.Postponement.LANE_OCCUPIED
        return Move(maneuver, cause, bool(free), postponed, (row,))
    return Move()


def _leave_parking(context: Context) -> Move:
    if not context.frame.scenario.startswith("ParkingExit"):
        return Move()
    ego, town = context.frame.ego, context.town
    near = town.nearest_lane((ego.x, ego.y), (ego.heading,))
    beside = float(near.lateral[0])
    width = float(town.lanes.width[town.lanes.points(int(near.lane[0])).start])
    if abs(beside) < width / 2.0 + BESIDE_LANE_M:
        return Move()
    side = -1 if beside > 0.0 else 1
    out = abs(beside) < (width + ego.width) / 2.0 - INSIDE_M  # half out, one does not stop
    looked = context.window.ago(LOOK_S) is not None
    free = lane_is_free(context, town.lanes.polyline(int(near.lane[0])))
    maneuver = t.Maneuver.CHANGE_LEFT if side > 0 else t.Maneuver.CHANGE_RIGHT
    if out or (free and looked):
        return Move(maneuver, t.ManeuverCause.PARKING_EXIT, now=True)
    postponed = t.Postponement.TOO_EARLY if free else t.Postponement.LANE_OCCUPIED
    return Move(maneuver, t.ManeuverCause.PARKING_EXIT, False, postponed)


def _commanded(context: Context) -> Move:
    frame, road = context.frame, context.road
    side = CHANGES.get(frame.command_near, 0)
    if not side or not _command_is_near(context) or _reached(context, side):
        return Move()
    beside = road.left if side > 0 else road.right
    if not beside.drivable:
        return Move()
    highway = frame.scenario in ENTER_HIGHWAY | LEAVE_HIGHWAY
    cause = t.ManeuverCause.HIGHWAY_COMMAND if highway else t.ManeuverCause.COMMAND
    return _change(context, side, cause)


def _command_is_near(context: Context) -> bool:
    near = context.frame.near
    late = context.road.to_junction < JUNCTION_NEAR_M  # behind it the lanes may part
    return late or near is None or math.hypot(*context.frame.local(*near)) < NEAR_COMMAND_M


def _reached(context: Context, side: int) -> bool:
    """Whether the ego is already in the lane of the navigator's next point, which has not begun to leave it."""
    near, own = context.frame.near, context.road.lane
    if near is None or _lane_of_route(context) != own:
        return False
    _, beside = context.town.lanes.polyline(own).project(np.array(near))
    return side * float(beside) < LEAVES_M


def _emergency_comes(context: Context, side: int) -> bool:
    """Whether an emergency vehicle comes from behind on the lane on ``side``."""
    for row, agent in enumerate(context.frame.agents):
        s, lateral = context.lane_place(row)
        beside = 1.5 < side * lateral < 5.5
        if kind_of(agent) in EMERGENCY and beside and -COMING_M < s < 10.0 and agent.speed > 2.0:
            return True
    return False


def _change(context: Context, side: int, cause: t.ManeuverCause) -> Move:
    maneuver = t.Maneuver.CHANGE_LEFT if side > 0 else t.Maneuver.CHANGE_RIGHT
    if _emergency_comes(context, side):
        return Move(maneuver, cause, False, t.Postponement.YIELDING)
    free = beside_is_free(context, side)
    return Move(maneuver, cause, free, None if free else t.Postponement.LANE_OCCUPIED)


def _lane_of_route(context: Context) -> int | None:
    """The lane of the navigator's next point, if it is on the ego's own stretch of road."""
    near = context.frame.near
    if near is None:
        return None
    lanes = context.town.lanes
    match = context.town.nearest_lane(near, (context.frame.ego.heading,))
    lane = int(match.lane[0])
    own = context.road.lane
    same = lanes.road[lane] == lanes.road[own] and lanes.section[lane] == lanes.section[own]
    return lane if same and abs(float(match.heading_error[0])) < math.pi / 2 else None


def _own_lane(context: Context, obstruction: Obstruction | None) -> Move:
    """Back to the lane of the route, once whatever was passed is behind."""
    goal, own = _lane_of_route(context), context.road.lane
    if goal is None or goal == own or obstruction is not None:
        return Move()
    lanes = context.town.lanes
    left = abs(int(lanes.lane[goal])) < abs(int(lanes.lane[own]))
    side = 1 if left else -1
    if side == -CHANGES.get(context.frame.command_near, 0):
        return Move()  # it has changed lanes already, before the navigator's point
    beside = context.road.left if left else context.road.right
    if not beside.drivable:
        return Move()
    standing = [
        row
        for row, agent in enumerate(context.frame.agents)
        if abs(agent.speed) < 0.5
        and agent.height > 0.2
        and -NOT_PASSED_M < context.local[row][0] < 25.0
        and 1.5 < side * context.path_place(row)[1] < 5.5
    ]
    if standing:
        maneuver = t.Maneuver.CHANGE_LEFT if left else t.Maneuver.CHANGE_RIGHT
        return Move(
            maneuver,
            t.ManeuverCause.WRONG_LANE,
            False,
            t.Postponement.OBSTACLE_NOT_PASSED,
            tuple(standing),
        )
    return _change(context, side, t.ManeuverCause.WRONG_LANE)
