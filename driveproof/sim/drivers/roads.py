"""A town as drivers use it: paths along lanes and routes, with speed limits, stop lines, junctions and free width."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from driveproof.geometry import Polyline, wrap_angle
from driveproof.geometry.arrays import Float
from driveproof.maps import LaneKind, MapSignal, Route, SignalKind, TownMap
from driveproof.scene import Command
from driveproof.sim.drivers.path import Crossing, LaneChange, Path, StopPoint

TURN_RAD = 0.35
"""Net change of heading in a junction from which a way counts as a turn."""
DEFAULT_LIMIT = 30.0 / 3.6
"""Speed limit where the town names none, m/s."""
TOP_SPEED = 15.0
"""Traffic does not want to drive faster, m/s: it keeps braking distances within sight."""
ROUTE_TOP_SPEED = 20.0
"""Nor does who follows a route, m/s."""
LINE_REACH = 2.2
"""A stop line concerns a route that passes its middle within this distance, m."""
NEIGHBOURS = 3
"""Lanes beside the own one that are looked at on each side."""
CHANGE_HALF, CHANGE_LONGEST, CHANGE_TIME = 14.0, 30.0, 1.4
"""Half the length over which a route's lane change is driven: at least and at most (m), and in seconds."""
KEEP_LANE = 200.0
"""Metres that are looked along the old lane of a change for its end."""
BEFORE_JUNCTION = 12.0
"""Metres before a junction at which a lane change has to be over."""
OFF_ROAD = 3.0
"""Farther from the nearest lane's centre than this, a vehicle is on no lane, m."""
ACROSS = 0.9
"""Turned further than this from the nearest lane, a vehicle does not follow it, rad."""
_DRIVABLE = (int(LaneKind.DRIVING), int(LaneKind.BIDIRECTIONAL))
_VERGE = (int(LaneKind.SHOULDER), int(LaneKind.PARKING), int(LaneKind.BIKING), int(LaneKind.STOP))
_CONTROL = {SignalKind.TRAFFIC_LIGHT: "light", SignalKind.STOP: "stop", SignalKind.YIELD: "yield"}


@dataclass(frozen=True)
class Maneuver:
    """A way through a junction: from lane ``entry`` over the junction lanes ``inner``."""

    entry: int
    inner: tuple[int, ...]
    command: Command
    control: str
    junction_id: int


class Room(NamedTuple):
    """Width beside a lane, m: lanes to the left, those of the own direction, to the right, and the verge."""

    left: float
    left_own: float
    right: float
    verge: float


@dataclass
class Roads:
    """Paths on a town's lanes.

    Attributes
    ----------
    town
        The map.
    maneuvers
        All ways through all junctions.
    """

    town: TownMap
    maneuvers: tuple[Maneuver, ...] = ()
    _signals: dict[int, list[tuple[float, MapSignal]]] = field(default_factory=dict)
    _rooms: dict[int, Room] = field(default_factory=dict)
    _paths: dict[tuple[int, ...], Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        by_lane: dict[int, list[tuple[float, MapSignal]]] = defaultdict(list)
        for signal in self.town.signals:
            if signal.kind in _CONTROL:
                for lane, arc in zip(signal.lanes, signal.stop_arcs.tolist(), strict=True):
                    by_lane[lane].append((float(arc), signal))
        self._signals = dict(by_lane)
        self.maneuvers = tuple(self._find_maneuvers())

    def drivable(self, lane: int) -> bool:
        """Whether cars drive on the lane."""
        return lane >= 0 and int(self.town.lanes.kind[lane]) in _DRIVABLE

    def control(self, lane: int) -> tuple[str, MapSignal | None]:
        """What rules the end of a lane: "light", "stop", "yield" or "none", and its signal."""
        found = self._signals.get(lane, ())
        for kind in (SignalKind.TRAFFIC_LIGHT, SignalKind.STOP, SignalKind.YIELD):
            for _, signal in found:
                if signal.kind is kind:
                    return _CONTROL[kind], signal
        return "none", None

    def successors(self, lane: int) -> list[int]:
        """Drivable lanes that continue this one."""
        return [i for i in self.town.lanes.successors(lane).tolist() if self.drivable(i)]

    def predecessors(self, lane: int) -> list[int]:
        """Drivable lanes that this one continues."""
        return [i for i in self.town.lanes.predecessors(lane).tolist() if self.drivable(i)]

    def turn(self, lanes: Sequence[int]) -> float:
        """Net change of heading (rad, left positive) along consecutive lanes."""
        table = self.town.lanes
        heading = np.concatenate([table.heading[table.points(lane)] for lane in lanes])
        return float(wrap_angle(np.diff(heading)).sum())

    def straightest(self, options: Sequence[int]) -> int:
        """The lane among ``options`` that turns least."""
        return min(options, key=lambda lane: (abs(self.turn([lane])), lane))

    def walk(self, start: int, length: float, choose: Callable[[list[int]], int]) -> list[int]:
        """Consecutive lanes from ``start`` for at least ``length`` metres, or to the end of the road."""
        lanes, total = [start], float(self.town.lanes.length[start])
        while total < length:
            options = self.successors(lanes[-1])
            if not options:
                break
            lanes.append(options[0] if len(options) == 1 else choose(options))
            total += float(self.town.lanes.length[lanes[-1]])
        return lanes

    def walk_back(self, start: int, length: float, choose: Callable[[list[int]], int]) -> list[int]:
        """Consecutive lanes that lead into ``start``, at least ``length`` metres, without ``start``."""
        lanes: list[int] = []
        total, lane = 0.0, start
        while total < length:
            options = self.predecessors(lane)
            if not options:
                break
            lane = options[0] if len(options) == 1 else choose(options)
            lanes.insert(0, lane)
            total += float(self.town.lanes.length[lane])
        return lanes

    def path(self, lanes: Sequence[int]) -> Path:
        """The path along consecutive lanes."""
        key = tuple(lanes)
        if key not in self._paths:
            self._paths[key] = self._lane_path(key)
        return self._paths[key]

    def route_path(self, route: Route, top_speed: float = ROUTE_TOP_SPEED) -> Path:
        """The path along a route, lane changes included."""
        owner = [int(lane) for lane in route.lanes]
        windows = self._change_windows(route, top_speed)
        line = self._with_smooth_changes(route, windows)
        arc = line.arc
        runs = _runs(owner)
        starts = np.array([arc[a] for a, _ in runs] + [arc[-1]])
        lanes = [owner[a] for a, _ in runs]
        limit = np.clip(np.nan_to_num(route.speed_limit, nan=DEFAULT_LIMIT), 4.0, top_speed)
        crossings = self._crossings(lanes, starts)
        table = self.town.lanes
        half = {lane: float(table.width[table.points(lane)].mean()) / 2.0 for lane in set(lanes)}
        rooms = [self._room(lane) for lane in owner]
        width = np.array([half[lane] for lane in owner])
        return Path.of(
            line.points,
            limit=limit,
            left=width + [room.left for room in rooms],
            left_own=width + [room.left_own for room in rooms],
            right=width + [room.right for room in rooms],
            verge=[room.verge for room in rooms],
            z=route.z,
            stops=_without_twins(self._route_stops(line, owner, runs)),
            crossings=crossings,
            changes=self._changes(lanes, starts, crossings, list(windows.values())),
        )

    def ahead(self, x: float, y: float, heading: float, length: float = 100.0) -> tuple[Path, bool]:
        """The path that the lanes suggest to a vehicle at a pose, and whether it is on a lane at all.

        At forks it goes as straight as possible. Off all lanes, or across them, it is a straight line.
        """
        match = self.town.nearest_lane(np.array([x, y]), np.array([heading]))
        off = abs(float(match.lateral[0])) > OFF_ROAD or float(match.distance[0]) > OFF_ROAD
        if off or abs(float(match.heading_error[0])) > ACROSS:
            c, s = math.cos(heading), math.sin(heading)
            ends = [[x - 5.0 * c, y - 5.0 * s], [x + length * c, y + length * s]]
            return Path.of(ends, limit=TOP_SPEED), False
        lane, arc = int(match.lane[0]), float(match.arc[0])
        lanes = self.walk(lane, arc + length, self.straightest)
        back = self.walk_back(lane, 8.0 - arc, self.straightest) if arc < 8.0 else []
        return self.path([*back, *lanes]), True

    def _lane_path(self, lanes: Sequence[int]) -> Path:
        table = self.town.lanes
        starts = np.concatenate([[0.0], np.cumsum(table.length[list(lanes)])])
        parts = [table.points(lane) for lane in lanes]
        index = np.concatenate([np.arange(part.start, part.stop) for part in parts])
        owner = np.repeat(np.asarray(lanes), [part.stop - part.start for part in parts])
        limit = np.nan_to_num(table.speed_limit[owner], nan=DEFAULT_LIMIT)
        rooms = np.array([self._room(lane) for lane in owner.tolist()])
        half = table.width[index] / 2.0
        stops = []
        for number, lane in enumerate(lanes):
            for arc, signal in self._signals.get(lane, ()):
                kind = _CONTROL[signal.kind]
                stops.append(StopPoint(float(starts[number]) + arc, kind, signal.key))
        return Path.of(
            table.centre[index, :2],
            limit=np.clip(limit, 4.0, TOP_SPEED),
            left=half + rooms[:, 0],
            left_own=half + rooms[:, 1],
            right=half + rooms[:, 2],
            verge=rooms[:, 3],
            z=table.centre[index, 2],
            stops=_without_twins(stops),
            crossings=self._crossings(lanes, starts),
        )

    def _change_windows(self, route: Route, top_speed: float) -> dict[int, float]:
        """First point of every new lane that lies beside the old one, and half the metres of that change."""
        lanes, arc = np.asarray(route.lanes), route.line.arc
        edges = [
            i
            for i in (np.flatnonzero(np.diff(lanes)) + 1).tolist()
            if self._beside_each_other(int(lanes[i - 1]), int(lanes[i]))
        ]
        windows = {}
        for number, i in enumerate(edges):
            speed = min(float(np.nan_to_num(route.speed_limit[i], nan=DEFAULT_LIMIT)), top_speed)
            half = min(max(CHANGE_TIME * speed, CHANGE_HALF), CHANGE_LONGEST)
            beside = [arc[j] for j in edges[max(number - 1, 0) : number + 2] if j != i]
            rooms = [abs(float(other - arc[i])) / 2.0 for other in beside]
            windows[i] = max(min([half, *rooms]), 5.0)
        return windows

    def _with_smooth_changes(self, route: Route, windows: dict[int, float]) -> Polyline:
        """The line of a route, with lane changes as cubic Hermite curves over their windows.

        Routes from files may jump from lane to lane, or even step back where they do.
        """
        points, arc = np.array(route.line.points), route.line.arc
        for i, half in windows.items():
            a = max(int(np.searchsorted(arc, arc[i] - half)), 1)
            b = min(int(np.searchsorted(arc, arc[i] + half)), len(points) - 2)
            if b - a >= 3:
                points[a : b + 1] = hermite(points, a, b)
        return Polyline(points)

    def _beside_each_other(self, lane: int, other: int) -> bool:
        table = self.town.lanes
        return other in (table.left[lane], table.right[lane]) and other not in self.successors(lane)

    def _route_stops(
        self, line: Polyline, owner: Sequence[int], runs: Sequence[tuple[int, int]]
    ) -> list[StopPoint]:
        stops, table = [], self.town.lanes
        for a, b in runs:
            lane = owner[a]
            for arc, signal in self._signals.get(lane, ()):
                part = table.points(lane)
                middle = [np.interp(arc, table.arc[part], table.centre[part, k]) for k in (0, 1)]
                near = np.hypot(*(line.points[a:b] - middle).T)
                if near.min() < LINE_REACH:
                    s = float(line.arc[a:b][near.argmin()])
                    stops.append(StopPoint(s, _CONTROL[signal.kind], signal.key))
        return stops

    def _changes(
        self,
        lanes: Sequence[int],
        starts: Float,
        crossings: Sequence[Crossing],
        halves: Sequence[float],
    ) -> list[LaneChange]:
        table, changes = self.town.lanes, []
        half = iter(halves)
        for number, (before, after) in enumerate(itertools.pairwise(lanes)):
            middle = float(starts[number + 1])
            if not self._beside_each_other(before, after):
                continue
            side = 1.0 if table.left[before] == after else -1.0
            widths = [float(table.width[table.points(lane)].mean()) for lane in (before, after)]
            limit = middle + self._lane_left(before, middle - float(starts[number]))
            ahead = [c.start - BEFORE_JUNCTION for c in crossings if c.start > middle]
            room = next(half)
            begin, end = middle - room, middle + room
            limit = max(min([limit, *ahead]), end)
            changes.append(LaneChange(begin, end, side * sum(widths) / 2.0, limit))
        return changes

    def _lane_left(self, lane: int, gone: float) -> float:
        """Metres that a lane and its plain continuations still go on, ``gone`` metres after a route took it."""
        table = self.town.lanes
        left = max(float(table.length[lane]) - gone, 0.0) if gone < table.length[lane] else 0.0
        while left < KEEP_LANE:
            options = self.successors(lane)
            if len(options) != 1 or table.junction[options[0]] >= 0:
                return left
            lane = options[0]
            left += float(table.length[lane])
        return left

    def _crossings(self, lanes: Sequence[int], starts: Float) -> list[Crossing]:
        table, found = self.town.lanes, []
        first = 0
        while first < len(lanes):
            junction = int(table.junction[lanes[first]])
            last = first
            while last + 1 < len(lanes) and int(table.junction[lanes[last + 1]]) == junction:
                last += 1
            if junction >= 0:
                entry = lanes[first - 1] if first else -1
                found.append(
                    Crossing(
                        float(starts[first]),
                        float(starts[last + 1]),
                        junction,
                        self._command(entry, lanes[first : last + 1]),
                        self.control(entry)[0] if entry >= 0 else "none",
                    )
                )
            first = last + 1
        return found

    def _command(self, entry: int, inner: Sequence[int]) -> Command:
        turned = self.turn(inner)
        if abs(turned) >= TURN_RAD:
            return Command.LEFT if turned > 0.0 else Command.RIGHT
        choice = entry >= 0 and len(self.successors(entry)) > 1
        return Command.STRAIGHT if choice else Command.FOLLOW

    def _find_maneuvers(self) -> list[Maneuver]:
        table, found = self.town.lanes, []
        for entry in table.of_kind(LaneKind.DRIVING, LaneKind.BIDIRECTIONAL).tolist():
            if table.junction[entry] >= 0:
                continue
            for inner in self.successors(entry):
                junction = int(table.junction[inner])
                if junction >= 0:
                    command = self._command(entry, [inner])
                    found.append(
                        Maneuver(entry, (inner,), command, self.control(entry)[0], junction)
                    )
        return found

    def _room(self, lane: int) -> Room:
        """Free width beside a lane, from its border outwards."""
        if lane not in self._rooms:
            left, left_own, _ = self._beside(lane, +1)
            _, right, verge = self._beside(lane, -1)
            self._rooms[lane] = Room(left, left_own, right, verge)
        return self._rooms[lane]

    def _beside(self, lane: int, side: int) -> tuple[float, float, float]:
        """Widths on a side: all lanes of cars, those of the own direction, and the verge beyond those, m."""
        table = self.town.lanes
        everything = own = verge = 0.0
        same, here = True, lane
        for _ in range(NEIGHBOURS):
            toward_left = (side > 0) == same  # beyond the middle of the road left and right swap
            beside = int((table.left if toward_left else table.right)[here])
            if beside < 0:
                break
            width = float(table.width[table.points(beside)].min())
            if not self.drivable(beside):
                is_verge = int(table.kind[beside]) in _VERGE
                verge = width if is_verge and same else 0.0
                break
            alike = bool((table.left_same if toward_left else table.right_same)[here])
            same = same if alike else not same
            everything += width
            own += width if same else 0.0
            here = beside
        return everything, own, verge


def _runs(owner: Sequence[int]) -> list[tuple[int, int]]:
    edges = [0, *(np.flatnonzero(np.diff(owner)) + 1).tolist(), len(owner)]
    return list(itertools.pairwise(edges))


def hermite(points: Float, a: int, b: int) -> Float:
    """Points ``[b - a + 1, 2]`` of the cubic from ``points[a]`` to ``points[b]`` that leaves and arrives as the line does."""
    start, end = points[a], points[b]
    chord = float(np.hypot(*(end - start)))
    before, after = points[a] - points[a - 1], points[b + 1] - points[b]
    leave = before / max(float(np.hypot(*before)), 1e-9) * chord
    arrive = after / max(float(np.hypot(*after)), 1e-9) * chord
    t = np.linspace(0.0, 1.0, b - a + 1)[:, None]
    return np.asarray(
        (2 * t**3 - 3 * t**2 + 1) * start
        + (t**3 - 2 * t**2 + t) * leave
        + (3 * t**2 - 2 * t**3) * end
        + (t**3 - t**2) * arrive
    )


def _without_twins(stops: Sequence[StopPoint]) -> list[StopPoint]:
    """One stop point a line: lights win over signs that stand at the same line."""
    order = {"light": 0, "stop": 1, "yield": 2}
    kept: list[StopPoint] = []
    for stop in sorted(stops, key=lambda p: (order[p.kind], p.s)):
        if stop.kind == "light" or all(abs(stop.s - other.s) > 8.0 for other in kept):
            kept.append(stop)
    return kept
