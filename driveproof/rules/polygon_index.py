"""Point in polygon for many points: edges sorted into slabs, so that a point meets only those at its height.

The answer is that of a loop over all edges: an edge left out lies wholly above or below the point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from driveproof.geometry.arrays import Bool, Float, Int

_EDGES_A_SLAB = 3


@dataclass(frozen=True)
class PolygonIndex:
    """P polygons cut into slabs across their longer side.

    ``edges`` ``[E, 4]`` are ax, ay, bx, by, slab by slab (``slabs`` ``[S + 1]`` offsets; an edge is repeated in every slab
    that it reaches); polygon p owns slabs ``first[p] … first[p + 1] - 1``. ``scale`` ``[P, 2]`` is the lower end and slabs
    per metre. ``flipped`` ``[P]``: x and y are exchanged. ``bounds`` ``[P, 4]``: x and y limits, unflipped.
    """

    edges: Float
    slabs: Int
    first: Int
    scale: Float
    flipped: Bool
    bounds: Float

    @classmethod
    def of(cls, points: Float, starts: Int, bounds: Float) -> PolygonIndex:
        """Index the rings ``points[starts[p]:starts[p + 1]]`` (not closed) with limits ``bounds`` ``[P, 4]``."""
        extent = bounds[:, 2:] - bounds[:, :2]
        flipped = extent[:, 0] > extent[:, 1]
        low = np.where(flipped, bounds[:, 0], bounds[:, 1])
        height = np.maximum(extent.max(-1, initial=0.0), 1e-9)
        count = np.maximum(np.diff(starts) // _EDGES_A_SLAB, 1)
        first = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        scale = np.stack([low, count / height], axis=-1)
        sizes = np.zeros(first[-1] + 1, np.int64)
        _sort(points, starts, first, scale, flipped, sizes, np.zeros((0, 4)))
        slabs = np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.int64)
        edges = np.empty((slabs[-1], 4))
        if len(edges):
            _sort(points, starts, first, scale, flipped, slabs[:-1].copy(), edges)
        return cls(edges, slabs, first, scale, flipped, bounds)


@numba.njit(nogil=True, cache=True)
def _slab(height: float, low: float, density: float, count: int) -> int:
    """Slab of a height: monotone, so that a point between an edge's ends falls between their slabs."""
    return min(max(int((height - low) * density), 0), count - 1)


@numba.njit(nogil=True, cache=True)
def _sort(
    points: Float, starts: Int, first: Int, scale: Float, flipped: Bool, place: Int, edges: Float
) -> None:
    """Count the edges of every slab in ``place``, or, given room in ``edges``, put them there."""
    for p in range(len(first) - 1):
        count = first[p + 1] - first[p]
        u, v = (1, 0) if flipped[p] else (0, 1)
        last = starts[p + 1] - 1
        for k in range(starts[p], starts[p + 1]):
            a = k - 1 if k > starts[p] else last
            low = min(points[a, v], points[k, v])
            high = max(points[a, v], points[k, v])
            from_slab = _slab(low, scale[p, 0], scale[p, 1], count)
            to_slab = _slab(high, scale[p, 0], scale[p, 1], count)
            for slab in range(first[p] + from_slab, first[p] + to_slab + 1):
                if len(edges):
                    row = edges[place[slab]]
                    row[0], row[1] = points[a, u], points[a, v]
                    row[2], row[3] = points[k, u], points[k, v]
                place[slab] += 1


@numba.njit(nogil=True, cache=True, inline="always")
def holds(
    edges: Float, slabs: Int, first: Int, scale: Float, flipped: Bool, p: int, x: float, y: float
) -> bool:
    """Whether polygon p has the point strictly inside (even-odd rule; the boundary is outside)."""
    if flipped[p]:
        x, y = y, x
    slab = first[p] + _slab(y, scale[p, 0], scale[p, 1], first[p + 1] - first[p])
    inside = False
    for k in range(slabs[slab], slabs[slab + 1]):
        ay, by = edges[k, 1] - y, edges[k, 3] - y
        if (ay > 0.0 and by > 0.0) or (ay < 0.0 and by < 0.0):
            continue
        ax, bx = edges[k, 0] - x, edges[k, 2] - x
        cross = ax * by - bx * ay
        if cross == 0.0 and min(ax, bx) <= 0.0 <= max(ax, bx):
            return False
        if (ay > 0.0) != (by > 0.0) and (cross > 0.0) == (by > ay):
            inside = not inside
    return inside
