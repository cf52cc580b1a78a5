"""Optical flow: how far each pixel has moved since the camera looked last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np
from numpy.typing import NDArray

from driveproof.geometry.arrays import Float, Float32, Int
from driveproof.render.raster import Ids, Lens
from driveproof.sim.engine.pose import rotation_matrices
from driveproof.sim.sensors.bodies import SOLID
from driveproof.sim.sensors.cameras import CameraSensor

if TYPE_CHECKING:
    from driveproof.render.picture import Picture
    from driveproof.sim.engine import Actor
    from driveproof.sim.engine.engine import Engine

_NEAR = 1e-3


class OpticalFlowCamera(CameraSensor):
    """Two float32 a pixel: motion to the right and down as shares of width and height, cut to -2..2.

    The first message, and bodies that were not there before, have no motion of their own.
    """

    def __init__(self, actor: Actor) -> None:
        super().__init__(actor)
        self._lens: Lens | None = None
        self._poses: dict[int, Float] = {}

    def pixels(self, picture: Picture, engine: Engine) -> NDArray[np.float32]:
        """``[H, W, 2]``."""
        poses = poses_of(engine)
        motions, number = _motions(self._poses, poses)
        owner = picture.column("owner")
        row = np.array([number.get(key, 0) for key in owner.tolist()], dtype=np.int64)
        flow = np.empty((self.height, self.width, 2), dtype=np.float32)
        before = self._lens or picture.lens
        raster = picture.raster
        _flow(raster.ids, raster.inverse, row, motions, picture.lens.numbers, before.numbers, flow)
        self._lens, self._poses = picture.lens, poses
        return flow


def poses_of(engine: Engine) -> dict[int, Float]:
    """Matrices ``[4, 4]`` (body to world) of all actors that have a body, by id."""
    table = engine.table
    rows = np.flatnonzero(np.isin(table.kind, SOLID))
    matrices = np.tile(np.eye(4), (len(rows), 1, 1))
    matrices[:, :3, :3] = rotation_matrices(table.rotation[rows])
    matrices[:, :3, 3] = table.position[rows]
    return dict(zip(table.id[rows].tolist(), matrices, strict=True))


def _motions(before: dict[int, Float], now: dict[int, Float]) -> tuple[Float, dict[int, int]]:
    """Matrices ``[M, 4, 4]`` that take points of a body to where they were (the first is that of the town), and the row of each actor."""
    keys = [key for key in now if key in before]
    backs = [before[key] @ np.linalg.inv(now[key]) for key in keys]
    return np.stack([np.eye(4), *backs]), {key: n + 1 for n, key in enumerate(keys)}


@numba.njit(nogil=True, cache=True)
def _flow(
    ids: Ids,
    inverse: Float32,
    row_of: Int,
    motions: Float,
    lens: Float,
    before: Float,
    flow: NDArray[np.float32],
) -> None:
    height, width = ids.shape
    point, old = np.empty(3), np.empty(3)
    for row in range(height):
        rise = (lens[14] - row - 0.5) / lens[12]
        for column in range(width):
            aside = (lens[13] - column - 0.5) / lens[12]
            polygon = ids[row, column]
            for k in range(3):
                point[k] = lens[3 + 3 * k] + lens[4 + 3 * k] * aside + lens[5 + 3 * k] * rise
            if polygon >= 0:
                motion = motions[row_of[polygon]]
                for k in range(3):
                    point[k] = lens[k] + point[k] / inverse[row, column]
                for k in range(3):
                    old[k] = motion[k, 3] - before[k]
                    for m in range(3):
                        old[k] += motion[k, m] * point[m]
            else:
                old[:] = point  # the sky is infinitely far: it only turns
            ahead = old[0] * before[3] + old[1] * before[6] + old[2] * before[9]
            left = old[0] * before[4] + old[1] * before[7] + old[2] * before[10]
            up = old[0] * before[5] + old[1] * before[8] + old[2] * before[11]
            flow[row, column, 0] = 0.0
            flow[row, column, 1] = 0.0
            if ahead > _NEAR:
                u = before[13] - before[12] * left / ahead
                v = before[14] - before[12] * up / ahead
                flow[row, column, 0] = min(2.0, max(-2.0, (column + 0.5 - u) / width))
                flow[row, column, 1] = min(2.0, max(-2.0, (row + 0.5 - v) / height))


def compile_flow(picture: Picture) -> None:
    """Compile the kernel now."""
    raster, row = picture.raster, np.zeros(len(picture.column("owner")), dtype=np.int64)
    flow, still = np.empty((*raster.ids.shape, 2), dtype=np.float32), np.eye(4)[None]
    lens = picture.lens.numbers
    _flow(raster.ids, raster.inverse, row, still, lens, lens, flow)
