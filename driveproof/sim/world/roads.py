"""A town as drivers use it: paths along lanes with speed limits, stop lines, junctions and free width."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from driveproof.geometry import wrap_angle
from driveproof.geometry.arrays import Float
from driveproof.maps import LaneKind, MapSignal, SignalKind, TownMap
from driveproof.scene import Command
from driveproof.sim.world.lights import LightCycle
from driveproof.sim.world.path import Crossing, Path, StopPoint

TURN_RAD = 0.35
"""Net change of heading in a junction from which a way counts as a turn."""
DEFAULT_LIMIT = 30.0 / 3.6
"""Speed limit where the town names none, m/s."""
TOP_SPEED = 15.0
"""Nobody wants to drive faster, m/s: it keeps braking distances within sight."""
PHASE_RAD = math.radians(35.0)
_DRIVABLE = (int(LaneKind.DRIVING), int(LaneKind.BIDIRECTIONAL))
_CONTROL = {SignalKind.TRAFFIC_LIGHT: "light", SignalKind.STOP: "stop", SignalKind.YIELD: "yield"}


@dataclass(frozen=True)
class Maneuver:
    """A way through a junction: from lane ``entry`` over the junction lanes ``inner``."""

    entry: int
    inner: tuple[int, ...]
    command: Command
    control: str
    junction_id: int


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
        table = self.town.lanes
        starts = np.concatenate([[0.0], np.cumsum(table.length[list(lanes)])])
        parts = [table.points(lane) for lane in lanes]
        index = np.concatenate([np.arange(part.start, part.stop) for part in parts])
        owner = np.repeat(np.asarray(lanes), [part.stop - part.start for part in parts])
        limit = np.nan_to_num(table.speed_limit[owner], nan=DEFAULT_LIMIT)
        left, left_own, right = self._rooms(owner, table.width[index])
        stops = []
        for number, lane in enumerate(lanes):
            for arc, signal in self._signals.get(lane, ()):
                kind = _CONTROL[signal.kind]
                stops.append(StopPoint(float(starts[number]) + arc, kind, signal.key))
        return Path.of(
            table.centre[index, :2],
            limit=np.clip(limit, 4.0, TOP_SPEED),
            left=left,
            left_own=left_own,
            right=right,
            z=table.centre[index, 2],
            stops=_without_twins(stops),
            crossings=self._crossings(lanes, starts),
        )

    def light_cycles(self, rng: np.random.Generator) -> dict[int, LightCycle]:
        """A cycle for the lights of every junction: opposite approaches are green together."""
        guards: dict[int, list[MapSignal]] = defaultdict(list)
        for signal in self.town.signals:
            if signal.kind is SignalKind.TRAFFIC_LIGHT and signal.lanes:
                guards[signal.junction].append(signal)
        cycles = {}
        for junction in sorted(guards):
            green = float(rng.uniform(7.0, 12.0))
            cycle = LightCycle(self._phases(guards[junction]), green=green)
            cycle.offset = float(rng.uniform(0.0, cycle.period))
            cycles[junction] = cycle
        return cycles

    def _phases(self, signals: Sequence[MapSignal]) -> tuple[tuple[str, ...], ...]:
        groups: list[tuple[float, list[str]]] = []
        table = self.town.lanes
        for signal in signals:
            course = float(table.heading[table.points(signal.lanes[0])][-1])
            for axis, members in groups:
                if abs(math.remainder(course - axis, math.pi)) < PHASE_RAD:
                    members.append(signal.key)
                    break
            else:
                groups.append((course, [signal.key]))
        return tuple(tuple(members) for _, members in groups)

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

    def _rooms(
        self, owner: np.ndarray[tuple[int, ...], np.dtype[np.int64]], width: Float
    ) -> tuple[Float, Float, Float]:
        """Free width from the centre: left with oncoming lane, left without, right; each per point."""
        table = self.town.lanes
        mean: dict[int, float] = {}

        def lane_width(lane: int) -> float:
            if lane not in mean:
                mean[lane] = float(table.width[table.points(lane)].min())
            return mean[lane]

        extra: dict[int, tuple[float, float, float]] = {}
        for lane in dict.fromkeys(owner.tolist()):
            left, right = int(table.left[lane]), int(table.right[lane])
            same = bool(table.left_same[lane])
            any_left = lane_width(left) if self.drivable(left) else 0.0
            own_right = self.drivable(right) and bool(table.right_same[lane])
            extra[lane] = (
                any_left,
                any_left if same else 0.0,
                lane_width(right) if own_right else 0.0,
            )
        rows = np.array([extra[lane] for lane in owner.tolist()])
        half = width / 2.0
        return half + rows[:, 0], half + rows[:, 1], half + rows[:, 2]


def _without_twins(stops: Sequence[StopPoint]) -> list[StopPoint]:
    """One stop point a line: lights win over signs that stand at the same line."""
    order = {"light": 0, "stop": 1, "yield": 2}
    kept: list[StopPoint] = []
    for stop in sorted(stops, key=lambda p: (order[p.kind], p.s)):
        if stop.kind == "light" or all(abs(stop.s - other.s) > 8.0 for other in kept):
            kept.append(stop)
    return kept
