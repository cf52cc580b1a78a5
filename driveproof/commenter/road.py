"""The road under the ego: lanes, markings, junctions, and how the ego lies in its lane."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from driveproof.geometry import wrap_angle
from driveproof.maps import LaneKind, TownMap
from driveproof.questions import terms as t
from driveproof.scene import Command

Pose = tuple[float, float, float]

BEFORE_JUNCTION_M = 25.0
LOOK_AHEAD_M = 60.0
BEND_M, BEND_RAD = 20.0, 0.15
"""A lane bends if its heading changes by more than this within the next metres."""
OVERLAP_M, OVERLAP_RAD = 2.0, math.radians(50.0)
"""Lanes of a junction so near under the ego and so little turned from it may be the one it is on."""
TURNS = {Command.LEFT: 1.0, Command.RIGHT: -1.0, Command.STRAIGHT: 0.0}
"""The turn class that a command means."""
BESIDE_M = 0.6
"""So far outside a lane's edge a vehicle's centre may be and still count as on it."""
HIGHWAY_MPS = 28.0
"""Roads with a limit from about 100 km/h on are highways: CARLA posts 90 km/h in towns."""
_MARKS = {
    0: t.MarkingKind.NONE,
    1: t.MarkingKind.SOLID,
    2: t.MarkingKind.BROKEN,
    3: t.MarkingKind.SOLID_SOLID,
    4: t.MarkingKind.SOLID_BROKEN,
    5: t.MarkingKind.BROKEN_SOLID,
    6: t.MarkingKind.BROKEN_BROKEN,
    7: t.MarkingKind.BOTTS_DOTS,
    8: t.MarkingKind.CURB,
    9: t.MarkingKind.GRASS,
}
_COLOURS = {
    0: t.MarkingColour.WHITE,
    1: t.MarkingColour.WHITE,
    2: t.MarkingColour.YELLOW,
    3: t.MarkingColour.BLUE,
    4: t.MarkingColour.GREEN,
    5: t.MarkingColour.RED,
}
_UNPAINTED = frozenset({t.MarkingKind.NONE, t.MarkingKind.CURB, t.MarkingKind.GRASS})


@dataclass(frozen=True)
class Beside:
    """What lies beside the ego's lane: lane index (-1: nothing), its kind, whether it goes the same way, the marking."""

    lane: int
    kind: LaneKind
    same: bool
    marking: t.MarkingKind
    colour: t.MarkingColour | None

    @property
    def drivable(self) -> bool:
        """A driving lane of the ego's own direction."""
        return self.lane >= 0 and self.same and self.kind is LaneKind.DRIVING


@dataclass(frozen=True)
class Road:
    """How the ego lies on the road.

    Attributes
    ----------
    lane, arc
        The nearest driving lane along the ego's heading and metres along it.
    lateral, heading_error
        Metres left of its centre; radians that the ego is turned left of it.
    on_road
        Whether the ego is on a driving lane or in a junction.
    in_junction, to_junction
        Whether the lane is inside a junction; metres along it to the next one (0 inside, inf beyond 60 m).
    index, same, opposite
        Lanes counted from the left of the ego's direction (None inside junctions); lanes in its direction and
        against it.
    left, right
        What is beside.
    bend
        Which way the lane leads.
    highway
        Whether it is one.
    """

    lane: int
    arc: float
    lateral: float
    heading_error: float
    on_road: bool
    in_junction: bool
    to_junction: float
    index: int | None
    same: int
    opposite: int
    left: Beside
    right: Beside
    bend: t.Bend
    highway: bool

    @property
    def wrong_way(self) -> bool:
        """Whether the ego is turned against the nearest lane of any direction by more than 120 degrees."""
        return abs(self.heading_error) > math.radians(120.0)


def road_at(
    town: TownMap,
    pose: Pose,
    command: Command = Command.UNKNOWN,
    near: tuple[float, float] | None = None,
) -> Road:
    """The road under a pose (x, y, heading; world frame, metres, radians).

    Parameters
    ----------
    command, near
        The navigator's next command and point: they tell which of the lanes that overlap in a junction is meant.
    """
    lanes = town.lanes
    lane, arc, lateral, error, distance = _lane_under(town, pose, command, near)
    point = lanes.points(lane).start + int(np.searchsorted(lanes.arc[lanes.points(lane)], arc))
    point = min(point, lanes.points(lane).stop - 1)
    inside = bool(lanes.junction[lane] >= 0)
    width = float(lanes.width[point])
    on_road = bool(
        distance < width / 2.0 + BESIDE_M
    )  # distance: to the nearest lane of any direction
    same, opposite, index = count_lanes(town, lane)
    limit = float(lanes.speed_limit[lane])
    return Road(
        lane=lane,
        arc=arc,
        lateral=lateral,
        heading_error=error,
        on_road=on_road,
        in_junction=inside,
        to_junction=0.0 if inside else to_junction(town, lane, arc),
        index=None if inside else index,
        same=same,
        opposite=opposite,
        left=_beside(town, lane, point, left=True),
        right=_beside(town, lane, point, left=False),
        bend=_bend(town, lane, arc, inside, on_road),
        highway=limit >= HIGHWAY_MPS,
    )


def _lane_under(
    town: TownMap, pose: Pose, command: Command, near_point: tuple[float, float] | None
) -> tuple[int, float, float, float, float]:
    """The lane that the ego is in: the nearest one, but where several overlap the one along its heading and way.

    Lane, metres along it, metres left of it, heading error, metres to the nearest lane of any direction.
    """
    match = town.nearest_lane((pose[0], pose[1]), (pose[2],))
    near = town.nearest_lane((pose[0], pose[1]))
    if float(match.distance[0]) > float(near.distance[0]) + 1.5:
        match = near  # it stands in another lane than the one that it is aligned with
    lane, arc, lateral = int(match.lane[0]), float(match.arc[0]), float(match.lateral[0])
    if town.lanes.junction[lane] >= 0:
        lane, arc, lateral = _meant(town, pose, lane, arc, lateral, command, near_point)
    error = float(wrap_angle(pose[2] - _heading(town, lane, arc)))
    return lane, arc, lateral, error, float(near.distance[0])


def _heading(town: TownMap, lane: int, arc: float) -> float:
    part = town.lanes.points(lane)
    return float(np.interp(arc, town.lanes.arc[part], np.unwrap(town.lanes.heading[part])))


def _meant(
    town: TownMap,
    pose: Pose,
    lane: int,
    arc: float,
    lateral: float,
    command: Command,
    near: tuple[float, float] | None,
) -> tuple[int, float, float]:
    """Of the junction's lanes under the ego the one that turns as commanded and leads to the navigator's point."""
    if command not in TURNS:
        return lane, arc, lateral
    best, chosen = math.inf, (lane, arc, lateral)
    ego = np.array([pose[0], pose[1]])
    for other in town.junctions[int(town.lanes.junction[lane])].lanes:
        line = town.lanes.polyline(other)
        s, beside = (float(v) for v in line.project(ego))
        error = abs(float(wrap_angle(pose[2] - _heading(town, other, s))))
        if abs(beside) > OVERLAP_M or error > OVERLAP_RAD:
            continue
        misfit = abs(turn_class(turn_of(town, other)) - TURNS[command])
        away = abs(float(line.project(np.array(near))[1])) if near is not None else 0.0
        cost = 4.0 * misfit + abs(beside) + 2.0 * error + 0.5 * min(away, 8.0)
        if cost < best:
            best, chosen = cost, (other, s, beside)
    return chosen


def turn_of(town: TownMap, lane: int) -> float:
    """Net change of heading along a lane, radians, left positive."""
    part = town.lanes.points(lane)
    return float(wrap_angle(town.lanes.heading[part.stop - 1] - town.lanes.heading[part.start]))


def turn_class(turn: float) -> float:
    """A turn (radians) between -1 (right by 60 degrees or more) and 1 (left)."""
    return min(max(turn / math.radians(60.0), -1.0), 1.0)


def to_junction(town: TownMap, lane: int, arc: float) -> float:
    """Metres along the lane to the next junction; infinite beyond :data:`LOOK_AHEAD_M`."""
    lanes = town.lanes
    way = float(lanes.length[lane]) - arc
    while way < LOOK_AHEAD_M:
        following = lanes.successors(lane).tolist()
        if not following:
            return math.inf
        if any(lanes.junction[n] >= 0 for n in following):
            return way
        lane = int(following[0])
        way += float(lanes.length[lane])
    return math.inf


def count_lanes(town: TownMap, lane: int) -> tuple[int, int, int]:
    """Driving lanes in the direction of ``lane`` and against it, and its index from the left of its direction."""
    left, left_opposite = _across(town, lane, left=True)
    right, _ = _across(town, lane, left=False)
    return left + 1 + right, left_opposite, left


def _across(town: TownMap, lane: int, *, left: bool) -> tuple[int, int]:
    lanes = town.lanes
    same = opposite = 0
    flipped = False
    seen = {lane}
    while True:
        # Once across the middle, further left is the other direction's right.
        side_left = left != flipped
        beside = int((lanes.left if side_left else lanes.right)[lane])
        keeps = bool((lanes.left_same if side_left else lanes.right_same)[lane])
        if beside < 0 or beside in seen:
            return same, opposite
        flipped = flipped if keeps else not flipped
        seen.add(beside)
        lane = beside
        if lanes.kind[lane] == LaneKind.DRIVING:
            same, opposite = (same, opposite + 1) if flipped else (same + 1, opposite)


def _beside(town: TownMap, lane: int, point: int, *, left: bool) -> Beside:
    lanes = town.lanes
    beside = int((lanes.left if left else lanes.right)[lane])
    mark = _MARKS.get(
        int((lanes.left_mark if left else lanes.right_mark)[point]), t.MarkingKind.NONE
    )
    colour = _COLOURS.get(int((lanes.left_colour if left else lanes.right_colour)[point]))
    return Beside(
        lane=beside,
        kind=LaneKind(int(lanes.kind[beside])) if beside >= 0 else LaneKind.NONE,
        same=bool((lanes.left_same if left else lanes.right_same)[lane]),
        marking=mark,
        colour=None if mark in _UNPAINTED else colour,
    )


def _bend(town: TownMap, lane: int, arc: float, inside: bool, on_road: bool) -> t.Bend:
    if not on_road:
        return t.Bend.NO_LANE
    if inside:
        return t.Bend.JUNCTION
    lanes = town.lanes
    part = lanes.points(lane)
    headings = np.unwrap(lanes.heading[part])
    end = arc + BEND_M
    here = float(np.interp(arc, lanes.arc[part], headings))
    there = float(np.interp(end, lanes.arc[part], headings))
    rest = end - float(lanes.length[lane])
    following = [n for n in lanes.successors(lane).tolist() if lanes.junction[n] < 0]
    if rest > 0.0 and following:
        onward = lanes.points(following[0])
        ahead = float(np.interp(rest, lanes.arc[onward], np.unwrap(lanes.heading[onward])))
        there += float(wrap_angle(ahead - there))
    turn = there - here
    if abs(turn) < BEND_RAD:
        return t.Bend.STRAIGHT
    return t.Bend.LEFT if turn > 0.0 else t.Bend.RIGHT
