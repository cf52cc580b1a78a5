"""What stands still in a town, in tiles: built when a camera first comes near, kept while it stays."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from driveproof.geometry.arrays import Float, Float32, Int
from driveproof.maps import TownMap
from driveproof.render.buildings import blocks_mesh, town_blocks
from driveproof.render.labels import Label
from driveproof.render.light import Light
from driveproof.render.mesh import Mesh, join
from driveproof.render.raster import Lens
from driveproof.render.roads import Roads
from driveproof.render.terrain import CELL_M, COARSE_CELL_M, Terrain

TILE_M = 64.0
#: Tiles are drawn in detail to the first distance, and at all to the second, metres.
DETAIL_M, REACH_M = 110.0, 330.0
_RADIUS_M = TILE_M * 0.7072
_KEEP_TILES = 600
#: Lists of tiles are kept for places so far apart, and for so many places.
_STRIDE_M, _KEEP_VIEWS = 16.0, 256
#: A tile may be this much higher or lower than its middle, with its buildings, metres.
_TALL_M = 20.0

#: Roads that differ more in height are different levels, metres.
STOREY_M = 4.0

Key = tuple[int, int, bool]


@dataclass
class Part:
    """A mesh whose colours in the present light are kept."""

    mesh: Mesh
    _light: Light | None = None
    _colours: Float32 | None = None
    _normals: Float | None = None

    def colours(self, light: Light) -> Float32:
        """``[P, 3]`` colours of its polygons in this light, before fog."""
        if self._colours is None or self._light != light:
            if self._normals is None:
                self._normals = self.mesh.normals
            self._colours = light.lit(self.mesh.colour, self._normals, self.mesh.shines)
            self._light = light
        return self._colours


class Scenery:
    """The tiles of a town. Keeps at most ``_KEEP_TILES`` of them; the same town gives the same tiles."""

    def __init__(self, town: TownMap) -> None:
        self.town = town
        self.blocks = town_blocks(town)
        self._terrain = Terrain(town.lanes)
        self._roads = Roads(town, TILE_M)
        self._kept: OrderedDict[Key, Part] = OrderedDict()
        self._views: dict[tuple[int, int, float], tuple[Int, Float]] = {}
        self._block_tiles = self._roads.tile_of(self.blocks.poses)

    def height(self, x: float, y: float) -> float:
        """Height of the land near (x, y), metres."""
        return float(self._terrain.heights(np.array([[x, y]]))[0])

    def road_heights(self, points: Float, near_z: float | None = None) -> Float:
        """Heights ``[N]`` of the roads nearest to points ``[N, 2]``, on the level of ``near_z`` if there is one."""
        lanes = self.town.lanes
        distance, rows = self._road_points.query(points, k=min(8, len(lanes.centre)))
        heights = lanes.centre[np.asarray(rows).reshape(len(points), -1), 2]
        weight = 1.0 / (np.asarray(distance).reshape(heights.shape) ** 2 + 0.01)
        if near_z is not None:
            level = np.abs(heights - near_z) < STOREY_M
            weight = np.where(level | ~level.any(1, keepdims=True), weight, 0.0)
        return np.asarray((weight * heights).sum(1) / weight.sum(1))

    @cached_property
    def _road_points(self) -> cKDTree:
        return cKDTree(self.town.lanes.centre[:, :2], balanced_tree=False, compact_nodes=False)

    def seen_by(
        self, lens: Lens, detail: float = DETAIL_M, reach: float = REACH_M
    ) -> tuple[list[Part], float]:
        """The tiles in sight, the nearest first, and the height of the lowest one around (in sight or not)."""
        tiles, heights = self._around(float(lens.origin[0]), float(lens.origin[1]), reach)
        centres = np.column_stack([(tiles + 0.5) * TILE_M, heights])
        seen = lens.sees(centres, np.full(len(tiles), _RADIUS_M + _TALL_M))
        distance = np.hypot(centres[:, 0] - lens.origin[0], centres[:, 1] - lens.origin[1])
        order = np.flatnonzero(seen)[np.argsort(distance[seen], kind="stable")]
        keys = np.column_stack([tiles[order], distance[order] > detail]).tolist()
        return [self._part((i, j, bool(coarse))) for i, j, coarse in keys], float(heights.min())

    def _around(self, x: float, y: float, reach: float) -> tuple[Int, Float]:
        """Tiles ``[n, 2]`` within ``reach`` metres of a point near (x, y), and their heights ``[n]``; kept."""
        key = (round(x / _STRIDE_M), round(y / _STRIDE_M), reach)
        if key not in self._views:
            if len(self._views) >= _KEEP_VIEWS:
                self._views.pop(next(iter(self._views)))
            tiles = self._tiles_around(np.array([key[0] * _STRIDE_M, key[1] * _STRIDE_M]), reach)
            self._views[key] = (
                tiles,
                self._terrain.heights(np.asarray((tiles + 0.5) * TILE_M, dtype=np.float64)),
            )
        return self._views[key]

    def ground_around(self, x: float, y: float, reach: float, z: float) -> list[Mesh]:
        """Land, roads and marks within ``reach`` metres in detail, without buildings and without what crosses high above ``z``."""
        meshes = []
        for i, j in self._tiles_around(np.array([x, y]), reach + _RADIUS_M).tolist():
            mesh = self._part((i, j, False)).mesh
            low = np.minimum.reduceat(mesh.corners[:, 2], mesh.first[:-1])
            meshes.append(mesh.where((mesh.label != Label.BUILDING) & (low < z + STOREY_M)))
        return meshes

    def _tiles_around(self, origin: Float, reach: float) -> Int:
        low = np.floor((origin[:2] - reach) / TILE_M).astype(int)
        high = np.floor((origin[:2] + reach) / TILE_M).astype(int)
        i, j = np.meshgrid(
            np.arange(low[0], high[0] + 1), np.arange(low[1], high[1] + 1), indexing="ij"
        )
        tiles = np.column_stack([i.ravel(), j.ravel()])
        middle = (tiles + 0.5) * TILE_M
        near = np.linalg.norm(middle - origin[:2], axis=1) < reach
        return np.asarray(tiles[near | (len(tiles) == 1)], dtype=np.int64)

    def _part(self, key: Key) -> Part:
        if key in self._kept:
            self._kept.move_to_end(key)
        else:
            self._kept[key] = Part(self._build(key))
            if len(self._kept) > _KEEP_TILES:
                self._kept.popitem(last=False)
        return self._kept[key]

    def _build(self, key: Key) -> Mesh:
        tile, coarse = (key[0], key[1]), key[2]
        members = np.flatnonzero((self._block_tiles == tile).all(1))
        parts = [self._ground(tile, coarse=coarse), blocks_mesh(self.blocks, members)]
        if not coarse:
            parts.append(self._roads.marks(tile))
        return join(parts)

    def _ground(self, tile: tuple[int, int], *, coarse: bool) -> Mesh:
        cell = COARSE_CELL_M if coarse else CELL_M
        land = self._terrain.tile(tile, TILE_M, cell)
        return join([self._roads.surfaces(tile, coarse=coarse), land])


_SCENERIES: OrderedDict[str, Scenery] = OrderedDict()
_KEEP_TOWNS = 2


def scenery_of(town: TownMap) -> Scenery:
    """The scenery of a town, kept for the towns used last."""
    if town.digest not in _SCENERIES:
        _SCENERIES[town.digest] = Scenery(town)
        while len(_SCENERIES) > _KEEP_TOWNS:
            _SCENERIES.popitem(last=False)
    _SCENERIES.move_to_end(town.digest)
    return _SCENERIES[town.digest]
