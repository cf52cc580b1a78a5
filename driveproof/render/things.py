"""Things that have a shape, a place and a colour, and the polygons they are drawn with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numba
import numpy as np
from numpy.typing import NDArray

from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.render.mesh import EMPTY, Mesh, mesh_of
from driveproof.render.shapes import CATALOGUE, CORNER, DECAL_M, FIRST, Role

#: Bodies are drawn this much smaller on each side, so that their decals stay inside their boxes, metres.
_SHRINK_M = 0.005
#: The colour in which the faces of each role shine.
SHINE = np.zeros((len(Role), 3))
SHINE[Role.BRAKE] = 255, 40, 28
SHINE[Role.LEFT] = SHINE[Role.RIGHT] = 255, 176, 36
SHINE[Role.REVERSE] = SHINE[Role.HEAD] = 255, 252, 236
SHINE[Role.SIREN] = 90, 120, 255
SHINE[Role.RED], SHINE[Role.YELLOW] = (255, 44, 34), (255, 196, 40)
SHINE[Role.GREEN] = 40, 244, 120


@dataclass(frozen=True)
class Things:
    """N things in the world frame.

    Parameters
    ----------
    shape
        ``[N]`` numbers of :data:`driveproof.render.shapes.NAMES`.
    place
        ``[N, 3]`` the middle of their lower end, metres.
    axes
        ``[N, 3, 3]`` columns: their forward, left and up axes.
    sizes
        ``[N, 3]`` length, width, height, metres.
    colours
        ``[N, 3]`` RGB.
    lit
        ``[N, 10]`` whether their faces of each :class:`~driveproof.render.shapes.Role` shine.
    label
        ``[N]`` :class:`~driveproof.render.labels.Label`.
    owner
        ``[N]`` number of the actor.
    """

    shape: Int
    place: Float
    axes: Float
    sizes: Float
    colours: Float
    lit: Bool
    label: Int
    owner: Int

    def __len__(self) -> int:
        return len(self.shape)

    def where(self, mask: Bool) -> Things:
        """Only the things that ``mask`` ``[N]`` selects."""
        return Things(*(getattr(self, item.name)[mask] for item in fields(self)))

    @cached_property
    def centres(self) -> Float:
        """``[N, 3]`` the middle of each box."""
        return np.asarray(self.place + self.axes[:, :, 2] * self.sizes[:, 2:] / 2.0)

    @cached_property
    def radii(self) -> Float:
        """``[N]`` of the balls around their boxes, metres."""
        return np.asarray(np.linalg.norm(self.sizes, axis=1) / 2.0)

    def mesh(self) -> Mesh:
        """Their faces, thing by thing."""
        if len(self) == 0:
            return EMPTY
        count = FIRST[self.shape + 1] - FIRST[self.shape]
        owner = np.repeat(np.arange(len(count)), count)
        face = _ranges(FIRST[self.shape], count)
        sides = CATALOGUE.count[face]
        first = np.concatenate([[0], np.cumsum(sides)])
        corners = np.empty((int(first[-1]), 3))
        sizes = np.maximum(self.sizes - 2.0 * _SHRINK_M, 1e-3)
        _place(
            CATALOGUE.corners,
            CORNER,
            CATALOGUE.decal,
            face,
            owner,
            sizes,
            self.axes,
            self.place,
            corners,
        )
        role = CATALOGUE.role[face]
        shines = self.lit[owner, role] & (role != Role.PLAIN)
        colour = CATALOGUE.paint[face, None] * self.colours[owner] + CATALOGUE.fixed[face]
        colour[shines] = SHINE[role[shines]]
        own = CATALOGUE.label[face]
        return Mesh(
            corners,
            first,
            colour.astype(np.float32),
            np.where(own > 0, own, self.label[owner]).astype(np.uint8),
            np.zeros(len(face), dtype=np.uint8),
            self.owner[owner].astype(np.int32),
            CATALOGUE.sided[face],
            shines,
            np.zeros((len(face), 5), dtype=np.float32),
        )

    def shadows(self, sun: Float) -> Mesh:
        """What their boxes shade of a level ground at their feet, the sun's direction being ``sun`` ``[3]``."""
        if len(self) == 0:
            return EMPTY
        half = self.sizes[:, :2] / 2.0
        signs = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
        foot = np.einsum("nij,nkj->nki", self.axes[:, :, :2], signs * half[:, None])
        foot += self.place[:, None]
        reach = np.minimum(self.sizes[:, 2] * 0.85 / max(sun[2], 0.2), 6.0)
        shift = -reach[:, None, None] * np.array([sun[0], sun[1], 0.0])
        top = foot + shift
        rings = [foot, top]
        for start in range(4):
            after = (start + 1) % 4
            rings.append(
                np.stack([foot[:, start], foot[:, after], top[:, after], top[:, start]], axis=1)
            )
        return mesh_of(np.concatenate(rings), (0, 0, 0), 0)


@numba.njit(nogil=True, cache=True)
def _place(
    unit: Float,
    starts: Int,
    decal: Bool,
    face: Int,
    owner: Int,
    sizes: Float,
    axes: Float,
    place: Float,
    corners: Float,
) -> None:
    """Fill ``corners`` with those of each ``face`` ``[F]`` on the thing ``owner`` ``[F]``; decals are lifted off."""
    local, normal = np.empty((16, 3)), np.empty(3)
    row = 0
    for k in range(len(face)):
        start, thing = starts[face[k]], owner[k]
        count = starts[face[k] + 1] - start
        for n in range(count):
            for axis in range(3):
                local[n, axis] = unit[start + n, axis] * sizes[thing, axis]
        if decal[face[k]]:
            middle = 1 if count == 3 else count // 2
            last = count - 1
            for axis in range(3):
                b, c = (axis + 1) % 3, (axis + 2) % 3
                normal[axis] = (local[middle, b] - local[0, b]) * (local[last, c] - local[0, c])
                normal[axis] -= (local[middle, c] - local[0, c]) * (local[last, b] - local[0, b])
            length = math.sqrt(normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2) + 1e-12
            for n in range(count):
                for axis in range(3):
                    local[n, axis] += DECAL_M * normal[axis] / length
        for n in range(count):
            for axis in range(3):
                value = place[thing, axis]
                for m in range(3):
                    value += axes[thing, axis, m] * local[n, m]
                corners[row, axis] = value
            row += 1


def _ranges(starts: Int, counts: Int) -> Int:
    """All of ``start, ..., start + count - 1`` one after the other."""
    ends = np.cumsum(counts)
    return np.asarray(np.arange(int(ends[-1])) + np.repeat(starts - (ends - counts), counts))


def things_of(rows: Sequence[tuple[object, ...]]) -> Things:
    """Things from rows in the order of the fields of :class:`Things`."""
    shapes: tuple[tuple[int, ...], ...] = ((), (3,), (3, 3), (3,), (3,), (len(Role),), (), ())
    kinds: tuple[type, ...] = (int, float, float, float, float, bool, int, int)
    columns: list[NDArray[np.generic]] = []
    for number, (shape, kind) in enumerate(zip(shapes, kinds, strict=True)):
        values: NDArray[np.generic] = np.array([row[number] for row in rows], dtype=kind)
        columns.append(values.reshape(len(rows), *shape))
    return Things(*columns)  # type: ignore[arg-type]


def joined(parts: Sequence[Things]) -> Things:
    """All things of several collections, in their order."""
    return Things(
        *(np.concatenate([getattr(part, item.name) for part in parts]) for item in fields(Things))
    )


def upright(heading: Float) -> Float:
    """Axes ``[N, 3, 3]`` of things that stand upright and look along ``heading`` ``[N]``."""
    axes = np.zeros((*np.shape(heading), 3, 3))
    axes[..., 0, 0] = axes[..., 1, 1] = np.cos(heading)
    axes[..., 1, 0] = np.sin(heading)
    axes[..., 0, 1] = -axes[..., 1, 0]
    axes[..., 2, 2] = 1.0
    return axes
