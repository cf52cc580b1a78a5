"""Shapes of a map that a source does not say: lanes from centrelines, junctions from lanes, roads from their edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import shapely
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Float
from driveproof.scene.log_map import MapLane

HALF_WIDTH = 1.75
"""Metres from a centreline to the border of its lane where nothing says it."""
REACH = 6.0
"""Metres beside a centreline that a roadway without recorded area may reach (a lane and a row of parked cars)."""
_SEAM = 0.05
"""Metres by which lanes are grown before they are joined, lest rounding leave slits between them."""
_END_GAP, _END_TURN = 1.0, np.pi / 6
_EDGE = 0.02


def polyline(points: Iterable[ArrayLike]) -> Float:
    """Points ``[M, 2]`` without repetitions; heights and headings that come along are dropped.

    Raises
    ------
    ValueError
        If a point is not finite or fewer than two distinct ones are there.
    """
    line = np.array([np.asarray(point, np.float64)[:2] for point in points]).reshape(-1, 2)
    if not np.isfinite(line).all():
        raise ValueError("a coordinate is not finite")
    moved = np.ones(len(line), bool)
    moved[1:] = np.hypot(*np.diff(line, axis=0).T) > 1e-6
    if moved.sum() < 2:
        raise ValueError("fewer than two distinct points")
    distinct: Float = line[moved]
    return distinct


def ring(points: Iterable[ArrayLike]) -> Float:
    """Corners ``[V, 2]`` of a ring, not closed, made as :func:`polyline` is.

    Raises
    ------
    ValueError
        As :func:`polyline`, or if the corners enclose no area.
    """
    corners = polyline(points)
    if (corners[0] == corners[-1]).all():
        corners = corners[:-1]
    if shapely.area(shapely.convex_hull(shapely.MultiPoint(corners))) <= 0.0:
        raise ValueError("encloses no area")
    return corners


def ribbon(centre: Float, left: ArrayLike = HALF_WIDTH, right: ArrayLike = HALF_WIDTH) -> Float:
    """Ring ``[2 M, 2]`` of a lane that reaches ``left`` and ``right`` metres (``[M]`` or one) beside ``centre`` ``[M, 2]``."""
    along = np.gradient(centre, axis=0)
    along /= np.maximum(np.hypot(along[:, :1], along[:, 1:]), 1e-9)
    normal = np.stack([-along[:, 1], along[:, 0]], -1)
    sides = [np.broadcast_to(np.asarray(side, np.float64), len(centre)) for side in (left, right)]
    return np.concatenate(
        [centre + normal * sides[0][:, None], (centre - normal * sides[1][:, None])[::-1]]
    )


def rings_of(area: shapely.Geometry) -> tuple[Float, ...]:
    """Rings ``[V, 2]`` that cover an area; parts with holes are cut in two through a hole until none is left."""
    rings: list[Float] = []
    waiting = [part for part in shapely.get_parts(area) if isinstance(part, shapely.Polygon)]
    while waiting:
        part = waiting.pop()
        if part.area < 1e-3:
            continue
        if not part.interiors:
            rings.append(shapely.get_coordinates(part.exterior)[:-1])
            continue
        middle = shapely.Polygon(part.interiors[0]).centroid.x
        low_x, low_y, high_x, high_y = part.bounds
        for half in ((low_x, middle), (middle, high_x)):
            piece = shapely.intersection(part, shapely.box(half[0], low_y, half[1], high_y))
            waiting += [p for p in shapely.get_parts(piece) if isinstance(p, shapely.Polygon)]
    return tuple(sorted(rings, key=lambda ring: tuple(ring.min(0))))


def crossing(centres: Sequence[Float]) -> set[int]:
    """Numbers of the centrelines that another one crosses: those of a junction, where the source does not say it."""
    if not centres:
        return set()
    lines = np.array([shapely.LineString(centre) for centre in centres])
    first, _ = shapely.STRtree(lines).query(lines, predicate="crosses")
    return set(first.tolist())


def junctions_of(lanes: Sequence[MapLane], drivable: Sequence[Float]) -> tuple[Float, ...]:
    """Hulls of the groups of overlapping junction lanes, as far as one may drive there."""
    inside = [shapely.buffer(_valid(lane.outline), _SEAM) for lane in lanes if lane.in_junction]
    if not inside:
        return ()
    hulls = shapely.convex_hull(shapely.get_parts(shapely.union_all(inside)))
    whole = shapely.union_all(hulls)
    if drivable:
        whole = shapely.intersection(whole, shapely.union_all([_valid(ring) for ring in drivable]))
    return rings_of(whole)


def roadway(
    centres: Sequence[Float], edges: Sequence[Float], more: Sequence[Float] = ()
) -> tuple[Float, ...]:
    """Drivable rings where a source knows only edges: within 6 m of a centreline, not across a road edge.

    ``more`` are rings that are drivable besides. Where an edge has a gap, the area behind it counts as drivable.
    """
    if not centres:
        return ()
    lines = shapely.union_all([shapely.LineString(centre) for centre in centres])
    near: shapely.Geometry = shapely.buffer(lines, REACH, cap_style="flat")
    if edges:
        walls = shapely.union_all([shapely.LineString(edge) for edge in edges])
        near = shapely.difference(near, shapely.buffer(walls, _EDGE))
    parts = shapely.get_parts(near)
    kept = parts[shapely.length(shapely.intersection(parts, lines)) > 1.0]
    return rings_of(shapely.union_all([*kept, *(_valid(ring) for ring in more)]))


def following(centres: Sequence[Float]) -> list[tuple[int, ...]]:
    """For each centreline, the ones that begin where it ends and go on its way, where the source does not say it."""
    if not centres:
        return []
    starts = np.array([centre[0] for centre in centres])
    ends = np.array([centre[-1] for centre in centres])
    into = np.array([np.arctan2(*(c[1] - c[0])[::-1]) for c in centres])
    out = np.array([np.arctan2(*(c[-1] - c[-2])[::-1]) for c in centres])
    near = np.hypot(*(ends[:, None] - starts[None]).transpose(2, 0, 1)) < _END_GAP
    turn = np.abs(np.angle(np.exp(1j * (into[None] - out[:, None]))))
    fits = near & (turn < _END_TURN) & ~np.eye(len(centres), dtype=bool)
    return [tuple(np.flatnonzero(row).tolist()) for row in fits]


def _valid(ring: Float) -> shapely.Geometry:
    shape: shapely.Geometry = shapely.Polygon(ring)
    return shape if shapely.is_valid(shape) else shapely.buffer(shape, 0.0)
