"""The ground of a town, drawn from above once for each place and then seen through homographies."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
import shapely
from numpy.typing import NDArray

from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.maps import LaneKind, LaneTable, MarkColour, MarkKind, SignalKind, TownMap
from driveproof.render.buildings import Buildings, build_blocks

Image = NDArray[np.uint8]

#: Pixels a metre of the finest level; side of a canvas and distance between canvas centres, metres.
PX_PER_M = 8
SIDE_M = 240
GRID_M = 60
#: Levels of half, quarter, ... resolution for what is far away.
LEVELS = 4
#: Lanes further above or below than this belong to another level of the town, metres, and are not
#: drawn at all beyond the second distance.
STOREY_M, _SLOPE_M = 5.0, 25.0
_KEEP = 4
_SHIFT = 4  # fractional bits of OpenCV's coordinates

GRASS = (104, 116, 84)
PAINT = (226, 226, 222)
YELLOW = (222, 178, 60)
# Drawn in this order.
_SURFACES = {
    LaneKind.MEDIAN: (110, 120, 92),
    LaneKind.BORDER: (118, 116, 110),
    LaneKind.SIDEWALK: (158, 154, 148),
    LaneKind.SHOULDER: (104, 104, 104),
    LaneKind.RESTRICTED: (92, 92, 94),
    LaneKind.BIKING: (104, 74, 66),
    LaneKind.PARKING: (84, 84, 90),
    LaneKind.BIDIRECTIONAL: (72, 73, 77),
    LaneKind.DRIVING: (72, 73, 77),
}
_DASH_M, _PERIOD_M, _MARK_M = 3.0, 6.0, 0.15
_SLIT_M = 2.5


@dataclass(frozen=True)
class Canvas:
    """The ground around ``centre`` ``[2]`` in several resolutions; row 0 is north, column 0 is west."""

    centre: Float
    levels: tuple[Image, ...]

    def from_world(self, level: int) -> Float:
        """``[3, 3]`` from world (x, y, 1) to the pixels of a level (pixel centres at whole numbers)."""
        scale = PX_PER_M / 2.0**level
        half = SIDE_M / 2.0
        return np.array(
            [
                [scale, 0.0, scale * (half - self.centre[0]) - 0.5],
                [0.0, -scale, scale * (half + self.centre[1]) - 0.5],
                [0.0, 0.0, 1.0],
            ]
        )


class Ground:
    """Draws and keeps the ground of a town. Holds at most four canvases (about 15 MB each)."""

    def __init__(self, town: TownMap) -> None:
        self.town = town
        self._kept: OrderedDict[tuple[int, int, int], Canvas] = OrderedDict()
        self._asked = (float("nan"), float("nan"), 0.0)

    @cached_property
    def buildings(self) -> Buildings:
        """Blocks beside the sidewalks."""
        return build_blocks(self.town.lanes)

    @cached_property
    def _bounds(self) -> Float:
        """``[L, 5]`` west, south, east, north, mean height of each lane, borders included."""
        lanes = self.town.lanes
        first = lanes.offset[:-1]
        reach = np.maximum.reduceat(lanes.width, first) / 2.0
        low = np.minimum.reduceat(lanes.centre[:, :2], first) - reach[:, None]
        high = np.maximum.reduceat(lanes.centre[:, :2], first) + reach[:, None]
        height = np.add.reduceat(lanes.centre[:, 2], first) / np.diff(lanes.offset)
        return np.column_stack([low, high, height])

    def around(self, x: float, y: float, z: float | None = None) -> Canvas:
        """The canvas that shows at least 90 m around (x, y) on the level at height z (the nearest lane's)."""
        if z is None:
            z = self._height(x, y)
        key = (round(x / GRID_M), round(y / GRID_M), round(z / STOREY_M))
        if key in self._kept:
            self._kept.move_to_end(key)
        else:
            self._kept[key] = self._draw(key)
            if len(self._kept) > _KEEP:
                self._kept.popitem(last=False)
        return self._kept[key]

    def _height(self, x: float, y: float) -> float:
        if self._asked[:2] != (x, y):
            lanes = self.town.lanes
            match = self.town.nearest_lane([x, y])
            part = lanes.points(int(match.lane[0]))
            z = float(np.interp(match.arc[0], lanes.arc[part], lanes.centre[part, 2]))
            self._asked = (x, y, z)
        return self._asked[2]

    def _draw(self, key: tuple[int, int, int]) -> Canvas:
        centre = np.array(key[:2], dtype=np.float64) * GRID_M
        side = SIDE_M * PX_PER_M
        image: Image = np.empty((side, side, 3), dtype=np.uint8)
        image[:] = GRASS
        brush = _Brush(image, Canvas(centre, (image,)).from_world(0))
        members, apart = self._lanes_near(centre, key[2] * STOREY_M)
        # What lies on another level first: a bridge must not cover the road that one drives on.
        self._draw_lanes(brush, members[apart])
        self._draw_lanes(brush, members[~apart])
        self._draw_crossings(brush, centre)
        levels = [image]
        while len(levels) < LEVELS:
            half = levels[-1].shape[0] // 2
            smaller = cv2.resize(levels[-1], (half, half), interpolation=cv2.INTER_AREA)
            levels.append(np.asarray(smaller, dtype=np.uint8))
        return Canvas(centre, tuple(levels))

    def _draw_lanes(self, brush: _Brush, members: Int) -> None:
        lanes = self.town.lanes
        for kind, colour in _SURFACES.items():
            if kind is LaneKind.DRIVING:
                for outline in self._paved(members):
                    brush.fill(outline, colour)
            for lane in members[lanes.kind[members] == kind].tolist():
                ring = [lanes.border(lane, 1)[:, :2], lanes.border(lane, -1)[::-1, :2]]
                brush.fill(np.concatenate(ring), colour)
        for lane in members.tolist():
            _draw_marks(brush, lanes, lane)

    def _lanes_near(self, centre: Float, height: float) -> tuple[Int, Bool]:
        """Lanes on the canvas, and which of them lie on another level."""
        low, high, at = self._bounds[:, :2], self._bounds[:, 2:4], self._bounds[:, 4]
        inside = (high > centre - SIDE_M / 2).all(1) & (low < centre + SIDE_M / 2).all(1)
        members = np.flatnonzero(inside & (np.abs(at - height) < _SLOPE_M))
        return members, np.asarray(np.abs(at[members] - height) > STOREY_M)

    def _paved(self, members: Int) -> list[Float]:
        """Outlines of junctions: the slits between their lanes are paved too."""
        lanes, rings = self.town.lanes, []
        for key in np.unique(lanes.junction[members]).tolist():
            if key in self.town.junctions:
                shapes = [_surface(lanes, lane) for lane in self.town.junctions[key].lanes]
                closed = shapely.union_all(shapes).buffer(_SLIT_M).buffer(-_SLIT_M)
                parts = shapely.get_parts(closed)
                rings += [np.asarray(part.exterior.coords)[:, :2] for part in parts]
        return rings

    def _draw_crossings(self, brush: _Brush, centre: Float) -> None:
        for outline in self.town.crosswalks:
            if np.abs(outline[:, :2].mean(0) - centre).max() < SIDE_M / 2:
                for stripe in _zebra(outline[:, :2]):
                    brush.fill(stripe, PAINT)
        for signal in self.town.signals:
            if signal.kind is SignalKind.SPEED_LIMIT:
                continue
            for line in signal.stop_lines:
                if np.abs(line[0, :2] - centre).max() < SIDE_M / 2:
                    brush.line(line[:, :2], PAINT, 0.4)


def _surface(lanes: LaneTable, lane: int) -> shapely.Geometry:
    ring = np.concatenate([lanes.border(lane, 1)[:, :2], lanes.border(lane, -1)[::-1, :2]])
    return shapely.Polygon(ring).buffer(0.05)


class _Brush:
    """Draws in world coordinates on a canvas."""

    def __init__(self, image: Image, from_world: Float) -> None:
        self._image = image
        self._matrix = from_world
        self._scale = from_world[0, 0]

    def _pixels(self, points: Float) -> NDArray[np.int32]:
        pixels = points @ self._matrix[:2, :2].T + self._matrix[:2, 2]
        return np.asarray(np.round(pixels * 2**_SHIFT), dtype=np.int32)

    def fill(self, ring: Float, colour: tuple[int, int, int]) -> None:
        cv2.fillPoly(self._image, [self._pixels(ring)], colour, cv2.LINE_8, _SHIFT)

    def line(self, points: Float, colour: tuple[int, int, int], width: float) -> None:
        thickness = max(1, round(width * self._scale))
        cv2.polylines(
            self._image, [self._pixels(points)], False, colour, thickness, cv2.LINE_AA, _SHIFT
        )


def _draw_marks(brush: _Brush, lanes: LaneTable, lane: int) -> None:
    """The lane's own (outer) mark, and the middle one where it is the innermost lane."""
    part = lanes.points(lane)
    sides = [(-1, lanes.right_mark, lanes.right_colour)]
    if not lanes.left_same[lane]:
        sides.append((1, lanes.left_mark, lanes.left_colour))
    for side, marks, colours in sides:
        kinds = marks[part]
        if not kinds.any():
            continue
        border = lanes.border(lane, side)[:, :2]
        edges = np.flatnonzero(np.diff(kinds)) + 1
        for begin, end in zip([0, *edges], [*edges, len(kinds)], strict=True):
            stretch = slice(begin, min(end + 1, len(kinds)))
            colour = YELLOW if colours[part][begin] == MarkColour.YELLOW else PAINT
            _draw_mark(
                brush,
                MarkKind(int(kinds[begin])),
                border[stretch],
                lanes.arc[part][stretch],
                colour,
            )


def _draw_mark(
    brush: _Brush, kind: MarkKind, border: Float, arc: Float, colour: tuple[int, int, int]
) -> None:
    if kind in {MarkKind.NONE, MarkKind.OTHER, MarkKind.GRASS} or len(border) < 2:
        return
    if kind is MarkKind.CURB:
        brush.line(border, (136, 132, 126), 0.25)
    elif kind in {MarkKind.BROKEN, MarkKind.BROKEN_BROKEN, MarkKind.BOTTS_DOTS}:
        for start in np.arange(np.ceil(arc[0] / _PERIOD_M) * _PERIOD_M, arc[-1], _PERIOD_M):
            s = np.array([start, min(start + _DASH_M, arc[-1])])
            dash = np.stack([np.interp(s, arc, border[:, k]) for k in (0, 1)], axis=1)
            brush.line(dash, colour, _MARK_M)
    else:
        double = kind is not MarkKind.SOLID
        brush.line(border, colour, _MARK_M * (3.0 if double else 1.0))
        if double:
            brush.line(border, _SURFACES[LaneKind.DRIVING], _MARK_M)


def _zebra(outline: Float) -> list[Float]:
    """Stripes ``[4, 2]`` across the long side of a crosswalk."""
    (x, y), (length, width), angle = cv2.minAreaRect(outline.astype(np.float32))
    angle = np.radians(angle)
    if width > length:
        length, width, angle = width, length, angle + np.pi / 2.0
    along = np.array([np.cos(angle), np.sin(angle)])
    aside = np.array([-along[1], along[0]]) * width / 2.0
    corner = np.array([x, y]) - along * length / 2.0
    stripes = []
    for start in np.arange(0.25, length - 0.5, 1.0):
        a, b = corner + along * start, corner + along * (start + 0.5)
        stripes.append(np.array([a - aside, b - aside, b + aside, a + aside]))
    return stripes
