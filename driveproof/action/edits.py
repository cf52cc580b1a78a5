"""What each direction key does to the way.

Source: Bench2Drive-VL, action module. FOLLOW_LANE leads the way onto the lane that the ego is in, CHANGE_LANE_* onto
its neighbour, DEVIATE_* beside the middle of the ego's lane; all end before the next junction where the navigator's
route turns, or the lane does. GO_STRAIGHT and TURN_* leave the way alone; outside junctions a TURN_* leads an ego that is
astray back onto the route.
"""

from __future__ import annotations

import numpy as np

from driveproof.action.way import STEP_M, Way, blend
from driveproof.geometry import Polyline, wrap_angle
from driveproof.geometry.arrays import Float
from driveproof.maps import LaneKind, TownMap
from driveproof.questions import DirectionKey

SWING_M, WIDE_SWING_M = 4.0, 8.0
"""Metres over which the way swings to another line; the latter on highways and in lane-change scenarios."""
SWING_S = 1.5
"""At speed it swings over so many seconds: a lane's width over four metres is no line that a car can take."""
DEVIATION_M = 0.8
"""Sideways distance of DEVIATE_LEFT and DEVIATE_RIGHT."""
BESIDE_M = 3.5
"""Sideways distance of a lane change where the map knows no lane."""
REACH_M = 150.0
"""How far ahead a lane is followed."""
OVERLAP_M = 1.5
"""A lane along the way is the ego's unless another one is nearer by so much."""
LEAVES_M = 8.0
"""A lane that comes to lie so much farther from the route than where the ego is leads elsewhere."""
ON_ROUTE_M = 1.0
"""The route takes a lane whose middle is so near to it."""
OFF_WAY_M = 1.0
"""Farther beside the way the ego is not on it."""
BESIDE_LANE_M = 0.3
"""So far beyond its border a vehicle's centre is beside a lane."""
STRAIGHT_RAD = np.radians(20.0)
"""Lanes through a junction that turn less go straight on."""
ON_LANE_M = 4.0
"""Farther from every lane's centre the ego is off the road."""

Pose = tuple[float, float, float]


def swing(speed: float, *, wide: bool = False) -> int:
    """Points over which the way swings to another line at ``speed``, m/s."""
    return round(max(WIDE_SWING_M if wide else SWING_M, SWING_S * speed) / STEP_M)


def restored(way: Way, route: Way, index: int, over: int) -> Way:
    """Lead the way back onto the route up to the next junction, for an ego that is astray."""
    end = way.before_junction(index)
    return blend(way, route.points[index:end], index, end, over)


def edit(
    way: Way, route: Way, key: DirectionKey, town: TownMap, pose: Pose, index: int, over: int
) -> Way:
    """Bend ``way`` as ``key`` says.

    Parameters
    ----------
    route
        The way as it was before any key bent it.
    pose
        x, y, heading of the ego's centre, world frame.
    index
        The ego's place on the way.
    over
        Points over which the way swings, see :func:`swing`.
    """
    match key:
        case DirectionKey.FOLLOW_LANE:
            return _onto(way, route, town, pose, index, over, 0, 0.0)
        case DirectionKey.CHANGE_LANE_LEFT:
            return _onto(way, route, town, pose, index, over, 1, 0.0)
        case DirectionKey.CHANGE_LANE_RIGHT:
            return _onto(way, route, town, pose, index, over, -1, 0.0)
        case DirectionKey.DEVIATE_LEFT:
            return _onto(way, route, town, pose, index, over, 0, DEVIATION_M)
        case DirectionKey.DEVIATE_RIGHT:
            return _onto(way, route, town, pose, index, over, 0, -DEVIATION_M)
        case _:
            return way


def _onto(
    way: Way,
    route: Way,
    town: TownMap,
    pose: Pose,
    index: int,
    over: int,
    side: int,
    offset: float,
) -> Way:
    """Lead the way onto the lane ``side`` lanes to the left of the ego's, ``offset`` metres left of its middle.

    Sides are those of the way's direction: seen from a vehicle that stands the wrong way round they are swapped. Where
    the lane ends or leads away from the route the way returns to the route.
    """
    end = min(way.before_turn(index), index + round(REACH_M / STEP_M))
    if end <= index or way.in_junction[index]:
        return way
    beside = way.lateral(pose[0], pose[1], index)
    if abs(beside) > OFF_WAY_M:  # the swing begins where the ego is
        shifted = way.points.copy()
        shifted[index:end] += beside * _normals(way.headings[index:end])
        way = way.moved(shifted)
    part = route.points[index:end]
    line = _lane_line(town, pose, float(way.headings[index]), side, part)
    if line is None:
        part = way.points[index:end]
        target = part + (side * BESIDE_M + offset) * _normals(way.headings[index:end])
    else:
        s, _ = line.project(part)
        inside = (s > 0.0) & (s < line.length)
        if not inside.any():
            return way
        last = int(np.flatnonzero(inside)[-1]) + 1
        apart = np.hypot(*(line.at(s[:last]) - part[:last]).T)
        leaves = np.flatnonzero(apart > apart[0] + LEAVES_M)
        last = int(leaves[0]) if len(leaves) else last
        s, end = s[:last], index + last
        target = line.at(s) + offset * _normals(line.heading(s))
    return blend(way, target, index, end, over, back=route.points)


def _lane_line(town: TownMap, pose: Pose, along: float, side: int, route: Float) -> Polyline | None:
    """Centre of the lane beside the ego's, in the direction ``along``; None off the road or where there is none.

    Where it forks, the branch nearest to the points ``route`` ``[N, 2]`` is taken.
    """
    lanes = town.lanes
    lane, distance = _lane_under(town, pose, along)
    if distance > ON_LANE_M:
        return None
    reverse = _against(town, pose, lane, along)
    if side and not _stands_beside(town, pose, lane, side if not reverse else -side):
        left = (side > 0) != reverse
        beside = int((lanes.left if left else lanes.right)[lane])
        if beside < 0 or lanes.kind[beside] not in (LaneKind.DRIVING, LaneKind.PARKING):
            return None
        same = bool((lanes.left_same if left else lanes.right_same)[lane])
        lane, reverse = beside, reverse == same
    return _chain(town, lane, reverse, pose, route)


def _lane_under(town: TownMap, pose: Pose, along: float) -> tuple[int, float]:
    """The lane that a pose is in, and metres to its centre: of several that overlap the one along ``along``."""
    match = town.nearest_lane((pose[0], pose[1]), (along,))
    near = town.nearest_lane((pose[0], pose[1]))
    if float(match.distance[0]) > float(near.distance[0]) + OVERLAP_M:
        match = near
    return int(match.lane[0]), float(match.distance[0])


def _stands_beside(town: TownMap, pose: Pose, lane: int, side: int) -> bool:
    """Whether a pose lies outside the lane, and the lane on ``side`` of it: then one changes onto the lane itself."""
    line = town.lanes.polyline(lane)
    _, beside = line.project(np.array([pose[0], pose[1]]))
    half = float(town.lanes.width[town.lanes.points(lane)].mean()) / 2.0
    return -side * float(beside) > half + BESIDE_LANE_M


def _against(town: TownMap, pose: Pose, lane: int, along: float) -> bool:
    """Whether a lane runs against ``along`` beside a pose."""
    line = town.lanes.polyline(lane)
    s, _ = line.project(np.array([pose[0], pose[1]]))
    return bool(np.cos(float(line.heading(float(s))) - along) < 0.0)


def _chain(town: TownMap, lane: int, reverse: bool, pose: Pose, route: Float) -> Polyline | None:
    """The lane and what follows it beyond a pose, straight over junctions, against its direction if ``reverse``."""
    lanes = town.lanes
    parts: list[Float] = []
    s, _ = lanes.polyline(lane).project(np.array([pose[0], pose[1]]))
    length = float(s) - float(lanes.length[lane]) if reverse else -float(s)  # ahead of the pose
    seen: set[int] = set()
    following: int | None = lane
    while following is not None and following not in seen and length < REACH_M:
        seen.add(following)
        points = lanes.centre[lanes.points(following), :2]
        parts.append(points[::-1] if reverse else points)
        length += float(lanes.length[following])
        following = _next(town, following, reverse, route)
    try:
        return Polyline(np.concatenate(parts))
    except ValueError:  # a lane section of no length
        return None


def _next(town: TownMap, lane: int, reverse: bool, route: Float) -> int | None:
    lanes = town.lanes
    found = (lanes.predecessors if reverse else lanes.successors)(lane).tolist()
    on_route = [n for n in found if _apart(town, n, route) < ON_ROUTE_M]
    if on_route and not reverse:
        return int(min(on_route, key=lambda n: _apart(town, n, route)))
    free = [n for n in found if lanes.junction[n] < 0]
    straight = [n for n in found if abs(_turn(town, n)) < STRAIGHT_RAD]
    return min(free or straight, key=lambda n: _apart(town, n, route), default=None)


def _apart(town: TownMap, lane: int, route: Float) -> float:
    """Metres from the middle of a lane to the nearest of some points."""
    line = town.lanes.polyline(lane)
    return float(np.hypot(*(route - line.at(line.length / 2.0)).T).min())


def _turn(town: TownMap, lane: int) -> float:
    part = town.lanes.points(lane)
    return float(wrap_angle(town.lanes.heading[part.stop - 1] - town.lanes.heading[part.start]))


def _normals(headings: Float) -> Float:
    return np.stack([-np.sin(headings), np.cos(headings)], axis=-1)
