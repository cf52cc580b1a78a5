"""The path a vehicle follows: a densely sampled line with what the road says along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry import Polyline, wrap_angle
from driveproof.geometry.arrays import Bool, Float
from driveproof.scene import Command

STEP = 0.5
"""Distance of samples, m."""
TAIL = 90.0
"""Metres by which the samples run straight on beyond the end, so that a look ahead never ends early."""
CURVE_LATERAL = 2.2
"""Lateral acceleration that sets the speed in curves, m/s²."""
CURVE_BRAKE = 1.5
"""Deceleration with which curves and lower limits are approached, m/s²."""
MIN_CURVE_SPEED = 2.5

SAME_PLACE = 1.5
"""Places of a path that lie so much farther from a point than its nearest one are as good, m."""

_NUMBERS = count()


@dataclass(frozen=True)
class StopPoint:
    """A stop line on a path: ``kind`` is "light", "stop" or "yield"; ``s`` where the front bumper halts."""

    s: float
    kind: str
    signal_id: str


@dataclass(frozen=True)
class Crossing:
    """The part ``[start, end]`` of a path inside a junction, and what the route does there."""

    start: float
    end: float
    junction_id: int
    command: Command
    control: str = "none"
    """"light", "stop", "yield" or "none"."""


@dataclass(frozen=True)
class LaneChange:
    """A place where a path changes lanes, ``shift`` metres (left positive) between ``begin`` and ``end``.

    At ``limit`` the old lane ends or the way on needs the new one: who finds no gap waits there.
    """

    begin: float
    end: float
    shift: float
    limit: float


@dataclass(frozen=True, eq=False)
class Path:
    """Samples every :data:`STEP` metres.

    Attributes
    ----------
    xy, heading, curvature
        ``[N, 2]``, ``[N]``, ``[N]`` in the world frame; curvature positive to the left, 1/m.
    limit
        ``[N]`` speed limit, m/s.
    cap
        ``[N]`` speed that limit and curves allow, already lowered ahead of what comes, m/s.
    left, right
        ``[N]`` free width from the centre line to the edge of what may be driven on, m.
    left_own
        ``[N]`` the same to the left without lanes of oncoming traffic, m.
    verge
        ``[N]`` what lies beyond ``right`` and can be driven on in need (shoulder, parking or bicycle lane), m.
    in_junction
        ``[N]`` flags.
    z
        ``[N]`` height of the road, m.
    length
        Metres without the tail.
    """

    xy: Float
    heading: Float
    curvature: Float
    limit: Float
    cap: Float
    left: Float
    left_own: Float
    right: Float
    verge: Float
    in_junction: Bool
    z: Float
    length: float
    stops: tuple[StopPoint, ...] = ()
    crossings: tuple[Crossing, ...] = ()
    changes: tuple[LaneChange, ...] = ()
    number: int = field(default_factory=lambda: next(_NUMBERS))

    @classmethod
    def of(
        cls,
        points: ArrayLike,
        *,
        limit: ArrayLike = 8.33,
        left: ArrayLike = 1.75,
        left_own: ArrayLike | None = None,
        right: ArrayLike = 1.75,
        verge: ArrayLike = 0.0,
        z: ArrayLike = 0.0,
        stops: Sequence[StopPoint] = (),
        crossings: Sequence[Crossing] = (),
        changes: Sequence[LaneChange] = (),
    ) -> Path:
        """Build from points ``[M, 2]``; the other arrays are scalars or ``[M]``, one value a point.

        Raises
        ------
        ValueError
            If there are fewer than two distinct points.
        """
        points = np.asarray(points, dtype=np.float64)
        line = Polyline(points)
        s = np.arange(0.0, line.length + STEP / 2, STEP)
        source = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])

        def along(values: ArrayLike) -> Float:
            sampled = np.interp(s, source, np.broadcast_to(np.asarray(values, float), source.shape))
            return np.append(sampled, np.full(tail, sampled[-1]))

        tail = int(TAIL / STEP)
        xy = line.at(s)
        end = xy[-1] - xy[-2]
        end = end / np.hypot(*end) * STEP
        xy = np.concatenate([xy, xy[-1] + end * np.arange(1, tail + 1)[:, None]])
        heading, curvature = _shape(xy)
        limits = along(limit)
        inside = np.zeros(len(xy), dtype=bool)
        for crossing in crossings:
            inside[int(crossing.start / STEP) : int(crossing.end / STEP) + 1] = True
        lefts = along(left)
        return cls(
            xy=xy,
            heading=heading,
            curvature=curvature,
            limit=limits,
            cap=_speed_cap(curvature, limits),
            left=lefts,
            left_own=lefts if left_own is None else along(left_own),
            right=along(right),
            verge=along(verge),
            in_junction=inside,
            z=along(z),
            length=float(line.length),
            stops=tuple(sorted(stops, key=lambda stop: stop.s)),
            crossings=tuple(sorted(crossings, key=lambda crossing: crossing.start)),
            changes=tuple(sorted(changes, key=lambda change: change.begin)),
        )

    def index(self, s: float) -> int:
        """Index of the sample at or before arc length ``s``, within bounds."""
        return min(max(int(s / STEP), 0), len(self.xy) - 2)

    def point(self, s: float, offset: float = 0.0) -> tuple[float, float]:
        """World point at arc length ``s``, ``offset`` metres to the left."""
        i = self.index(s)
        t = min(max(s / STEP - i, 0.0), 1.0)
        (x0, y0), (x1, y1) = self.xy[i].tolist(), self.xy[i + 1].tolist()
        x, y = x0 + t * (x1 - x0), y0 + t * (y1 - y0)
        if offset:
            scale = offset / STEP
            x, y = x - (y1 - y0) * scale, y + (x1 - x0) * scale
        return x, y

    def pose(self, s: float, offset: float = 0.0) -> Float:
        """World pose ``[3]`` at arc length ``s``, ``offset`` metres to the left."""
        return np.array([*self.point(s, offset), self.heading[self.index(s)]])

    def locate(self, x: float, y: float, heading: float) -> float:
        """Arc length of the first place near a world pose that runs along it; a path may pass a point twice."""
        distance = np.hypot(*(self.xy - (x, y)).T)
        along = np.cos(self.heading - heading) > 0.3
        fits = (distance < distance.min() + SAME_PLACE) & along
        first = int(fits.argmax()) if fits.any() else int(distance.argmin())
        last = first + int(np.argmin(np.append(fits[first:], False)))
        nearest = first + int(distance[first : max(last, first + 1)].argmin())
        return self.project(x, y, near=nearest * STEP, around=2.0)

    def project(self, x: float, y: float, near: float | None = None, around: float = 10.0) -> float:
        """Arc length of the sample line nearest to a world point, searched ``around`` metres about ``near`` if given."""
        low, high = 0, len(self.xy)
        if near is not None:
            low, high = self.index(near - around), self.index(near + around) + 2
        relative = self.xy[low:high] - (x, y)
        i = low + int((relative**2).sum(-1).argmin())
        dx, dy = x - self.xy[i, 0], y - self.xy[i, 1]
        along = dx * np.cos(self.heading[i]) + dy * np.sin(self.heading[i])
        return float(i * STEP + np.clip(along, -STEP, STEP))


def _shape(xy: Float) -> tuple[Float, Float]:
    """Heading and curvature of samples, both smoothed over about three metres."""
    step = np.diff(xy, axis=0)
    raw = np.unwrap(np.arctan2(step[:, 1], step[:, 0]))
    raw = np.append(raw, raw[-1])
    kernel = np.ones(5) / 5
    smooth = np.convolve(np.pad(raw, 2, mode="edge"), kernel, mode="valid")
    curvature = np.gradient(smooth, STEP)
    return wrap_angle(raw), np.asarray(curvature, dtype=np.float64)


def _speed_cap(curvature: Float, limit: Float) -> Float:
    cap = np.sqrt(CURVE_LATERAL / np.maximum(np.abs(curvature), 1e-4))
    cap = np.minimum(np.maximum(cap, MIN_CURVE_SPEED), limit)
    # what comes later counts earlier: v(s)² <= v(s')² + 2 b (s' - s), a running minimum from the end
    position = np.arange(len(cap)) * STEP * 2.0 * CURVE_BRAKE
    squared = np.minimum.accumulate((cap**2 + position)[::-1])[::-1] - position
    return np.asarray(np.sqrt(squared), dtype=np.float64)
