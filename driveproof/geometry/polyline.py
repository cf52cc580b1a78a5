"""A polyline with arc length: the shape of lanes and routes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Float, as_float


@dataclass(frozen=True)
class Polyline:
    """Points ``[N, 2]`` in metres, N >= 2; repeated points are dropped.

    Raises
    ------
    ValueError
        If fewer than two distinct points remain or a coordinate is not finite.
    """

    points: Float
    arc: Float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        points = as_float(self.points, (None, 2), "Polyline.points")
        if not np.isfinite(points).all():
            raise ValueError("Polyline.points: not finite")
        keep = np.ones(len(points), dtype=bool)
        keep[1:] = np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-9
        points = points[keep]
        if len(points) < 2:
            raise ValueError("Polyline.points: fewer than two distinct points")
        object.__setattr__(self, "points", points)
        steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
        object.__setattr__(self, "arc", np.concatenate([[0.0], np.cumsum(steps)]))

    @property
    def length(self) -> float:
        """Total length in metres."""
        return float(self.arc[-1])

    def at(self, s: ArrayLike) -> Float:
        """Points ``[..., 2]`` at arc lengths ``s``, clamped to the ends."""
        s = np.asarray(s, dtype=np.float64)
        return np.stack([np.interp(s, self.arc, self.points[:, k]) for k in (0, 1)], axis=-1)

    def heading(self, s: ArrayLike) -> Float:
        """Heading of the segment under arc length ``s``, radians."""
        index = np.clip(np.searchsorted(self.arc, s, side="right") - 1, 0, len(self.points) - 2)
        delta = self.points[index + 1] - self.points[index]
        return np.asarray(np.arctan2(delta[..., 1], delta[..., 0]), dtype=np.float64)

    def project(self, points: ArrayLike) -> tuple[Float, Float]:
        """Arc length and signed lateral offset (left positive), each ``[...]``, of points ``[..., 2]``.

        The nearest segment counts; beyond the ends the arc length is clamped and the offset is the
        signed distance to the end point.
        """
        points = np.asarray(points, dtype=np.float64)
        start, delta = self.points[:-1], np.diff(self.points, axis=0)
        relative = points[..., None, :] - start
        along = np.clip((relative * delta).sum(-1) / (delta**2).sum(-1), 0.0, 1.0)
        foot = along[..., None] * delta
        distance = np.linalg.norm(relative - foot, axis=-1)
        best = distance.argmin(-1)[..., None]
        cross = delta[:, 0] * relative[..., 1] - delta[:, 1] * relative[..., 0]
        s = np.take_along_axis(self.arc[:-1] + along * np.diff(self.arc), best, axis=-1)[..., 0]
        side = np.where(np.take_along_axis(cross, best, axis=-1)[..., 0] >= 0.0, 1.0, -1.0)
        return s, side * np.take_along_axis(distance, best, axis=-1)[..., 0]

    def resample(self, step: float) -> Polyline:
        """The same line with points every ``step`` metres (the last step may be shorter)."""
        if step <= 0.0:
            raise ValueError("Polyline.resample: step must be positive")
        s = np.append(np.arange(0.0, self.length, step), self.length)
        return Polyline(self.at(s))
