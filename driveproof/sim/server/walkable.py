"""Where people may walk: sidewalks and crosswalks of a town as triangles that share their edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from scipy.spatial import cKDTree
from shapely.geometry.base import BaseGeometry

from driveproof.geometry.arrays import Float, Int
from driveproof.maps import LaneKind, TownMap

#: Metres: gaps between sidewalks that are closed, distance that people keep from borders, detail left out, and the
#: longest border edge (heights are exact only at its ends).
GAP_M, KEEP_M, DETAIL_M, EDGE_M = 0.3, 0.3, 0.1, 10.0
#: Metres between the end of a crosswalk and the sidewalk behind the curb, at most.
CURB_M = 1.0
#: Borders are rounded to this many metres, so that neighbours share their corners.
GRID_M = 1e-3
#: The file format counts neighbours in 15 bits: more triangles are coarsened, and the largest towns are left out.
MAX_TRIANGLES, MAX_SIDEWALK_POINTS = 32_000, 40_000


@dataclass(frozen=True)
class Walkable:
    """Triangles on which people walk.

    Parameters
    ----------
    corners
        ``[N, 3]`` right-handed, metres.
    triangles
        ``[T, 3]`` indices of corners, counter-clockwise from above.
    crossing
        ``[T]`` True on crosswalks, False on sidewalks.
    """

    corners: Float
    triangles: Int
    crossing: Int


def walkable(town: TownMap) -> Walkable | None:
    """The triangles of a town, or None if it has no sidewalks or they are too many."""
    lanes = town.lanes
    members = lanes.of_kind(LaneKind.SIDEWALK)
    if not 0 < int(np.diff(lanes.offset)[members].sum()) <= MAX_SIDEWALK_POINTS:
        return None
    sidewalks, crosswalks = _shapes(town)
    for factor in (1.0, 3.0):
        flat, triangles, crossing = _triangulate(sidewalks, crosswalks, factor)
        if 0 < len(triangles) <= MAX_TRIANGLES:
            return Walkable(_lifted(town, flat), triangles, crossing)
    return None


def _shapes(town: TownMap) -> tuple[BaseGeometry, BaseGeometry]:
    """All sidewalks, and all crosswalks with the curbs at their ends."""
    lanes = town.lanes
    strips = []
    for lane in lanes.of_kind(LaneKind.SIDEWALK).tolist():
        left, right = lanes.border(lane, 1)[:, :2], lanes.border(lane, -1)[:, :2]
        strips.append(shapely.Polygon(np.concatenate([left, right[::-1]])))
    zebras = [shapely.Polygon(c[:, :2]) for c in town.crosswalks if len(c) >= 3]
    return _whole(strips), _whole(zebras).buffer(CURB_M, join_style="mitre")


def _whole(polygons: list[shapely.Polygon]) -> BaseGeometry:
    # a strip of a sharp bend may cross itself
    valid = shapely.make_valid(np.array(polygons, dtype=object))
    return shapely.union_all(valid, grid_size=GRID_M)


def _triangulate(
    sidewalks: BaseGeometry, crosswalks: BaseGeometry, factor: float
) -> tuple[Float, Int, Int]:
    """Corners ``[N, 2]``, triangles ``[T, 3]`` and which of them cross a road ``[T]``."""
    both = shapely.union(sidewalks, crosswalks, grid_size=GRID_M)
    inner: BaseGeometry = both.buffer(GAP_M, join_style="mitre").buffer(
        -GAP_M - KEEP_M, join_style="mitre"
    )
    inner = shapely.segmentize(inner.simplify(DETAIL_M * factor), EDGE_M * factor)
    crossing = shapely.difference(crosswalks, sidewalks, grid_size=GRID_M)
    parts: list[BaseGeometry] = [
        shapely.difference(inner, crossing, grid_size=GRID_M),
        shapely.intersection(inner, crossing, grid_size=GRID_M),
    ]
    rings, kinds = [], []
    for kind, part in enumerate(parts):
        polygons = [p for p in shapely.get_parts(part) if p.geom_type == "Polygon" and p.area > 0.5]
        found = shapely.get_parts(
            shapely.constrained_delaunay_triangles(np.array(polygons, object))
        )
        triangles = shapely.get_parts(found)
        rings.append(shapely.get_coordinates(triangles).reshape(-1, 4, 2)[:, :3])
        kinds.append(np.full(len(triangles), kind))
    points = np.round(np.concatenate(rings) / GRID_M).astype(np.int64)
    corners, index = np.unique(points.reshape(-1, 2), axis=0, return_inverse=True)
    triples: Int = index.reshape(-1, 3).astype(np.int64)
    a, b, c = (corners[triples[:, k]] for k in range(3))
    area = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    triples[area < 0] = triples[area < 0][:, ::-1]
    keep = area != 0
    flat: Float = corners.astype(np.float64) * GRID_M
    return flat, triples[keep], np.concatenate(kinds).astype(np.int64)[keep]


def _lifted(town: TownMap, flat: Float) -> Float:
    """Corners ``[N, 3]`` as high as the nearest sidewalk."""
    lanes = town.lanes
    rows = np.flatnonzero(np.isin(lanes.lane_of_point, lanes.of_kind(LaneKind.SIDEWALK)))
    near = rows[cKDTree(lanes.centre[rows, :2]).query(flat)[1]]
    return np.column_stack([flat, lanes.centre[near, 2]])
