"""Convex polygons in the world with what there is to know about each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from driveproof.geometry.arrays import Bool, Float, Float32, Int


@dataclass(frozen=True)
class Mesh:
    """P convex polygons; seen from outside their corners run counter-clockwise.

    Parameters
    ----------
    corners
        ``[V, 3]`` world frame, metres.
    first
        ``[P + 1]`` polygon ``i`` has the corners ``first[i]:first[i + 1]``.
    colour
        ``[P, 3]`` RGB in 0..255.
    label
        ``[P]`` :class:`~driveproof.render.labels.Label`.
    texture
        ``[P]`` :class:`~driveproof.render.labels.Texture`.
    owner
        ``[P]`` number of the actor, 0 for what belongs to the town.
    sided
        ``[P]`` whether it is seen from both sides.
    shines
        ``[P]`` whether it has its colour by itself, not from the sun.
    anchor
        ``[P, 5]`` where a facade begins: x, y, unit vector along the wall, height of its foot.
    """

    corners: Float
    first: Int
    colour: Float32
    label: NDArray[np.uint8]
    texture: NDArray[np.uint8]
    owner: NDArray[np.int32]
    sided: Bool
    shines: Bool
    anchor: Float32

    def __len__(self) -> int:
        return len(self.label)

    @cached_property
    def normals(self) -> Float:
        """``[P, 3]`` unit normals, of the first, middle and last corner."""
        normals = np.empty((len(self), 3))
        _normals(self.corners, self.first, normals)
        return normals

    def where(self, keep: Bool) -> Mesh:
        """Only the polygons that ``keep`` ``[P]`` selects."""
        counts = np.diff(self.first)
        rest = {
            item.name: getattr(self, item.name)[keep]
            for item in fields(self)
            if item.name not in ("corners", "first")
        }
        first = np.concatenate([[0], np.cumsum(counts[keep])])
        return Mesh(self.corners[np.repeat(keep, counts)], first, **rest)


@numba.njit(nogil=True, cache=True)
def _normals(corners: Float, first: Int, normals: Float) -> None:
    for k in range(len(normals)):
        start, last = first[k], first[k + 1] - 1
        middle = start + 1 if last - start == 2 else (start + last + 1) // 2
        ax, bx = corners[middle, 0] - corners[start, 0], corners[last, 0] - corners[start, 0]
        ay, by = corners[middle, 1] - corners[start, 1], corners[last, 1] - corners[start, 1]
        az, bz = corners[middle, 2] - corners[start, 2], corners[last, 2] - corners[start, 2]
        x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        length = math.sqrt(x * x + y * y + z * z) + 1e-12
        normals[k, 0], normals[k, 1], normals[k, 2] = x / length, y / length, z / length


def mesh_of(
    rings: ArrayLike,
    colour: ArrayLike,
    label: ArrayLike,
    *,
    texture: ArrayLike = 0,
    owner: ArrayLike = 0,
    sided: ArrayLike = False,
    shines: ArrayLike = False,
    anchor: ArrayLike = (0.0, 0.0, 1.0, 0.0, 0.0),
) -> Mesh:
    """A mesh of rings ``[P, n, 3]`` with equally many corners; what is not ``[P]`` long holds for all."""
    corners = np.asarray(rings, dtype=np.float64)
    count, sides = corners.shape[:2]

    def column(value: ArrayLike, dtype: type, *shape: int) -> NDArray[np.generic]:
        return np.array(np.broadcast_to(np.asarray(value), (count, *shape)), dtype=dtype)

    return Mesh(
        corners.reshape(-1, 3),
        np.arange(count + 1) * sides,
        column(colour, np.float32, 3),  # type: ignore[arg-type]
        column(label, np.uint8),  # type: ignore[arg-type]
        column(texture, np.uint8),  # type: ignore[arg-type]
        column(owner, np.int32),  # type: ignore[arg-type]
        column(sided, np.bool_),  # type: ignore[arg-type]
        column(shines, np.bool_),  # type: ignore[arg-type]
        column(anchor, np.float32, 5),  # type: ignore[arg-type]
    )


EMPTY = mesh_of(np.zeros((0, 4, 3)), (0, 0, 0), 0)


def join(parts: Sequence[Mesh]) -> Mesh:
    """One mesh of several, in their order."""
    parts = [part for part in parts if len(part)] or [EMPTY]
    if len(parts) == 1:
        return parts[0]
    counts = np.concatenate([np.diff(part.first) for part in parts])
    columns = {
        item.name: np.concatenate([getattr(part, item.name) for part in parts])
        for item in fields(Mesh)
        if item.name != "first"
    }
    return Mesh(first=np.concatenate([[0], np.cumsum(counts)]), **columns)
