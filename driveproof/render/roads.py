"""Lanes, their marks, junction floors, stop lines and crosswalks of a town as polygons."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from driveproof.geometry.arrays import Float, Int
from driveproof.maps import LaneKind, LaneTable, MarkColour, MarkKind, SignalKind, TownMap
from driveproof.maps.lanes import Code
from driveproof.render.labels import Label, Texture
from driveproof.render.mesh import EMPTY, Mesh, join, mesh_of

#: Paint lies so far above the surface, junction floors below it, so that depths decide; metres.
PAINT_RAISE_M, FLOOR_DROP_M = 0.02, 0.03
WHITE, YELLOW, CURB = (228, 228, 224), (224, 178, 56), (134, 130, 124)
_SURFACES = {
    LaneKind.MEDIAN: ((104, 116, 84), Label.TERRAIN, Texture.GRASS),
    LaneKind.BORDER: ((118, 116, 110), Label.GROUND, Texture.PLAIN),
    LaneKind.SIDEWALK: ((162, 157, 150), Label.SIDEWALK, Texture.PLAIN),
    LaneKind.SHOULDER: ((98, 98, 100), Label.ROAD, Texture.ASPHALT),
    LaneKind.RESTRICTED: ((92, 92, 94), Label.ROAD, Texture.ASPHALT),
    LaneKind.BIKING: ((110, 74, 64), Label.ROAD, Texture.ASPHALT),
    LaneKind.PARKING: ((84, 84, 90), Label.ROAD, Texture.ASPHALT),
    LaneKind.BIDIRECTIONAL: ((74, 75, 79), Label.ROAD, Texture.ASPHALT),
    LaneKind.DRIVING: ((74, 75, 79), Label.ROAD, Texture.ASPHALT),
    LaneKind.STOP: ((84, 84, 90), Label.ROAD, Texture.ASPHALT),
    LaneKind.OTHER: ((110, 110, 106), Label.GROUND, Texture.PLAIN),
}
ASPHALT = _SURFACES[LaneKind.DRIVING][0]
_DASH_M, _PERIOD_M, _HALF_MARK_M, _DOUBLE_M, _HALF_CURB_M = 3.0, 6.0, 0.075, 0.13, 0.12
_SLIT_M, _MIN_WIDTH_M, _HALF_STOP_M = 2.5, 0.05, 0.22
#: Points of a lane that far surfaces skip.
COARSE = 4
#: Where each line of a double mark lies (left, right) and whether it is broken.
_LINES: dict[MarkKind, tuple[tuple[float, bool], ...]] = {
    MarkKind.SOLID: ((0.0, False),),
    MarkKind.BROKEN: ((0.0, True),),
    MarkKind.BOTTS_DOTS: ((0.0, True),),
    MarkKind.SOLID_SOLID: ((1.0, False), (-1.0, False)),
    MarkKind.SOLID_BROKEN: ((1.0, False), (-1.0, True)),
    MarkKind.BROKEN_SOLID: ((1.0, True), (-1.0, False)),
    MarkKind.BROKEN_BROKEN: ((1.0, True), (-1.0, True)),
    MarkKind.CURB: ((0.0, False),),
}


@dataclass(frozen=True)
class Roads:
    """The roads of a town; knows which pieces of lanes lie in which tile of ``tile_m`` metres."""

    town: TownMap
    tile_m: float

    def tile_of(self, points: Float) -> Int:
        """Tile ``[..., 2]`` of points ``[..., 2 or more]``."""
        return np.asarray(np.floor(points[..., :2] / self.tile_m), dtype=np.int64)

    @cached_property
    def _fine(self) -> _Pieces:
        lanes = self.town.lanes
        rows = np.arange(len(lanes.centre) - 1)
        begin = rows[lanes.lane_of_point[rows] == lanes.lane_of_point[rows + 1]]
        return self._pieces(begin, begin + 1)

    @cached_property
    def _coarse(self) -> _Pieces:
        lanes = self.town.lanes
        owner = lanes.lane_of_point
        place = np.arange(len(owner)) - lanes.offset[owner]
        last = lanes.offset[owner + 1] - 1
        begin = np.flatnonzero((place % COARSE == 0) & (np.arange(len(owner)) < last))
        return self._pieces(begin, np.minimum(begin + COARSE, last[begin]))

    def _pieces(self, begin: Int, end: Int) -> _Pieces:
        lanes = self.town.lanes
        solid = lanes.kind[lanes.lane_of_point[begin]] != LaneKind.NONE
        solid &= np.maximum(lanes.width[begin], lanes.width[end]) > _MIN_WIDTH_M
        begin, end = begin[solid], end[solid]
        tiles = self.tile_of((lanes.centre[begin] + lanes.centre[end]) / 2.0)
        return _Pieces(begin, end, *_sorted(tiles))

    def surfaces(self, tile: tuple[int, int], *, coarse: bool = False) -> Mesh:
        """What one can drive or walk on in a tile."""
        begin, end = (self._coarse if coarse else self._fine).within(tile)
        lanes = self.town.lanes
        left, right = _borders(lanes, begin), _borders(lanes, end)
        rings = np.stack([left[1], right[1], right[0], left[0]], axis=1)
        kinds = lanes.kind[lanes.lane_of_point[begin]]
        colour, label, texture = _LOOK[0][kinds], _LOOK[1][kinds], _LOOK[2][kinds]
        floors = EMPTY if coarse else join([self._floor(key) for key in self._floors.get(tile, ())])
        lanes_mesh = mesh_of(rings, colour, label, texture=texture, sided=True)
        return join([lanes_mesh, floors])

    def marks(self, tile: tuple[int, int]) -> Mesh:
        """Paint on the road in a tile: lane marks, stop lines, crosswalks."""
        begin, end = self._fine.within(tile)
        lanes = self.town.lanes
        parts = []
        for side, kinds, colours, own in (
            (-1, lanes.right_mark, lanes.right_colour, np.ones(len(lanes), dtype=bool)),
            (1, lanes.left_mark, lanes.left_colour, ~lanes.left_same),
        ):
            drawn = own[lanes.lane_of_point[begin]] & (kinds[begin] > 0)
            parts.append(_marks(lanes, begin[drawn], end[drawn], side, kinds, colours))
        parts += [_zebra(self.town.crosswalks[k]) for k in self._crosswalks.get(tile, ())]
        lines = [self._stop_lines[k] for k in self._stops.get(tile, ())]
        return join([*parts, _stop_bars(lines)])

    @cached_property
    def _crosswalks(self) -> dict[tuple[int, int], list[int]]:
        return self._grouped([outline.mean(0) for outline in self.town.crosswalks])

    @cached_property
    def _stop_lines(self) -> list[Float]:
        kinds = (SignalKind.TRAFFIC_LIGHT, SignalKind.STOP, SignalKind.YIELD)
        return [line for s in self.town.signals if s.kind in kinds for line in s.stop_lines]

    @cached_property
    def _stops(self) -> dict[tuple[int, int], list[int]]:
        return self._grouped([line.mean(0) for line in self._stop_lines])

    @cached_property
    def _floors(self) -> dict[tuple[int, int], list[int]]:
        keys = list(self.town.junctions)
        places = [self.town.junctions[key].outline.mean(0) for key in keys]
        return {t: [keys[n] for n in rows] for t, rows in self._grouped(places).items()}

    def _grouped(self, places: list[Float]) -> dict[tuple[int, int], list[int]]:
        groups: dict[tuple[int, int], list[int]] = {}
        for number, place in enumerate(places):
            tile = self.tile_of(place)
            groups.setdefault((int(tile[0]), int(tile[1])), []).append(number)
        return groups

    def _floor(self, junction: int) -> Mesh:
        """Asphalt below the lanes of a junction, so that no grass shows in the slits between them."""
        lanes = self.town.lanes
        members = self.town.junctions[junction].lanes
        rings = [
            np.concatenate([lanes.border(lane, 1)[:, :2], lanes.border(lane, -1)[::-1, :2]])
            for lane in members
        ]
        shapes = shapely.buffer([shapely.Polygon(ring) for ring in rings], 0.05)
        closed = shapely.union_all(shapes).buffer(_SLIT_M).buffer(-_SLIT_M).simplify(0.1)
        triangles = shapely.get_parts(shapely.constrained_delaunay_triangles(closed))
        if len(triangles) == 0:
            return EMPTY
        flat = shapely.get_coordinates(triangles).reshape(len(triangles), 4, 2)[:, :3]
        points = np.concatenate([lanes.centre[lanes.points(lane)] for lane in members])
        heights = heights_near(cKDTree(points[:, :2]), points[:, 2], flat.reshape(-1, 2))
        corners = np.dstack([flat, heights.reshape(-1, 3) - FLOOR_DROP_M])
        return mesh_of(_upward(corners), ASPHALT, Label.ROAD, texture=Texture.ASPHALT, sided=True)


@dataclass(frozen=True)
class _Pieces:
    """Pieces of lanes from row ``begin`` to row ``end``, ordered by tile."""

    begin: Int
    end: Int
    order: Int
    spans: dict[tuple[int, int], tuple[int, int]]

    def within(self, tile: tuple[int, int]) -> tuple[Int, Int]:
        low, high = self.spans.get(tile, (0, 0))
        rows = self.order[low:high]
        return self.begin[rows], self.end[rows]


def _sorted(tiles: Int) -> tuple[Int, dict[tuple[int, int], tuple[int, int]]]:
    if len(tiles) == 0:
        return np.zeros(0, dtype=np.int64), {}
    order = np.lexsort((tiles[:, 1], tiles[:, 0]))
    ranked = tiles[order]
    cuts = np.flatnonzero((np.diff(ranked, axis=0) != 0).any(1)) + 1
    starts, stops = np.append(0, cuts), np.append(cuts, len(ranked))
    keys = [(int(x), int(y)) for x, y in ranked[starts]]
    return order, dict(zip(keys, zip(starts.tolist(), stops.tolist(), strict=True), strict=True))


def _look() -> tuple[NDArray[np.float32], NDArray[np.uint8], NDArray[np.uint8]]:
    blank = ((110, 110, 106), Label.GROUND, Texture.PLAIN)
    rows = [_SURFACES.get(kind, blank) for kind in LaneKind]
    colour, label, texture = zip(*rows, strict=True)
    return np.array(colour, np.float32), np.array(label, np.uint8), np.array(texture, np.uint8)


_LOOK = _look()


def _borders(lanes: LaneTable, rows: Int, left: float = 0.0) -> Float:
    """``[2, n, 3]`` left and right border of the lane at points, shifted by ``left`` metres."""
    normal = np.zeros((len(rows), 3))
    normal[:, 0], normal[:, 1] = -np.sin(lanes.heading[rows]), np.cos(lanes.heading[rows])
    half = lanes.width[rows, None] / 2.0
    centre = lanes.centre[rows]
    return np.stack([centre + normal * (half + left), centre + normal * (left - half)])


def _marks(lanes: LaneTable, begin: Int, end: Int, side: int, kinds: Code, colours: Code) -> Mesh:
    """Strips of paint along the left (1) or right (-1) border of pieces of lanes."""
    parts = []
    kind = kinds[begin]
    for number in np.unique(kind).tolist():
        here = kind == number
        for place, broken in _LINES.get(MarkKind(number), ()):
            a, b = begin[here], end[here]
            low, high = (_dashes(lanes, a, b)) if broken else (np.zeros(len(a)), np.ones(len(a)))
            drawn = high > low
            a, b, low, high = a[drawn], b[drawn], low[drawn], high[drawn]
            half = _HALF_CURB_M if number == MarkKind.CURB else _HALF_MARK_M
            rings = _strip(lanes, (a, b), side, place * _DOUBLE_M, half, (low, high))
            paint = np.where(colours[a, None] == MarkColour.YELLOW, YELLOW, WHITE)
            if number == MarkKind.CURB:
                parts.append(mesh_of(rings, CURB, Label.SIDEWALK))
            else:
                parts.append(mesh_of(rings, paint, Label.ROAD_LINE, texture=Texture.PAINT))
    return join(parts)


def _strip(
    lanes: LaneTable,
    rows: tuple[Int, Int],
    side: int,
    place: float,
    half: float,
    part: tuple[Float, Float],
) -> Float:
    """Rings ``[n, 4, 3]`` of strips between two rows of points, from share ``low`` to ``high`` of the way."""
    which = 0 if side > 0 else 1
    ends = []
    for offset in (place - half, place + half):
        a, b = (_borders(lanes, row, offset)[which] for row in rows)
        ends.append([a + share[:, None] * (b - a) for share in part])
    (right_a, right_b), (left_a, left_b) = ends
    rings = np.stack([right_a, right_b, left_b, left_a], axis=1)
    rings[..., 2] += PAINT_RAISE_M
    return rings


def _dashes(lanes: LaneTable, begin: Int, end: Int) -> tuple[Float, Float]:
    """Shares of each piece between which a dash lies; none where the second is not larger."""
    start, stop = lanes.arc[begin], lanes.arc[end]
    dash = np.floor(start / _PERIOD_M) * _PERIOD_M
    dash = np.where(start - dash >= _DASH_M, dash + _PERIOD_M, dash)
    low, high = np.maximum(start, dash), np.minimum(stop, dash + _DASH_M)
    span = np.maximum(stop - start, 1e-9)
    return (low - start) / span, (high - start) / span


def _stop_bars(lines: list[Float]) -> Mesh:
    if not lines:
        return EMPTY
    ends = np.stack(lines)
    along = ends[:, 1, :2] - ends[:, 0, :2]
    along /= np.linalg.norm(along, axis=1, keepdims=True) + 1e-9
    aside = np.zeros((len(ends), 3))
    aside[:, 0], aside[:, 1] = -along[:, 1], along[:, 0]
    shift = aside * _HALF_STOP_M
    left, right = ends[:, 0] + [0, 0, PAINT_RAISE_M], ends[:, 1] + [0, 0, PAINT_RAISE_M]
    rings = np.stack([left - shift, right - shift, right + shift, left + shift], axis=1)
    return mesh_of(_upward(rings), WHITE, Label.ROAD_LINE, texture=Texture.PAINT)


def _zebra(outline: Float) -> Mesh:
    """Stripes across the long side of a crosswalk with this outline ``[n, 3]``, on its plane."""
    (x, y), (length, width), angle = cv2.minAreaRect(outline[:, :2].astype(np.float32))
    angle = np.radians(angle)
    if width > length:
        length, width, angle = width, length, angle + np.pi / 2.0
    along = np.array([np.cos(angle), np.sin(angle)])
    aside = np.array([-along[1], along[0]]) * width / 2.0
    corner = np.array([x, y]) - along * length / 2.0
    starts = np.arange(0.25, length - 0.5, 1.0)[:, None]
    if len(starts) == 0:
        return EMPTY
    a, b = corner + along * starts, corner + along * (starts + 0.5)
    rings = np.stack([a - aside, b - aside, b + aside, a + aside], axis=1)
    design = np.column_stack([outline[:, :2] - [x, y], np.ones(len(outline))])
    plane = np.linalg.lstsq(design, outline[:, 2], rcond=None)[0]
    heights = (rings - [x, y]) @ plane[:2] + plane[2] + 1.5 * PAINT_RAISE_M
    return mesh_of(np.dstack([rings, heights]), WHITE, Label.ROAD_LINE, texture=Texture.PAINT)


def _upward(rings: Float) -> Float:
    """Rings ``[P, n, 3]`` turned so that they look up."""
    a, b = rings[:, 1] - rings[:, 0], rings[:, -1] - rings[:, 0]
    down = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0] < 0.0
    turned: Float = rings.copy()
    turned[down] = rings[down, ::-1]
    return turned


def heights_near(tree: cKDTree, heights: Float, points: Float) -> Float:
    """Heights ``[N]`` of points ``[N, 2]``, from their nearest neighbours weighted by distance."""
    count = min(4, len(heights))
    distance, found = tree.query(points, k=count)
    weight = 1.0 / (np.asarray(distance).reshape(len(points), count) ** 2 + 0.25)
    near = heights[np.asarray(found).reshape(len(points), count)]
    return np.asarray((weight * near).sum(1) / weight.sum(1))
