"""The ground around a sensor as a grid of heights and labels, drawn from above by the cameras' raster."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from driveproof.geometry.arrays import Float, Float32
from driveproof.render.labels import Label
from driveproof.render.mesh import join
from driveproof.render.raster import Lens, Raster
from driveproof.render.scenery import Scenery

#: Nodes are this far apart, but no more than so many a side; a patch serves until a sensor has moved so far.
CELL_M, MAX_NODES, SLACK_M = 0.5, 900, 30.0
_ABOVE_M = 3000.0
_SLOPE_OVER_M, _STEEPEST = 4.0, 0.35


@dataclass(frozen=True)
class Patch:
    """Heights and labels ``[rows, columns]``, row 0 in the south; ``corner`` ``[2]`` is node (0, 0)."""

    centre: Float
    reach: float
    corner: Float
    cell: float
    heights: Float32
    labels: NDArray[np.uint8]

    @cached_property
    def steepest(self) -> float:
        """Rise per metre that the ground does not exceed, but for bumps and cliffs."""
        stride = max(1, round(_SLOPE_OVER_M / self.cell))
        coarse = self.heights[::stride, ::stride]
        rise = max(float(np.abs(np.diff(coarse, axis=axis)).max(initial=0.0)) for axis in (0, 1))
        return min(rise / (stride * self.cell) + 0.02, _STEEPEST)

    def serves(self, point: Float, reach: float) -> bool:
        """Whether it still covers ``reach`` metres around ``point`` ``[3]`` on its level."""
        moved = float(np.linalg.norm(point[:2] - self.centre[:2]))
        level = abs(float(point[2] - self.centre[2])) < 0.2 * SLACK_M
        return level and moved + reach <= self.reach

    def labels_at(self, points: Float) -> NDArray[np.uint8]:
        """Labels ``[N]`` of the ground at points ``[N, 2 or 3]``."""
        place = np.round((points[:, :2] - self.corner) / self.cell).astype(np.int64)
        place = np.clip(place, 0, np.array(self.labels.shape[::-1]) - 1)
        return self.labels[place[:, 1], place[:, 0]]


def patch_around(scenery: Scenery, point: Float, reach: float) -> Patch:
    """The ground within ``reach`` metres of ``point`` ``[3]`` and somewhat beyond."""
    reach = reach + SLACK_M
    cell = max(CELL_M, 2.0 * reach / MAX_NODES)
    side = round(2.0 * reach / cell) + 1
    corner = point[:2] - (side - 1) * cell / 2.0
    # A lens that looks down from very high: pixels are nodes, the picture's up is north.
    axes = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
    middle = corner + (side - 1) * cell / 2.0
    base = float(scenery.road_heights(middle[None], point[2])[0])
    lens = Lens(np.append(middle, base + _ABOVE_M), axes, _ABOVE_M / cell, side, side)
    mesh = join(
        scenery.ground_around(float(middle[0]), float(middle[1]), 1.5 * reach, float(point[2]))
    )
    raster = Raster(lens)
    raster.draw(mesh)
    known = raster.inverse > 0.0
    depth = np.where(known, 1.0 / np.maximum(raster.inverse, 1e-9), _ABOVE_M)
    labels = np.append(mesh.label, np.uint8(Label.TERRAIN))[raster.ids]
    heights = (base + _ABOVE_M - depth).astype(np.float32)
    return Patch(
        point.copy(),
        reach,
        corner,
        cell,
        np.ascontiguousarray(heights[::-1]),
        np.ascontiguousarray(labels[::-1]),
    )
