"""The others: how each moves, where it goes, where on the road it is.

Thresholds: Bench2Drive-VL (0.5 m/s; the larger of 4 m/s and two thirds of the ego's speed; curvature 0.2 and 0.9 of
a ten-metre circle).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from driveproof.commenter.context import Context
from driveproof.commenter.frame import Agent
from driveproof.geometry import wrap_angle
from driveproof.maps import LaneKind
from driveproof.questions import terms as t

STOPPED_MPS, SLOW_MPS = 0.5, 4.0
SLIGHT_CURVATURE, CURVATURE = 0.02, 0.09
"""1/m: slightly and clearly turning (0.2 and 0.9 of a circle of 10 m)."""
CUT_IN_MPS = 0.35
"""Sideways speed towards the ego's lane from which a vehicle beside cuts in."""
BESIDE_M = 3.5
ON_LANE_M = 2.2


@dataclass(frozen=True)
class Moving:
    """Typed facts about one vehicle.

    Attributes
    ----------
    motion, course, intent
        Speed class, heading against the ego's, where it is going.
    place, lanes_over, along
        Where on the road it is.
    yaw_rate
        Radians a second, left positive.
    sideways
        Metres a second towards the ego's lane centre line (positive: approaching it).
    """

    motion: t.Motion
    course: t.Course
    intent: t.Intent
    place: t.Place
    lanes_over: int | None
    along: t.Along
    yaw_rate: float
    sideways: float


def moving(context: Context, row: int) -> Moving:
    """Facts about the agent of a row of the frame."""
    agent = context.frame.agents[row]
    x, _, heading = context.local[row].tolist()
    rate = yaw_rate(context, agent)
    across = sideways(context, row)
    course = _course(heading)
    place, over = _place(context, row)
    intent = _intent(agent, rate)
    side = place in (t.Place.LEFT_LANE, t.Place.RIGHT_LANE, t.Place.PARKING_LANE, t.Place.SHOULDER)
    if side and course is t.Course.SAME and across > CUT_IN_MPS and x > 0.0 and (over or 1) == 1:
        intent = t.Intent.CUTTING_IN
    length = agent.length / 2.0 + context.frame.ego.length / 2.0
    along = t.Along.AHEAD if x > length else t.Along.BEHIND if x < -length else t.Along.BESIDE
    return Moving(
        _motion(agent.speed, context.frame.ego.speed),
        course,
        intent,
        place,
        over,
        along,
        rate,
        across,
    )


def _motion(speed: float, ego: float) -> t.Motion:
    if abs(speed) < STOPPED_MPS:
        return t.Motion.STOPPED
    return t.Motion.SLOW if abs(speed) < max(SLOW_MPS, 2.0 / 3.0 * ego) else t.Motion.NORMAL


def _course(heading: float) -> t.Course:
    angle = abs(heading)
    if angle < math.radians(45.0):
        return t.Course.SAME
    return t.Course.OPPOSITE if angle > math.radians(135.0) else t.Course.CROSSING


def yaw_rate(context: Context, agent: Agent) -> float:
    """Radians a second over the last half second; 0 without a past."""
    before = context.past.get(agent.id)
    if before is None:
        return 0.0
    past, seconds = before
    return float(wrap_angle(agent.heading - past.heading)) / seconds


def _intent(agent: Agent, rate: float) -> t.Intent:
    if abs(agent.speed) < STOPPED_MPS:
        return t.Intent.STRAIGHT
    curvature = rate / max(abs(agent.speed), 1.0)
    if abs(curvature) < SLIGHT_CURVATURE:
        return t.Intent.STRAIGHT
    if abs(curvature) < CURVATURE:
        return t.Intent.SLIGHTLY_LEFT if curvature > 0 else t.Intent.SLIGHTLY_RIGHT
    return t.Intent.LEFT if curvature > 0 else t.Intent.RIGHT


def sideways(context: Context, row: int) -> float:
    """Metres a second at which an agent ahead approaches the ego's path; 0 without a past."""
    agent = context.frame.agents[row]
    s, lateral = context.path_place(row)
    before = context.past.get(agent.id)
    if before is None or s <= 0.0:
        return 0.0
    return (abs(float(context.past_beside[row])) - abs(lateral)) / before[1]


def _place(context: Context, row: int) -> tuple[t.Place, int | None]:
    agent = context.frame.agents[row]
    lanes, road = context.town.lanes, context.road
    lane = int(context.lanes.lane[row])
    off = float(context.lanes.distance[row])
    width = float(lanes.width[lanes.points(lane).start])
    if off > width / 2.0 + 0.4 and not lanes.is_junction[lane]:
        return _beside_road(context, row), None
    if lanes.junction[lane] >= 0:
        return t.Place.IN_JUNCTION, None
    if lanes.road[lane] == lanes.road[road.lane]:
        return _same_road(context, lane, row)
    s, lateral = context.path_place(row)
    if 0.0 < s < context.path.length - 1.0 and abs(lateral) < ON_LANE_M:
        return t.Place.OWN_LANE, None
    if road.to_junction < 60.0 or road.in_junction:
        return _about_junction(context, row), None
    over = max(1, round(abs(lateral) / BESIDE_M))
    against = abs(float(wrap_angle(agent.heading - context.frame.ego.heading))) > math.pi / 2
    if against and lateral > 0.0:
        return t.Place.ONCOMING_LANE, None
    return (t.Place.LEFT_LANE if lateral > 0.0 else t.Place.RIGHT_LANE), over


def _same_road(context: Context, lane: int, row: int) -> tuple[t.Place, int | None]:
    lanes = context.town.lanes
    own, other = int(lanes.lane[context.road.lane]), int(lanes.lane[lane])
    if own == other:
        return t.Place.OWN_LANE, None
    if (own < 0) != (other < 0):
        return t.Place.ONCOMING_LANE, None
    _, lateral = context.path_place(row)
    place = t.Place.LEFT_LANE if lateral > 0.0 else t.Place.RIGHT_LANE
    return place, max(1, abs(own - other))


def _about_junction(context: Context, row: int) -> t.Place:
    """Which arm of the junction ahead: by the direction of the place seen from the junction's middle."""
    x, y, _ = context.local[row].tolist()
    ahead = min(context.road.to_junction, 60.0) + 8.0
    angle = math.atan2(y, x - ahead)
    if abs(angle) < math.radians(45.0):
        return t.Place.JUNCTION_AHEAD
    if x < ahead - 12.0 and abs(angle) > math.radians(135.0):
        return t.Place.ONCOMING_LANE if y > 0.0 else t.Place.RIGHT_LANE
    return t.Place.JUNCTION_LEFT if angle > 0.0 else t.Place.JUNCTION_RIGHT


_BESIDE = (
    (LaneKind.PARKING, t.Place.PARKING_LANE),
    (LaneKind.BIKING, t.Place.BIKE_LANE),
    (LaneKind.SIDEWALK, t.Place.SIDEWALK),
    (LaneKind.SHOULDER, t.Place.SHOULDER),
)


def _beside_road(context: Context, row: int) -> t.Place:
    for kind, place in _BESIDE:
        if context.beside_road(kind)[row] < 0.2:
            return place
    return t.Place.OFF_ROAD
