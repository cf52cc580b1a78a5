"""How high the ground lies: the lanes' surface, on several levels where a bridge crosses a road.

Heights are tabled on a grid, tile by tile as somebody comes near, so that a look-up for all vehicles is a few
array operations. Beside the roads the land lies as high as the nearest lane.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.spatial import cKDTree

from driveproof.geometry.arrays import Float, Int
from driveproof.maps import TownMap

#: Metres between grid nodes, cells along a tile, and how many surfaces may lie above each other.
CELL_M, TILE, LEVELS = 2.0, 32, 3
_TILE_BITS = TILE.bit_length() - 1  # TILE is a power of two, so that tiles are found by shifting
#: Surfaces closer than this in height are one.
LEVEL_GAP_M = 2.5
#: A lane's surface is known this far beyond its border, so that cells on the border are whole.
MARGIN_M = 3.0
#: The grid reaches this far beyond the town; further out the land is as high as at its edge.
BEYOND_M = 128.0
NEIGHBOURS = 32

_SIDE = TILE + 1
_CORNERS = np.array([0, 1, _SIDE, _SIDE + 1])


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
        self._heights = np.zeros((LEVELS, 0))
        self._is_layered = np.zeros(0, dtype=bool)

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
        u = np.minimum(np.maximum((x - self._low[0]) / CELL_M, 0.0), self._end[0])
        v = np.minimum(np.maximum((y - self._low[1]) / CELL_M, 0.0), self._end[1])
        i, j = u.astype(np.int64), v.astype(np.int64)
        tile_x, tile_y = i >> _TILE_BITS, j >> _TILE_BITS
        place = self._index[tile_x, tile_y]
        if len(place) and place.min() < 0:
            self._build(tile_x, tile_y)
            place = self._index[tile_x, tile_y]
        first = place * (_SIDE * _SIDE) + (j & (TILE - 1)) * _SIDE + (i & (TILE - 1))
        nodes = first[:, None] + _CORNERS
        heights = self._heights
        h = heights[0].take(nodes)
        if self._is_layered[place].any():
            gap = np.abs(h - near_z[:, None])
            for level in heights[1:]:
                other = level.take(nodes)
                away = np.abs(other - near_z[:, None])
                nearer = away < gap
                h, gap = np.where(nearer, other, h), np.where(nearer, away, gap)
        u -= i
        v -= j
        south_west = h[:, 0]
        low, high = h[:, 1] - south_west, h[:, 3] - h[:, 2]
        rise = h[:, 2] + u * high - south_west - u * low
        slope = (low + v * (high - low)) / CELL_M
        return south_west + u * low + v * rise, slope, rise / CELL_M

    def _build(self, tile_x: Int, tile_y: Int) -> None:
        for key in sorted(set(zip(tile_x.tolist(), tile_y.tolist(), strict=True))):
            if self._index[key] < 0:
                self._index[key] = len(self._is_layered)
                levels = self._tile(*key)
                # a few hundred tiles at most are ever visited: growing by one is cheap enough
                self._heights = np.concatenate([self._heights, levels], axis=1)
                self._is_layered = np.append(
                    self._is_layered, bool((levels[1:] != levels[0]).any())
                )

    def _tile(self, tile_x: int, tile_y: int) -> Float:
        """Levels ``[LEVELS, side * side]`` of one tile's nodes, x fastest; missing levels repeat the first."""
        lanes = self._lanes
        at = np.arange(_SIDE) * CELL_M
        gx, gy = np.meshgrid(
            self._low[0] + tile_x * CELL_M * TILE + at, self._low[1] + tile_y * CELL_M * TILE + at
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
        return levels
