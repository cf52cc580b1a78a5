"""How high the ground lies: the lanes' surface, on several levels where a bridge crosses a road.

Heights are tabled on a grid, tile by tile as somebody comes near, so that a look-up for all vehicles is a few
array operations. Beside the roads the land lies as high as the nearest lane.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Protocol

import numba
import numpy as np
from scipy.ndimage import zoom
from scipy.spatial import cKDTree

from driveproof.geometry.arrays import Float, Float32, Int
from driveproof.maps import TownMap

#: Metres between grid nodes, cells along a tile, and how many surfaces may lie above each other.
CELL_M, TILE, LEVELS = 2.0, 32, 3
#: Surfaces closer than this in height are one.
LEVEL_GAP_M = 2.5
#: A lane's surface is known this far beyond its border, so that cells on the border are whole.
MARGIN_M = 3.0
#: The grid reaches this far beyond the town; further out the land is as high as at its edge.
BEYOND_M = 128.0
#: Beside the roads heights are known on every eighth node.
_COARSE = 8

_SIDE = TILE + 1


class Ground(Protocol):
    """Anything that knows heights."""

    def surface(self, x: Float, y: Float, near_z: Float) -> tuple[Float, Float, Float]:
        """Height ``[N]`` of the surface nearest to ``near_z`` ``[N]`` at ``x``, ``y`` ``[N]``, and its slopes along x and y."""
        ...


class FlatGround:
    """A plain at height ``z``."""

    def __init__(self, z: float = 0.0) -> None:
        self._z = z

    def surface(self, x: Float, y: Float, near_z: Float) -> tuple[Float, Float, Float]:
        """The plain."""
        none = np.zeros_like(x)
        return none + self._z, none, none


class LaneGround:
    """The surface that a town's lanes span."""

    def __init__(self, town: TownMap) -> None:
        self._lanes = town.lanes
        low = self._lanes.centre[:, :2].min(0) - BEYOND_M
        high = self._lanes.centre[:, :2].max(0) + BEYOND_M
        self._low = low
        self._tiles = np.ceil((high - low) / (CELL_M * TILE)).astype(np.int64)
        self._end = self._tiles * TILE - 1e-6
        self._index = np.full(self._tiles, -1, dtype=np.int64)
        # single precision halves what a large town takes, and is a thirtieth of a millimetre at 400 m
        self._heights: Float32 = np.zeros((0, _SIDE, _SIDE, LEVELS), dtype=np.float32)
        self._count = 0

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self._lanes.centre[:, :2], balanced_tree=False, compact_nodes=False)

    @cached_property
    def _slope(self) -> Float:
        """``[P]`` rise per metre along each lane at its points."""
        lanes = self._lanes
        rise = np.diff(lanes.centre[:, 2], append=lanes.centre[-1, 2])
        run = np.diff(lanes.arc, append=lanes.arc[-1])
        ends = lanes.offset[1:] - 1
        ahead = np.where(run > 0.2, rise / np.maximum(run, 0.2), 0.0)
        ahead[ends] = ahead[np.maximum(ends - 1, 0)]
        return np.clip(ahead, -0.5, 0.5)

    def surface(self, x: Float, y: Float, near_z: Float) -> tuple[Float, Float, Float]:
        """See :class:`Ground`. Within a cell the surface is bilinear; each corner takes its level nearest to ``near_z``."""
        count = len(x)
        place = np.empty((count, 2), dtype=np.int64)
        z, slope_x, slope_y = np.empty(count), np.empty(count), np.empty(count)
        arrays = (x, y, near_z, self._low, self._end, self._index, self._heights)
        if not _look_up(*arrays, place, z, slope_x, slope_y):
            self._build(place[:, 0], place[:, 1])
            arrays = (*arrays[:-1], self._heights)
            _look_up(*arrays, place, z, slope_x, slope_y)
        return z, slope_x, slope_y

    def _build(self, tile_x: Int, tile_y: Int) -> None:
        for key in sorted(set(zip(tile_x.tolist(), tile_y.tolist(), strict=True))):
            if self._index[key] < 0:
                if self._count == len(
                    self._heights
                ):  # doubled: large towns have thousands of tiles
                    shape = (max(self._count, 16), *self._heights.shape[1:])
                    room = np.zeros(shape, dtype=np.float32)
                    self._heights = np.concatenate([self._heights, room])
                self._heights[self._count] = self._tile(*key)
                self._index[key] = self._count
                self._count += 1

    def _tile(self, tile_x: int, tile_y: int) -> Float:
        """Levels ``[side, side, LEVELS]`` of one tile's nodes, x first; missing levels repeat the first."""
        lanes, side = self._lanes, CELL_M * TILE
        origin = self._low + np.array([tile_x, tile_y]) * side
        around = side / math.sqrt(2.0) + self._reach.max()
        near = np.array(sorted(self._tree.query_ball_point(origin + side / 2.0, around)), dtype=int)
        levels = np.repeat(self._far_heights(origin)[..., None], LEVELS, axis=2)
        _spread(
            (lanes.centre[near] - [*origin, 0.0]) / [CELL_M, CELL_M, 1.0],
            lanes.heading[near],
            self._slope[near],
            self._reach[near] / CELL_M,
            levels,
        )
        return levels

    def _far_heights(self, origin: Float) -> Float:
        """``[side, side]`` heights of the nearest lanes, known on every eighth node only: enough beside the roads."""
        at = np.arange(0, TILE + 1, _COARSE) * CELL_M
        nodes = np.stack(np.meshgrid(origin[0] + at, origin[1] + at, indexing="ij"), axis=-1)
        _, rows = self._tree.query(nodes.reshape(-1, 2))
        coarse = self._lanes.centre[rows, 2].reshape(len(at), len(at))
        return np.asarray(zoom(coarse, (_SIDE / len(at),) * 2, order=1, grid_mode=False))

    @cached_property
    def _reach(self) -> Float:
        """``[P]`` how far from each point its lane's surface counts, metres."""
        return np.asarray(np.clip(self._lanes.width / 2.0, 1.0, 10.0) + MARGIN_M)


@numba.njit(nogil=True, cache=True)
def _spread(points: Float, heading: Float, slope: Float, reach: Float, levels: Float) -> None:
    """Overwrite ``levels`` ``[side, side, LEVELS]`` where lanes are near.

    ``points`` ``[P, 3]`` are lane centres (x and y in cells from the first node, z in metres), ``slope`` their rise a
    metre along ``heading``, ``reach`` how many cells far they count. A level of a node is that of its nearest point
    which is not of a level before, the mean of all points at about that height, near ones weighing more.
    """
    side = levels.shape[0]
    head, nearest = np.empty((side, side)), np.empty((side, side))
    total, weight = np.empty((side, side)), np.empty((side, side))
    known = np.zeros((side, side), dtype=np.int64)
    for level in range(LEVELS):
        nearest[:], total[:], weight[:] = np.inf, 0.0, 0.0
        for is_mean in (False, True):
            for k in range(len(points)):
                x, y, far = points[k, 0], points[k, 1], reach[k]
                cos, sin = math.cos(heading[k]), math.sin(heading[k])
                for i in range(max(math.ceil(x - far), 0), min(int(x + far) + 1, side)):
                    for j in range(max(math.ceil(y - far), 0), min(int(y + far) + 1, side)):
                        dx, dy = i - x, j - y
                        gap = dx * dx + dy * dy
                        if gap > far * far or known[i, j] < level:
                            continue
                        along = min(max((dx * cos + dy * sin) * CELL_M, -2.0), 2.0)
                        z = points[k, 2] + slope[k] * along
                        if is_mean:
                            if abs(z - head[i, j]) < LEVEL_GAP_M / 2.0:
                                share = 1.0 / (0.0125 + gap) ** 2
                                total[i, j] += share * z
                                weight[i, j] += share
                        elif gap < nearest[i, j]:
                            new = True
                            for old in range(level):
                                new = new and abs(z - levels[i, j, old]) >= LEVEL_GAP_M
                            if new:
                                nearest[i, j], head[i, j] = gap, z
        for i in range(side):
            for j in range(side):
                if nearest[i, j] < np.inf:
                    known[i, j] = level + 1
                    levels[i, j, level:] = total[i, j] / weight[i, j]


@numba.njit(nogil=True, cache=True)
def _look_up(
    x: Float,
    y: Float,
    near_z: Float,
    low: Float,
    end: Float,
    index: Int,
    heights: Float32,
    place: Int,
    z: Float,
    slope_x: Float,
    slope_y: Float,
) -> bool:
    """Fill ``z`` and the slopes ``[N]``; False if tiles are missing, which ``place`` ``[N, 2]`` then names."""
    whole = True
    corner = np.empty(4)
    for k in range(len(x)):
        u = min(max((x[k] - low[0]) / CELL_M, 0.0), end[0])
        v = min(max((y[k] - low[1]) / CELL_M, 0.0), end[1])
        i, j = int(u), int(v)
        place[k, 0], place[k, 1] = i // TILE, j // TILE
        tile = index[i // TILE, j // TILE]
        if tile < 0:
            whole = False
            continue
        u, v = u - i, v - j
        for c in range(4):
            levels = heights[tile, i % TILE + c % 2, j % TILE + c // 2]
            best = levels[0]
            for level in range(1, LEVELS):
                if abs(levels[level] - near_z[k]) < abs(best - near_z[k]):
                    best = levels[level]
            corner[c] = best
        south, north = corner[1] - corner[0], corner[3] - corner[2]
        west = corner[2] - corner[0]
        rise = west + u * (north - south)
        z[k] = corner[0] + u * south + v * rise
        slope_x[k] = (south + v * (north - south)) / CELL_M
        slope_y[k] = rise / CELL_M
    return whole
