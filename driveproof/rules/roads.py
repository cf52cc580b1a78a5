"""The map as the rules see it: polygons with a kind, lanes with a centreline, the route, red lights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
import shapely
from numpy.typing import ArrayLike

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.rules.polygon_index import PolygonIndex


class PolygonKind(IntEnum):
    """What a map polygon is; the names are nuPlan's layers."""

    ROADBLOCK = 0
    LANE = 1
    LANE_CONNECTOR = 2
    INTERSECTION = 3
    CARPARK_AREA = 4
    DRIVABLE_AREA = 5
    ROADBLOCK_CONNECTOR = 6


LANES = (PolygonKind.LANE, PolygonKind.LANE_CONNECTOR)
DRIVABLE = (
    PolygonKind.ROADBLOCK,
    PolygonKind.INTERSECTION,
    PolygonKind.DRIVABLE_AREA,
    PolygonKind.CARPARK_AREA,
)
"""Kinds that make an area drivable; a roadblock connector does not (inside a junction its polygon does)."""


@dataclass(frozen=True)
class MapPolygon:
    """One polygon: id, kind, ring ``[V, 2]`` in the world (not closed), and for a lane its centreline ``[M, 2 or 3]``."""

    id: str
    kind: PolygonKind
    exterior: ArrayLike
    on_route: bool = False
    centerline: ArrayLike | None = None


@dataclass(frozen=True)
class Rings:
    """Point lists of different length in one array: list p is ``points[starts[p]:starts[p + 1]]``."""

    points: Float
    starts: Int

    @classmethod
    def of(cls, lists: Sequence[Float]) -> Rings:
        """Pack point lists ``[V, 2]``; an empty list is allowed."""
        starts = np.concatenate([[0], np.cumsum([len(part) for part in lists])]).astype(np.int64)
        points = np.concatenate([np.zeros((0, 2)), *lists])
        return cls(np.ascontiguousarray(points, np.float64), starts)

    def __getitem__(self, index: int) -> Float:
        """The points ``[V, 2]`` of list ``index``."""
        return self.points[self.starts[index] : self.starts[index + 1]]


@dataclass(frozen=True)
class RoadMap:
    """P polygons in arrays.

    ``rings`` hold the exteriors, ``bounds`` ``[P, 4]`` their x and y limits, ``lines`` the lanes' centrelines
    (empty where there is none), ``route`` ``[M, 2]`` the centreline of the route (empty where there is none);
    ``flawed`` names polygons that cross themselves: a point is inside where the even-odd rule says so, as in GEOS.
    """

    ids: tuple[str, ...]
    kinds: Int
    on_route: Bool
    rings: Rings
    bounds: Float
    lines: Rings
    route: Float
    flawed: tuple[str, ...] = ()

    @classmethod
    def of(cls, polygons: Sequence[MapPolygon], route: ArrayLike | None) -> RoadMap:
        """Check and pack polygons and the route's centreline ``[M, 2 or 3]``.

        Raises
        ------
        BadInput
            If a ring is not finite, has fewer than three distinct corners or no area, or a centreline has fewer
            than two distinct points.
        """
        rings = [_ring(polygon, n) for n, polygon in enumerate(polygons)]
        flawed = _flaws(polygons, rings)
        lines = [
            _line(polygon.centerline, f"map.polygons[{n}] {polygon.id}: centerline")
            for n, polygon in enumerate(polygons)
        ]
        limits = [np.concatenate([ring.min(0), ring.max(0)]) for ring in rings]
        return cls(
            tuple(polygon.id for polygon in polygons),
            np.array([int(polygon.kind) for polygon in polygons], np.int64),
            np.array([bool(polygon.on_route) for polygon in polygons], bool),
            Rings.of(rings),
            np.array(limits).reshape(-1, 4),
            Rings.of(lines),
            _line(route, "map.centerline"),
            flawed,
        )

    @cached_property
    def index(self) -> PolygonIndex:
        """The rings, indexed for points."""
        return PolygonIndex.of(self.rings.points, self.rings.starts, self.bounds)

    @property
    def drivable(self) -> Bool:
        """Which polygons ``[P]`` make an area drivable."""
        return np.isin(self.kinds, [int(kind) for kind in DRIVABLE])

    @property
    def lanes(self) -> Bool:
        """Which polygons ``[P]`` are lanes or lane connectors."""
        return np.isin(self.kinds, [int(kind) for kind in LANES])

    @property
    def intersections(self) -> Bool:
        """Which polygons ``[P]`` are intersections."""
        return np.asarray(self.kinds == int(PolygonKind.INTERSECTION))


def _points(value: ArrayLike, field: str) -> Float:
    try:
        points = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise BadInput("not a list of coordinates", field=field) from None
    if points.ndim != 2 or points.shape[1] < 2:
        raise BadInput("expected a list of [x, y]", field=field)
    if not np.isfinite(points).all():
        raise BadInput("has a coordinate that is not finite", field=field)
    return points[:, :2]


def _ring(polygon: MapPolygon, number: int) -> Float:
    ring = _points(polygon.exterior, f"map.polygons[{number}] {polygon.id}: exterior")
    return ring[:-1] if len(ring) > 1 and (ring[0] == ring[-1]).all() else ring


def _flaws(polygons: Sequence[MapPolygon], rings: Sequence[Float]) -> tuple[str, ...]:
    """Refuse rings without area; name the polygons that cross themselves."""
    for n, ring in enumerate(rings):
        if len(ring) < 3:
            field = f"map.polygons[{n}] {polygons[n].id}: exterior"
            raise BadInput("fewer than three corners", field=field)
    if not rings:
        return ()
    index = np.repeat(np.arange(len(rings)), [len(ring) for ring in rings])
    shapes = shapely.polygons(shapely.linearrings(np.concatenate(rings), indices=index))
    empty = shapely.area(shapely.convex_hull(shapes)) <= 0.0
    if empty.any():
        n = int(empty.argmax())
        field = f"map.polygons[{n}] {polygons[n].id}: exterior"
        raise BadInput("a polygon without area", field=field)
    return tuple(polygons[n].id for n in np.flatnonzero(~shapely.is_valid(shapes)))


def _line(value: ArrayLike | None, field: str) -> Float:
    if value is None or len(np.atleast_1d(np.asarray(value, dtype=object))) == 0:
        return np.zeros((0, 2))
    line = _points(value, field)
    if len(line) < 2 or (line == line[0]).all():
        raise BadInput("a centreline needs two distinct points", field=field)
    return np.ascontiguousarray(line)
