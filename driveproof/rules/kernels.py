"""Exact predicates on boxes, polygons and polylines, compiled by numba and shared by the rules.

Predicates are those of GEOS that the reference calls: a point on the boundary of a polygon is not in it
(``contains``), shapes that touch intersect (``intersects``), the first nearest segment wins (``project``).
Coordinates are subtracted before they are multiplied, so UTM-sized offsets do no harm.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from driveproof.geometry.arrays import Float

AHEAD, BESIDE, BEHIND = 0, 1, 2
_AHEAD_ANGLE = math.radians(30.0)
_BEHIND_ANGLE = math.radians(150.0)


@numba.njit(nogil=True, cache=True, inline="always")
def in_polygon(vertices: Float, start: int, stop: int, x: float, y: float) -> bool:
    """Whether a point is strictly inside the ring ``vertices[start:stop]`` (not closed)."""
    inside = False
    bx, by = vertices[stop - 1, 0] - x, vertices[stop - 1, 1] - y
    for k in range(start, stop):
        ax, ay = bx, by
        bx, by = vertices[k, 0] - x, vertices[k, 1] - y
        cross = ax * by - bx * ay
        if cross == 0.0 and min(ax, bx) <= 0.0 <= max(ax, bx) and min(ay, by) <= 0.0 <= max(ay, by):
            return False
        if (ay > 0.0) != (by > 0.0) and (cross > 0.0) == (by > ay):
            inside = not inside
    return inside


@numba.njit(nogil=True, cache=True, inline="always")
def boxes_touch(
    dx: float,
    dy: float,
    c1: float,
    s1: float,
    l1: float,
    w1: float,
    c2: float,
    s2: float,
    l2: float,
    w2: float,
) -> bool:
    """Whether two oriented boxes overlap or touch (separating-axis theorem).

    ``dx, dy`` lead from the first centre to the second; ``c, s`` are cosine and sine of a heading; ``l, w``
    half lengths and half widths. A half length of 0 makes the box a segment across its heading.
    """
    cos = abs(c1 * c2 + s1 * s2)
    sin = abs(c1 * s2 - s1 * c2)
    if abs(dx * c1 + dy * s1) > l1 + l2 * cos + w2 * sin:
        return False
    if abs(dy * c1 - dx * s1) > w1 + l2 * sin + w2 * cos:
        return False
    if abs(dx * c2 + dy * s2) > l2 + l1 * cos + w1 * sin:
        return False
    return abs(dy * c2 - dx * s2) <= w2 + l1 * sin + w1 * cos


@numba.njit(nogil=True, cache=True)
def box_meets_polygon(
    cx: float, cy: float, c: float, s: float, length: float, width: float, ring: Float
) -> bool:
    """Whether a box (centre, cosine, sine, half sizes) and a simple polygon ``ring`` ``[V, 2]`` touch or overlap."""
    count = len(ring)
    u = (ring[:, 0] - cx) * c + (ring[:, 1] - cy) * s
    v = (ring[:, 1] - cy) * c - (ring[:, 0] - cx) * s
    for k in range(count):
        # Liang-Barsky: clip the edge against the box; something left means contact.
        low, high = 0.0, 1.0
        previous = k - 1 if k else count - 1
        for a, b, half in ((u[previous], u[k], length), (v[previous], v[k], width)):
            if a == b:
                if abs(a) > half:
                    low = 2.0
            else:
                t0, t1 = (-half - a) / (b - a), (half - a) / (b - a)
                low, high = max(low, min(t0, t1)), min(high, max(t0, t1))
        if low <= high:
            return True
    # No edge reaches the box: it is wholly inside or wholly outside.
    return in_polygon(ring, 0, count, cx, cy)


@numba.njit(nogil=True, cache=True)
def bearing(dx: float, dy: float, c: float, s: float, nan_angle: bool) -> int:
    """Where a point at ``dx, dy`` lies seen along a heading: < 30° ahead, > 150° behind, else beside.

    ``nan_angle`` reproduces an unclipped arccos: an argument above 1 in size is neither.
    """
    norm = math.sqrt(dx * dx + dy * dy)
    if norm == 0.0:
        return BESIDE
    cosine = c * (dx / norm) + s * (dy / norm)
    if abs(cosine) > 1.0:
        if nan_angle:
            return BESIDE
        cosine = math.copysign(1.0, cosine)
    angle = math.acos(cosine)
    if angle < _AHEAD_ANGLE:
        return AHEAD
    return BEHIND if angle > _BEHIND_ANGLE else BESIDE


@numba.njit(nogil=True, cache=True)
def project(line: Float, x: float, y: float) -> tuple[float, float, int]:
    """Arc length, distance and segment of the point of polyline ``line`` ``[M, 2]`` nearest to x, y."""
    best, arc, segment, travelled = np.inf, 0.0, 0, 0.0
    for k in range(len(line) - 1):
        ex, ey = line[k + 1, 0] - line[k, 0], line[k + 1, 1] - line[k, 1]
        px, py = x - line[k, 0], y - line[k, 1]
        square = ex * ex + ey * ey
        share = 0.0
        if square > 0.0:
            share = min(max((px * ex + py * ey) / square, 0.0), 1.0)
        length = math.sqrt(square)
        qx, qy = px - share * ex, py - share * ey
        distance = math.sqrt(qx * qx + qy * qy)
        if distance < best:
            best, arc, segment = distance, travelled + share * length, k
        travelled += length
    return arc, best, segment
