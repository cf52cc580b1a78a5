"""Which bodies touch during a step, and when; compiled by numba.

Bodies are oriented boxes on the ground plane, with heights. A pair that approaches fast is checked at several moments of
the step, so that nothing tunnels.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from driveproof.geometry.arrays import Float, Int
from driveproof.sim.engine.table import ActorTable

#: A step is cut into at most so many moments, so that nobody moves more than half the thinner body between two.
_MOMENTS = 16
#: Thinner bodies than this (m) are not looked at more closely.
_THINNEST = 0.05


def touches(
    table: ActorTable, before: Float, yaw_before: Float, boxes: Float, fixed: Int
) -> tuple[Int, Int, Float]:
    """Pairs of bodies that touch, at least one of them movable.

    Parameters
    ----------
    table
        All actors, after the step.
    before, yaw_before
        ``[N, 3]`` positions and ``[N]`` headings at its start.
    boxes
        ``[S, 7]`` static boxes: x, y, z, half sizes, heading.
    fixed
        ``[F, 2]`` rows of actors and numbers of static boxes that may meet.

    Returns
    -------
    first, second
        ``[P]`` rows, the smaller first; a static box is -1 minus its number, and second.
    share
        ``[P]`` share of the step at which they touch first.
    """
    rows = np.flatnonzero(table.solid)
    rows = rows[np.argsort(table.position[rows, 0], kind="stable")]
    # one memory layout, so that the loop is compiled once
    before, yaw_before = np.ascontiguousarray(before), np.ascontiguousarray(yaw_before)
    way = table.position[rows, :2] - before[rows, :2]
    reach = table.reach[rows] + np.sqrt((way * way).sum(1))
    room = 4 * len(rows) + len(fixed)
    while True:
        pairs, share = np.empty((room, 2), dtype=np.int64), np.empty(room)
        count = _touches(table.records, rows, reach, before, yaw_before, boxes, fixed, pairs, share)
        if count <= room:
            break
        room = count
    pairs, share = pairs[:count], share[:count]
    order = np.lexsort((pairs[:, 1], pairs[:, 0])) if count > 1 else slice(None)
    return pairs[order, 0], pairs[order, 1], share[order]


@numba.njit(nogil=True, cache=True)
def _touches(
    actors: Any,
    rows: Int,
    reach: Float,
    before: Float,
    yaw_before: Float,
    boxes: Float,
    fixed: Int,
    pairs: Int,
    shares: Float,
) -> int:
    """Fill ``pairs`` and ``shares`` as far as they reach; the number of pairs that there are.

    ``rows`` are the solid actors in the order of their x, ``reach`` their radii with the way that they went.
    """
    found = 0
    widest = reach.max() if len(reach) else 0.0
    for k in range(len(rows)):
        a = rows[k]
        x, y, free = actors[a].position[0], actors[a].position[1], actors[a].physics
        for m in range(k + 1, len(rows)):
            b = rows[m]
            dx, dy = actors[b].position[0] - x, actors[b].position[1] - y
            if dx > reach[k] + widest:
                break
            if dx * dx + dy * dy < (reach[k] + reach[m]) ** 2 and (free or actors[b].physics):
                low, high = min(a, b), max(a, b)
                share = _actors_touch(actors[low], actors[high], before, yaw_before, low, high)
                if share <= 1.0:
                    if found < len(shares):
                        pairs[found, 0], pairs[found, 1], shares[found] = low, high, share
                    found += 1
    for k in range(len(fixed)):
        row, number = fixed[k, 0], fixed[k, 1]
        share = _box_touches(actors[row], before[row], yaw_before[row], boxes[number])
        if share <= 1.0:
            if found < len(shares):
                pairs[found, 0], pairs[found, 1], shares[found] = row, -1 - number, share
            found += 1
    return found


@numba.njit(nogil=True, cache=True)
def separations(a: Float, half_a: Float, b: Float, half_b: Float) -> tuple[Float, Float]:
    """Penetration ``[P]`` (negative: apart) of boxes ``a``, ``b`` ``[P, 3]``, and its direction ``[P, 2]`` from a to b."""
    depth, way = np.empty(len(a)), np.empty((len(a), 2))
    for k in range(len(a)):
        depth[k], way[k, 0], way[k, 1] = _separation(
            (a[k, 0], a[k, 1], a[k, 2]),
            (half_a[k, 0], half_a[k, 1]),
            (b[k, 0], b[k, 1], b[k, 2]),
            (half_b[k, 0], half_b[k, 1]),
        )
    return depth, way


@numba.njit(nogil=True, cache=True)
def _actors_touch(
    a: Any, b: Any, before: Float, yaw_before: Float, row_a: int, row_b: int
) -> float:
    gap = a.position[2] + a.box_offset[2] - b.position[2] - b.box_offset[2]
    if abs(gap) >= a.half_extent[2] + b.half_extent[2]:
        return math.inf
    return _first_touch(
        _centre(a, before[row_a, 0], before[row_a, 1], yaw_before[row_a]),
        _centre(a, a.position[0], a.position[1], a.rotation[2]),
        (a.half_extent[0], a.half_extent[1]),
        _centre(b, before[row_b, 0], before[row_b, 1], yaw_before[row_b]),
        _centre(b, b.position[0], b.position[1], b.rotation[2]),
        (b.half_extent[0], b.half_extent[1]),
    )


@numba.njit(nogil=True, cache=True)
def _box_touches(actor: Any, before: Float, yaw_before: float, box: Float) -> float:
    if abs(actor.position[2] + actor.box_offset[2] - box[2]) >= actor.half_extent[2] + box[5]:
        return math.inf
    place = (box[0], box[1], box[6])
    return _first_touch(
        _centre(actor, before[0], before[1], yaw_before),
        _centre(actor, actor.position[0], actor.position[1], actor.rotation[2]),
        (actor.half_extent[0], actor.half_extent[1]),
        place,
        place,
        (box[3], box[4]),
    )


@numba.njit(nogil=True, cache=True)
def _centre(actor: Any, x: float, y: float, yaw: float) -> tuple[float, float, float]:
    """Where the centre of an actor's box is while the actor is at (x, y, yaw)."""
    cos, sin = math.cos(yaw), math.sin(yaw)
    left, top = actor.box_offset[0], actor.box_offset[1]
    return x + cos * left - sin * top, y + sin * left + cos * top, yaw


@numba.njit(nogil=True, cache=True)
def _first_touch(
    a_then: Any, a_now: Any, half_a: Any, b_then: Any, b_now: Any, half_b: Any
) -> float:
    """Share of the step at which two boxes touch first, infinity for never."""
    way_x = a_now[0] - a_then[0] - b_now[0] + b_then[0]
    way_y = a_now[1] - a_then[1] - b_now[1] + b_then[1]
    thin = max(min(half_a[0], half_a[1], half_b[0], half_b[1]), _THINNEST)
    moments = min(max(math.ceil(math.hypot(way_x, way_y) / thin), 1), _MOMENTS)
    for moment in range(1, moments + 1):
        share = moment / moments
        a = _between(a_then, a_now, share)
        b = _between(b_then, b_now, share)
        if _separation(a, half_a, b, half_b)[0] > 0.0:
            return float(share)
    return math.inf


@numba.njit(nogil=True, cache=True)
def _between(then: Any, now: Any, share: float) -> tuple[float, float, float]:
    turn = now[2] - then[2]
    turn -= 2.0 * math.pi * math.floor(turn / (2.0 * math.pi) + 0.5)
    rest = 1.0 - share
    return then[0] * rest + now[0] * share, then[1] * rest + now[1] * share, now[2] - rest * turn


@numba.njit(nogil=True, cache=True)
def _separation(a: Any, half_a: Any, b: Any, half_b: Any) -> tuple[float, float, float]:
    """Separating-axis theorem: penetration and its direction from a to b, along the axis where it is least."""
    x, y = b[0] - a[0], b[1] - a[1]
    cos_a, sin_a, cos_b, sin_b = math.cos(a[2]), math.sin(a[2]), math.cos(b[2]), math.sin(b[2])
    along = abs(cos_a * cos_b + sin_a * sin_b)
    cross = abs(sin_a * cos_b - cos_a * sin_b)
    least, way_x, way_y = math.inf, 1.0, 0.0
    for axis in range(4):
        if axis < 2:
            cos, sin, mine, other = cos_a, sin_a, half_a, half_b
        else:
            cos, sin, mine, other = cos_b, sin_b, half_b, half_a
        if axis % 2 == 0:
            reach = mine[0] + along * other[0] + cross * other[1]
        else:
            reach = mine[1] + cross * other[0] + along * other[1]
            cos, sin = -sin, cos
        distance = cos * x + sin * y
        if reach - abs(distance) < least:
            least = reach - abs(distance)
            sign = -1.0 if distance < 0.0 else 1.0
            way_x, way_y = cos * sign, sin * sign
    return least, way_x, way_y
