"""Places of a town where scenarios can be staged: straight runs and ways through junctions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.maps import LaneKind, Route, TownMap
from driveproof.scene import Command
from driveproof.sim.drivers import Crossing, Maneuver, Path, Roads
from driveproof.sim.routes import route_along

TRIES = 80
MIN_LANE = 15.0
SETTLE = 25.0
"""Metres behind the ego's start without a junction."""
CONFLICT_M = 1.0
"""Centre lines closer than this cross or join."""


class NoPlace(Exception):
    """The town has no suitable place, or the place drawn does not fit."""


@dataclass(frozen=True)
class Conflict:
    """A way through a junction that crosses or joins the ego's.

    Attributes
    ----------
    path
        The other way, from far before the junction to behind it.
    s, ego_s
        Where the two first meet: metres along the other way and along the ego's.
    start
        Where the other way enters the junction.
    side
        From where the other comes, seen by the ego: "left", "right" or "oncoming".
    command
        What the other does.
    joins
        Whether it leaves by the same lane as the ego.
    """

    path: Path
    s: float
    ego_s: float
    start: float
    side: str
    command: Command
    joins: bool


@dataclass
class Places:
    """Draws places of a town.

    Attributes
    ----------
    roads, rng
        The town, and the source of all choices.
    """

    roads: Roads
    rng: np.random.Generator

    @property
    def town(self) -> TownMap:
        """The map."""
        return self.roads.town

    def uniform(self, low: float, high: float) -> float:
        """A number between ``low`` and ``high``."""
        return float(self.rng.uniform(low, high))

    def run(
        self,
        length: float,
        after: float = 60.0,
        fits: Callable[[Path, float], bool] = lambda path, s: True,
        curvature: float = 0.01,
    ) -> Route:
        """A way of ``length`` metres without junction, and ``after`` metres beyond.

        ``fits(path, s)`` may refuse the run that begins at ``s`` of a path.

        Raises
        ------
        NoPlace
            If none was found in :data:`TRIES` draws.
        """
        lanes = self.town.lanes
        outside = ~lanes.is_junction & (lanes.kind == LaneKind.DRIVING) & (lanes.length > MIN_LANE)
        starts = np.flatnonzero(outside)
        weight = lanes.length[starts] / lanes.length[starts].sum()
        for _ in range(TRIES):
            first = int(self.rng.choice(starts, p=weight))
            ways = self._along(first, length + after + lanes.length[first])
            path = self.roads.path(ways)
            s = self.uniform(0.0, max(float(lanes.length[first]) - MIN_LANE, 1.0))
            if path.length < s + length + 20.0:
                continue
            part = slice(path.index(s), path.index(s + length))
            if path.in_junction[part].any() or np.abs(path.curvature[part]).max() > curvature:
                continue
            if any(s < stop.s < s + length + after for stop in path.stops):
                continue
            if fits(path, s):
                return self._route(ways, s, s + length + after)
        raise NoPlace("no straight run")

    def junction(
        self,
        before: float,
        after: float = 45.0,
        controls: Collection[str] = (),
        commands: Collection[Command] = (),
        fits: Callable[[Path, float, Maneuver], bool] = lambda path, s, maneuver: True,
    ) -> Route:
        """A way through a junction that starts ``before`` metres ahead of it and ends ``after`` metres behind it.

        ``controls`` ("light", "stop", "yield", "none") and ``commands`` limit the choice (empty: any), and
        ``fits(path, s, maneuver)``, with the junction at ``s`` of the path, may refuse.

        Raises
        ------
        NoPlace
            If no junction fits.
        """
        fitting = [
            m
            for m in self.roads.maneuvers
            if (not controls or m.control in controls) and (not commands or m.command in commands)
        ]
        for index in self.rng.permutation(len(fitting))[:TRIES].tolist():
            maneuver = fitting[index]
            back = self.roads.walk_back(maneuver.entry, before + SETTLE, self._choose)
            onward = self._along(maneuver.inner[-1], after + 60.0)
            ways = [*back, maneuver.entry, *maneuver.inner, *onward[1:]]
            path = self.roads.path(ways)
            lengths = self.town.lanes.length
            junction = float(lengths[[*back, maneuver.entry]].sum())
            s = junction - before
            if s < 0.0 or path.in_junction[path.index(s - 5.0) : path.index(junction - 1.0)].any():
                continue
            end = crossing_at(path, junction).end + after
            kinds = {stop.kind for stop in path.stops if s < stop.s < end}
            if controls and not kinds <= set(controls):
                continue  # another sign on the way would be another scenario
            if path.length > end and fits(path, junction, maneuver):
                return self._route(ways, s, end)
        raise NoPlace("no such junction")

    def _choose(self, options: list[int]) -> int:
        return int(self.rng.choice(options))

    def _along(self, lane: int, length: float) -> list[int]:
        return self.roads.walk(lane, length, self.roads.straightest)

    def _route(self, lanes: list[int], start: float, end: float) -> Route:
        """The part of a way from ``start`` to ``end``, in metres along it."""
        edges = np.concatenate([[0.0], np.cumsum(self.town.lanes.length[lanes])])
        first = int(np.searchsorted(edges, start, side="right")) - 1
        last = min(int(np.searchsorted(edges, end, side="left")) - 1, len(lanes) - 1)
        part = lanes[first : last + 1]
        return route_along(self.town, part, start - float(edges[first]), end - float(edges[last]))


def conflicts(roads: Roads, path: Path, start: float, end: float, junction: int) -> list[Conflict]:
    """The ways through a junction that meet the ego's way ``path`` between ``start`` and ``end`` metres."""
    found = []
    entry = roads.town.nearest_lane(path.point(start - 1.0), path.heading[path.index(start - 1.0)])
    own = path.xy[path.index(start) : path.index(end + 2.0)]
    course = float(path.heading[path.index(start - 1.0)])
    for maneuver in roads.maneuvers:
        if maneuver.junction_id != junction or maneuver.entry == int(entry.lane[0]):
            continue
        back = roads.walk_back(maneuver.entry, 160.0, roads.straightest)
        ahead = roads.walk(maneuver.inner[-1], 80.0, roads.straightest)
        other = roads.path([*back, maneuver.entry, *maneuver.inner, *ahead[1:]])
        lengths = roads.town.lanes.length
        begin = float(lengths[[*back, maneuver.entry]].sum())
        leave = crossing_at(other, begin).end
        meeting = _first_meeting(other, begin, leave, own)
        if meeting is None:
            continue
        s, index = meeting
        turned = float(other.heading[other.index(begin - 1.0)]) - course
        side = _side(turned)
        if side is not None:
            gap = np.hypot(*(other.xy[other.index(leave)] - own[-1]))
            joins = bool(gap < 6.0 and _alongside(other, leave, path, end))
            ego_s = (path.index(start) + index) * 0.5
            found.append(Conflict(other, s, ego_s, begin, side, maneuver.command, joins))
    return found


def crossing_at(path: Path, s: float) -> Crossing:
    """The junction that a path enters at ``s``, or the next one; NoPlace if there is none."""
    for crossing in path.crossings:
        if crossing.end > s:
            return crossing
    raise NoPlace("no junction ahead")


def _first_meeting(other: Path, begin: float, end: float, own: Float) -> tuple[float, int] | None:
    samples = other.xy[other.index(begin) : other.index(end + 2.0)]
    distance = np.hypot(*(samples[:, None] - own[None]).transpose(2, 0, 1))
    close = np.argwhere(distance < CONFLICT_M)
    if len(close) == 0:
        return None
    row = int(close[0, 0])
    return (other.index(begin) + row) * 0.5, int(distance[row].argmin())


def meeting(path: Path, after: float, other: Path) -> Conflict:
    """Where another way first meets the ego's beyond ``after``; NoPlace if it does not."""
    own = path.xy[path.index(after) : path.index(path.length) + 1]
    found = _first_meeting(other, 0.0, other.length, own)
    if found is None:
        raise NoPlace("the flow of the route file does not meet the ego's way")
    s, index = found
    ego_s = (path.index(after) + index) * 0.5
    start = next((c.start for c in other.crossings if c.end > s), s)
    turned = float(other.heading[other.index(min(start, s) - 1.0)])
    side = _side(turned - float(path.heading[path.index(after - 1.0)])) or "left"
    joins = _alongside(other, s + 5.0, path, ego_s + 5.0)
    return Conflict(other, s, ego_s, min(start, s), side, Command.FOLLOW, joins)


def _alongside(other: Path, s: float, path: Path, ego_s: float) -> bool:
    turned = float(other.heading[other.index(s)]) - float(path.heading[path.index(ego_s)])
    return bool(np.cos(turned) > 0.8)


def _side(turned: float) -> str | None:
    """From where one comes whose course differs by ``turned`` radians."""
    if np.cos(turned) < -0.7:
        return "oncoming"
    if np.cos(turned) > 0.7:
        return None
    return "right" if np.sin(turned) > 0.0 else "left"


def sides_of(found: list[Conflict], side: str, *commands: Command) -> Iterator[Conflict]:
    """Those that come from a side and do one of ``commands`` (none: anything)."""
    for conflict in found:
        if conflict.side == side and (not commands or conflict.command in commands):
            yield conflict
