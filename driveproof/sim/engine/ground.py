"""How high the ground lies: the lanes' surface, on several levels where a bridge crosses a road.

Heights are tabled on a grid, tile by tile as somebody comes near, so that a look-up for all vehicles is a few
array operations. Beside the roads the land lies as high as the nearest lane.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numba
import numpy as np
from scipy.spatial import cKDTree

from driveproof.geometry.arrays import Float, Int
from driveproof.maps import TownMap

#: Metres between grid nodes, cells along a tile, and how many surfaces may lie above each other.
CELL_M, TILE, LEVELS = 2.0, 32, 3
#: Surfaces closer than this in height are one.
LEVEL_GAP_M = 2.5
#: A lane's surface is known this far beyond its border, so that cells on the border are whole.
MARGIN_M = 3.0
#: The grid reaches this far beyond the town; further out the land is as high as at its edge.
BEYOND_M = 128.0
NEIGHBOURS = 32

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
        self._heights = np.zeros((0, _SIDE, _SIDE, LEVELS))

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
                self._index[key] = len(self._heights)
                # a few hundred tiles at most are ever visited: growing by one is cheap enough
                self._heights = np.concatenate([self._heights, self._tile(*key)[None]])

    def _tile(self, tile_x: int, tile_y: int) -> Float:
        """Levels ``[side, side, LEVELS]`` of one tile's nodes, x first; missing levels repeat the first."""
        lanes = self._lanes
        at = np.arange(_SIDE) * CELL_M
        gx, gy = np.meshgrid(
            self._low[0] + tile_x * CELL_M * TILE + at,
            self._low[1] + tile_y * CELL_M * TILE + at,
            indexing="ij",
        )
        nodes = np.stack([gx.ravel(), gy.ravel()], axis=1)
        count = min(NEIGHBOURS, len(lanes.centre))
        found, near = self._tree.query(nodes, k=count)
        distance = np.asarray(found).reshape(len(nodes), count)
        rows = np.asarray(near).reshape(len(nodes), count)
        delta = nodes[:, None] - lanes.centre[rows, :2]
        heading = lanes.heading[rows]
        along = delta[..., 0] * np.cos(heading) + delta[..., 1] * np.sin(heading)
        z = lanes.centre[rows, 2] + self._slope[rows] * np.clip(along, -2.0, 2.0)
        inside = distance < np.maximum(lanes.width[rows] / 2.0, 1.0) + MARGIN_M
        inside[:, 0] = True
        weight = np.where(inside, 1.0 / (0.05 + distance**2) ** 2, 0.0)
        levels = np.empty((LEVELS, len(nodes)))
        for level in range(LEVELS):
            is_there = weight.max(1) > 0.0
            head = np.take_along_axis(z, weight.argmax(1)[:, None], 1)
            share = np.where(np.abs(z - head) < LEVEL_GAP_M / 2.0, weight, 0.0)
            mean = (share * z).sum(1) / np.where(is_there, share.sum(1), 1.0)
            levels[level] = np.where(is_there, mean, levels[0])
            weight = np.where(np.abs(z - head) < LEVEL_GAP_M, 0.0, weight)
        return levels.T.reshape(_SIDE, _SIDE, LEVELS)


@numba.njit(nogil=True, cache=True)
def _look_up(
    x: Float,
    y: Float,
    near_z: Float,
    low: Float,
    end: Float,
    index: Int,
    heights: Float,
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
