"""The land around the roads: a grid that follows them a little below, and a plain to the horizon."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from driveproof.geometry.arrays import Float
from driveproof.maps import LaneKind, LaneTable
from driveproof.render.labels import Label, Texture
from driveproof.render.mesh import Mesh, mesh_of

GRASS = (104, 118, 82)
#: Side of a cell near by and far away; the land lies at least so far below a road; metres.
CELL_M, COARSE_CELL_M, DROP_M = 8.0, 16.0, 0.05
#: A corner of the grid lies no higher than any road within this distance, metres.
_ROOM_M = 13.0
_FAR_M, _SECTORS = 6000.0, 24


@dataclass(frozen=True)
class Terrain:
    """Heights of the land of a town."""

    lanes: LaneTable

    @cached_property
    def _places(self) -> tuple[cKDTree, Float]:
        lanes = self.lanes
        solid = (lanes.kind != LaneKind.NONE)[lanes.lane_of_point]
        points = lanes.centre[solid]
        tree = cKDTree(points[:, :2], balanced_tree=False, compact_nodes=False)
        return tree, points[:, 2]

    def heights(self, points: Float) -> Float:
        """Height ``[N]`` of the land at grid corners ``[N, 2]``."""
        tree, heights = self._places
        count = min(48, len(heights))
        distance, found = tree.query(points, k=count)
        distance = np.asarray(distance).reshape(len(points), count)
        near = heights[np.asarray(found).reshape(len(points), count)]
        weight = 1.0 / (distance**2 + 1.0)
        smooth = (weight * near).sum(1) / weight.sum(1)
        lowest = np.where(distance < _ROOM_M, near, np.inf).min(axis=1)
        return np.asarray(np.minimum(smooth, lowest) - DROP_M)

    def tile(self, tile: tuple[int, int], side: float, cell: float) -> Mesh:
        """The land of one square tile, two triangles a cell."""
        steps = np.arange(round(side / cell) + 1) * cell
        x, y = np.meshgrid(tile[0] * side + steps, tile[1] * side + steps, indexing="ij")
        flat = np.column_stack([x.ravel(), y.ravel()])
        grid = np.column_stack([flat, self.heights(flat)]).reshape(*x.shape, 3)
        a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
        halves = [np.stack(ring, axis=2).reshape(-1, 3, 3) for ring in ((a, b, c), (a, c, d))]
        return mesh_of(np.concatenate(halves), GRASS, Label.TERRAIN, texture=Texture.GRASS)


def plain(centre: Float, height: float, hole_m: float) -> Mesh:
    """A ring of land from ``hole_m`` metres around ``centre`` ``[2]`` to the horizon."""
    angle = np.linspace(0.0, 2.0 * np.pi, _SECTORS + 1)
    spoke = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    inner, outer = centre + hole_m * spoke, centre + _FAR_M * spoke
    rings = np.stack([inner[:-1], outer[:-1], outer[1:], inner[1:]], axis=1)
    corners = np.dstack([rings, np.full(rings.shape[:2], height)])
    return mesh_of(corners, GRASS, Label.TERRAIN, texture=Texture.GRASS)
