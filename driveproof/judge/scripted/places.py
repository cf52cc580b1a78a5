"""Places of a town where scripted behaviour can be set: stretches of road, turns, and lights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from driveproof.geometry import Polyline, wrap_angle
from driveproof.geometry.arrays import Float
from driveproof.maps import LaneKind, SignalKind, TownMap

BEHIND, AHEAD = 18.0, 75.0
"""Metres of lane behind and ahead of the ego that a place needs; the end of the town's road may come before."""
CLEAR = 42.0
"""Metres ahead without a junction on a stretch of road."""
SPACING = 14.0
"""Metres between the stretches of one lane."""
_BEND = 0.35
"""Radians that a stretch may turn within CLEAR metres."""
_TURN = (np.radians(55.0), np.radians(125.0))
BEFORE_TURN, BEFORE_LIGHT = 19.0, 19.0


class Side(StrEnum):
    """What lies beside the lane."""

    SAME = "same"
    ONCOMING = "oncoming"
    VERGE = "verge"
    PARKING = "parking"


class PlaceKind(StrEnum):
    """What a place is for."""

    ROAD = "road"
    TURN_LEFT = "turn_left"
    TURN_RIGHT = "turn_right"
    LIGHT = "light"


@dataclass(frozen=True)
class Place:
    """One place.

    Attributes
    ----------
    key
        Town and road (or junction): places with one key look alike, so they stay in one split.
    line
        The lane's centreline in the town's world, metres, from BEHIND metres behind the ego on.
    start
        Metres along ``line`` at which the ego is at t = 0.
    left, right
        What lies beside the lane there.
    half_width
        Half of the lane's width, metres.
    junction
        Metres from the ego to the junction, infinite on a stretch of road.
    signal
        Key of the traffic light that governs it, "" if none does.
    """

    kind: PlaceKind
    town: str
    key: str
    line: Polyline
    start: float
    left: Side
    right: Side
    half_width: float
    junction: float = float("inf")
    signal: str = ""

    def poses(self, s: Float, d: Float, turn: Float | float = 0.0) -> Float:
        """World poses ``[..., 3]`` at ``s`` metres from the ego along the lane, ``d`` to its left, ``turn`` off its heading."""
        arc = np.asarray(self.start + s)
        heading = self._heading(arc)
        normal = np.stack([-np.sin(heading), np.cos(heading)], axis=-1)
        beyond = np.minimum(arc, 0.0) + np.maximum(arc - self.line.length, 0.0)
        tangent = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
        point = self.line.at(arc) + beyond[..., None] * tangent + np.asarray(d)[..., None] * normal
        return np.concatenate([point, wrap_angle(heading + turn)[..., None]], axis=-1)

    def _heading(self, arc: Float) -> Float:
        """The lane's heading, from points a metre before and after: segments of a curve would step."""
        clipped = np.clip(arc, 1.0, self.line.length - 1.0)
        delta = self.line.at(clipped + 1.0) - self.line.at(clipped - 1.0)
        return np.asarray(np.arctan2(delta[..., 1], delta[..., 0]), np.float64)


def places_of(town: TownMap) -> list[Place]:
    """All places of a town, in the order of its lanes."""
    return [*_roads(town), *_turns(town), *_lights(town)]


def _side(town: TownMap, lane: int, left: bool) -> Side:
    lanes = town.lanes
    other = int((lanes.left if left else lanes.right)[lane])
    if other >= 0 and lanes.kind[other] == LaneKind.PARKING:
        return Side.PARKING
    if other < 0 or lanes.kind[other] != LaneKind.DRIVING:
        return Side.VERGE
    same = bool((lanes.left_same if left else lanes.right_same)[lane])
    return Side.SAME if same else Side.ONCOMING


def _chain(town: TownMap, lane: int, before: float, after: float) -> Polyline | None:
    """The lane with ``before`` metres of what leads to it and straight on for ``after``; None if a part is missing."""
    lanes = town.lanes
    parts, have, first = [lanes.centre[lanes.points(lane), :2]], 0.0, lane
    while have < before:
        previous = lanes.predecessors(first)
        if not len(previous):
            return None
        first = int(previous[0])
        parts.insert(0, lanes.centre[lanes.points(first), :2])
        have += float(lanes.length[first])
    have, last = 0.0, lane
    while have < after:
        onward = lanes.successors(last)
        if not len(onward):
            break
        end = lanes.heading[lanes.points(last).stop - 1]
        turns = [abs(wrap_angle(lanes.heading[lanes.points(n).stop - 1] - end)) for n in onward]
        last = int(onward[int(np.argmin(turns))])
        parts.append(lanes.centre[lanes.points(last), :2])
        have += float(lanes.length[last])
    points = np.concatenate(parts)
    keep = np.append(True, np.hypot(*np.diff(points, axis=0).T) > 0.3)
    return Polyline(points[keep])


def _cut(line: Polyline, arc: float) -> tuple[Polyline, float]:
    """The part of a line around ``arc``, and where ``arc`` lies on it."""
    low, high = max(arc - BEHIND, 0.0), min(arc + AHEAD, line.length)
    inside = (line.arc > low) & (line.arc < high)
    points = np.concatenate([line.at([low]), line.points[inside], line.at([high])])
    return Polyline(points), arc - low


def _roads(town: TownMap) -> Iterator[Place]:
    lanes = town.lanes
    fits = (lanes.kind == LaneKind.DRIVING) & ~lanes.is_junction & (lanes.length > BEHIND + CLEAR)
    for lane in np.flatnonzero(fits).tolist():
        own = lanes.polyline(lane)
        for arc in np.arange(BEHIND, own.length - CLEAR, SPACING).tolist():
            headings = np.unwrap(own.heading(np.linspace(arc - 8.0, arc + CLEAR, 12)))
            if np.ptp(headings) > _BEND:
                continue
            line, start = _cut(own, arc)
            yield _place(town, lane, PlaceKind.ROAD, line, start)


def _place(
    town: TownMap,
    lane: int,
    kind: PlaceKind,
    line: Polyline,
    start: float,
    junction: float = float("inf"),
    signal: str = "",
) -> Place:
    lanes = town.lanes
    at = f"road{lanes.road[lane]}" if np.isinf(junction) else f"approach{lanes.road[lane]}"
    middle = lanes.points(lane)
    half = float(lanes.width[(middle.start + middle.stop) // 2]) / 2.0
    left, right = _side(town, lane, True), _side(town, lane, False)
    return Place(
        kind, town.name, f"{town.name}/{at}", line, start, left, right, half, junction, signal
    )


def _approaches(town: TownMap, before: float) -> Iterator[tuple[int, int, float]]:
    """Lane into a junction, connector, and the connector's turn (left positive), where both are simple."""
    lanes = town.lanes
    for lane in np.flatnonzero((lanes.kind == LaneKind.DRIVING) & ~lanes.is_junction).tolist():
        if lanes.length[lane] < before + 2.0:
            continue
        for connector in lanes.successors(lane).tolist():
            if lanes.junction[connector] < 0 or lanes.kind[connector] != LaneKind.DRIVING:
                continue
            part = lanes.points(connector)
            turn = wrap_angle(lanes.heading[part.stop - 1] - lanes.heading[part.start])
            yield lane, connector, float(turn)


def _through(town: TownMap, lane: int, connector: int, before: float) -> tuple[Polyline, float]:
    lanes = town.lanes
    own = lanes.polyline(lane)
    onward = _chain(town, connector, 0.0, AHEAD)
    assert onward is not None  # nothing is asked for before the connector
    points = np.concatenate([own.points, onward.points])
    keep = np.append(True, np.hypot(*np.diff(points, axis=0).T) > 0.3)
    return _cut(Polyline(points[keep]), own.length - before)


def _turns(town: TownMap) -> Iterator[Place]:
    for lane, connector, turn in _approaches(town, BEFORE_TURN):
        if _TURN[0] < abs(turn) < _TURN[1]:
            line, start = _through(town, lane, connector, BEFORE_TURN)
            kind = PlaceKind.TURN_LEFT if turn > 0.0 else PlaceKind.TURN_RIGHT
            if line.length - start > 40.0:
                yield _place(town, lane, kind, line, start, BEFORE_TURN)


def _lights(town: TownMap) -> Iterator[Place]:
    governed = {
        lane: signal.key
        for signal in town.signals
        if signal.kind is SignalKind.TRAFFIC_LIGHT
        for lane in signal.lanes
    }
    seen = set()
    for lane, connector, turn in _approaches(town, BEFORE_LIGHT):
        if lane in governed and lane not in seen and abs(turn) < 0.2:
            seen.add(lane)
            line, start = _through(town, lane, connector, BEFORE_LIGHT)
            if line.length - start > 45.0:
                signal = governed[lane]
                yield _place(town, lane, PlaceKind.LIGHT, line, start, BEFORE_LIGHT, signal)
