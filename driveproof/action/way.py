"""The way that the action module drives: a dense line that direction keys bend."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from driveproof.geometry import wrap_angle
from driveproof.geometry.arrays import Float, Int
from driveproof.maps import Route
from driveproof.scene import Command

STEP_M = 0.1
"""Metres between points: ten to a metre, as in Bench2Drive-VL."""
NEAR_M = 30.0
"""The ego is looked for so far before and behind its last place on the way, metres: a way may cross itself."""


@dataclass(frozen=True)
class Way:
    """A line of points :data:`STEP_M` apart, world frame, right-handed.

    Attributes
    ----------
    points
        ``[N, 2]`` metres.
    commands
        ``[N]`` :class:`~driveproof.scene.Command` values of the navigator.
    in_junction
        ``[N]`` whether the route is inside a junction there.
    """

    points: Float
    commands: Int
    in_junction: Int

    @classmethod
    def of(cls, route: Route, junction: Int) -> Way:
        """A route of a town at this density; ``junction`` is ``LaneTable.junction``."""
        line = route.line
        s = np.arange(0.0, line.length, STEP_M)
        nearest = np.clip(np.searchsorted(line.arc, s, side="right") - 1, 0, len(line.points) - 1)
        inside = junction[route.lanes[nearest]] >= 0
        return cls(line.at(s), route.commands[nearest].astype(int), inside.astype(int))

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def headings(self) -> Float:
        """``[N]`` direction of the line at each point, radians."""
        delta = np.gradient(self.points, axis=0)
        return np.asarray(np.arctan2(delta[:, 1], delta[:, 0]), dtype=np.float64)

    def nearest(self, x: float, y: float, last: int | None = None) -> int:
        """Index of the point nearest to ``(x, y)`` (metres), within :data:`NEAR_M` of index ``last`` if given."""
        reach = round(NEAR_M / STEP_M)
        low, high = (0, len(self)) if last is None else (max(last - reach, 0), last + reach)
        part = self.points[low:high]
        return low + int(((part - (x, y)) ** 2).sum(1).argmin())

    def lateral(self, x: float, y: float, index: int) -> float:
        """Metres left of the line at ``index`` that ``(x, y)`` lies."""
        dx, dy = x - self.points[index, 0], y - self.points[index, 1]
        heading = self.headings[index]
        return float(-dx * np.sin(heading) + dy * np.cos(heading))

    def heading_error(self, heading: float, index: int) -> float:
        """Radians that ``heading`` is turned left of the line at ``index``."""
        return float(wrap_angle(heading - self.headings[index]))

    def command(self, index: int) -> Command:
        """The navigator's command at ``index``."""
        return Command(int(self.commands[index]))

    def before_junction(self, index: int) -> int:
        """The first index from ``index`` on that is inside a junction; the end if none follows."""
        ahead = np.flatnonzero(self.in_junction[index:])
        return index + int(ahead[0]) if len(ahead) else len(self)

    def before_turn(self, index: int) -> int:
        """The first index from ``index`` on that is inside a junction in which the route turns; the end if none follows."""
        turns = np.isin(self.commands[index:], (int(Command.LEFT), int(Command.RIGHT)))
        ahead = np.flatnonzero(turns & (self.in_junction[index:] > 0))
        return index + int(ahead[0]) if len(ahead) else len(self)

    def moved(self, points: Float) -> Way:
        """The same way with other points ``[N, 2]``."""
        return replace(self, points=points)


def blend(
    way: Way, target: Float, begin: int, end: int, over: int, back: Float | None = None
) -> Way:
    """Lead the points ``begin`` to ``end`` over to ``target`` ``[end - begin, 2]``, by a cosine at both ends.

    Parameters
    ----------
    over
        Points over which the way swings out, and back where it goes on behind ``end``.
    back
        ``[N, 2]`` points to which it swings back and which it has behind ``end``; None are its own.
    """
    count = end - begin
    if count <= 0:
        return way
    back = way.points if back is None else back
    k = np.arange(count)
    out = _swing(k, over)[:, None]
    points = way.points.copy()
    points[begin:end] += out * (target - points[begin:end])
    if end < len(way):
        rest = _swing(count - 1 - k, over)[:, None]
        points[begin:end] = back[begin:end] + rest * (points[begin:end] - back[begin:end])
    points[end:] = back[end:]
    return way.moved(points)


def _swing(k: Int, over: int) -> Float:
    phase = np.clip(k / max(over, 1), 0.0, 1.0)
    return np.asarray(0.5 - 0.5 * np.cos(np.pi * phase), dtype=np.float64)
