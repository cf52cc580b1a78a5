"""Polygons into a depth buffer and a buffer of polygon numbers, compiled by numba.

A pinhole sees the point ``depth * (1, (cx - u) / f, (cy - v) / f)`` (forward, left, up) in pixel (u, v), so one
over the depth of a plane is linear in the pixel: the buffer keeps that, and it is exact in every pixel. Pixel
(column, row) is sampled at its centre, (column + 0.5, row + 0.5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numba
import numpy as np
from numpy.typing import NDArray

from driveproof.geometry.arrays import Float, Float32, Int
from driveproof.render.mesh import Mesh

Ids = NDArray[np.int32]
Mask = NDArray[np.uint8]

#: Nothing nearer to the pinhole is drawn, metres.
NEAR_M = 0.1
#: A polygon has at most so many corners.
MAX_CORNERS = 16


@dataclass(frozen=True)
class Lens:
    """A pinhole in the world: ``origin`` ``[3]``, ``axes`` ``[3, 3]`` (columns forward, left, up), pixels."""

    origin: Float
    axes: Float
    focal: float
    width: int
    height: int

    @cached_property
    def numbers(self) -> Float:
        """``[15]`` origin, axes row by row, focal length, middle of the picture: what the kernels take."""
        middle = [self.focal, self.width / 2.0, self.height / 2.0]
        return np.concatenate([self.origin, self.axes.ravel(), middle])

    def project(self, points: Float) -> tuple[Float, Float]:
        """Pixels ``[..., 2]`` (u right, v down) and depth ``[...]`` of world points ``[..., 3]``; NaN behind."""
        local = (points - self.origin) @ self.axes
        depth = local[..., 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            offset = self.focal * local[..., 1:] / depth[..., None]
        pixels = np.array([self.width / 2.0, self.height / 2.0]) - offset
        return np.where(depth[..., None] > 0.0, pixels, np.nan), depth

    def sees(self, centres: Float, radii: Float) -> NDArray[np.bool_]:
        """``[N]`` whether balls ``[N, 3]``, ``[N]`` may be in the picture."""
        local = (centres - self.origin) @ self.axes
        inside: NDArray[np.bool_] = local[:, 0] > NEAR_M - radii
        for side, half in ((1, self.width / 2.0), (2, self.height / 2.0)):
            norm = math.hypot(half, self.focal)
            beyond = np.abs(local[:, side]) * self.focal - local[:, 0] * half
            inside &= beyond < radii * norm
        return inside


class Buffers:
    """Memory for pictures of one size. A camera that keeps it spares the system new pages for each picture."""

    def __init__(self, width: int, height: int) -> None:
        self.ids: Ids = np.empty((height, width), dtype=np.int32)
        self.inverse: Float32 = np.empty((height, width), dtype=np.float32)
        self.mask: Mask = np.empty((height, width), dtype=np.uint8)
        self.image: NDArray[np.uint32] = np.empty((height, width), dtype=np.uint32)


class Raster:
    """One picture: polygon numbers ``ids`` (-1 is nothing) and one over the depth, ``inverse`` (0 is infinity), ``[H, W]``.

    ``mask`` and ``image`` are room for what is made of them. Buffers that are given are overwritten, and hold
    until they are given again.
    """

    def __init__(self, lens: Lens, buffers: Buffers | None = None) -> None:
        self.lens = lens
        buffers = buffers or Buffers(lens.width, lens.height)
        self.ids, self.inverse = buffers.ids, buffers.inverse
        self.mask, self.image = buffers.mask, buffers.image
        self.ids.fill(-1)
        self.inverse.fill(0.0)
        self.mask.fill(0)
        self._count = 0

    def draw(self, mesh: Mesh) -> int:
        """Draw the faces of a mesh; the answer is the number of its first polygon."""
        first = self._count
        self._count += len(mesh)
        if len(mesh):
            _draw(
                mesh.corners,
                mesh.first,
                mesh.sided,
                self.lens.numbers,
                first,
                self.inverse,
                self.ids,
            )
        return first

    def cover(self, mesh: Mesh, value: int, reach: float) -> None:
        """Write ``value`` into the mask where the mesh lies within ``reach`` metres of what is seen."""
        if len(mesh):
            _cover(
                mesh.corners,
                mesh.first,
                self.lens.numbers,
                self.inverse,
                self.mask,
                value,
                np.float32(reach),
            )


@numba.njit(nogil=True, cache=True)
def _plane_of(local: Float, count: int, lens: Float, plane: Float, sided: bool) -> bool:
    """1/depth of the polygon's plane as a linear function of the pixel; False if only its back is seen."""
    # Which corners span it: the diagonals of a quadrilateral are the best plane where it is not quite flat.
    i, j, k, m = 0, 1, 0, 2
    if count == 4:
        i, j, k, m = 0, 2, 1, 3
    elif count > 4:
        j, m = count // 3, 2 * (count // 3)
    ax, bx = local[j, 0] - local[i, 0], local[m, 0] - local[k, 0]
    ay, by = local[j, 1] - local[i, 1], local[m, 1] - local[k, 1]
    az, bz = local[j, 2] - local[i, 2], local[m, 2] - local[k, 2]
    nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    distance = 0.0
    for n in range(count):
        distance += nx * local[n, 0] + ny * local[n, 1] + nz * local[n, 2]
    distance /= count
    if distance == 0.0 or (distance > 0.0 and not sided):
        return False
    plane[1] = -ny / distance / lens[12]
    plane[2] = -nz / distance / lens[12]
    plane[0] = nx / distance - plane[1] * lens[13] - plane[2] * lens[14]
    return True


@numba.njit(nogil=True, cache=True)
def _project(
    corners: Float, start: int, stop: int, lens: Float, ring: Float, plane: Float, sided: bool
) -> int:
    """Clip one polygon to the near plane and project it.

    Fills ``ring`` with (u, v, 1/depth) and ``plane`` with 1/depth = p0 + p1 u + p2 v; returns the number of
    corners, 0 if nothing is to be drawn.
    """
    count = stop - start
    local = np.empty((MAX_CORNERS, 3))
    ahead = 0
    for k in range(count):
        x = corners[start + k, 0] - lens[0]
        y = corners[start + k, 1] - lens[1]
        z = corners[start + k, 2] - lens[2]
        for axis in range(3):
            local[k, axis] = x * lens[3 + axis] + y * lens[6 + axis] + z * lens[9 + axis]
        if local[k, 0] >= NEAR_M:
            ahead += 1
    if ahead == 0 or _is_beside(local, count, lens):
        return 0
    if not _plane_of(local, count, lens, plane, sided):
        return 0
    focal, cx, cy = lens[12], lens[13], lens[14]
    total = 0
    for n in range(count):
        after = n + 1 if n + 1 < count else 0
        here, there = local[n, 0], local[after, 0]
        if here >= NEAR_M:
            ring[total, 0] = cx - focal * local[n, 1] / here
            ring[total, 1] = cy - focal * local[n, 2] / here
            ring[total, 2] = 1.0 / here
            total += 1
        if (here >= NEAR_M) != (there >= NEAR_M):
            share = (NEAR_M - here) / (there - here)
            y = local[n, 1] + share * (local[after, 1] - local[n, 1])
            z = local[n, 2] + share * (local[after, 2] - local[n, 2])
            ring[total, 0] = cx - focal * y / NEAR_M
            ring[total, 1] = cy - focal * z / NEAR_M
            ring[total, 2] = 1.0 / NEAR_M
            total += 1
    return total if total > 2 else 0


@numba.njit(nogil=True, cache=True)
def _is_beside(local: Float, count: int, lens: Float) -> bool:
    """Whether all corners lie on the outer side of one border of the picture."""
    wide, tall = lens[13] / lens[12], lens[14] / lens[12]
    left, right, above, below = 0, 0, 0, 0
    for n in range(count):
        across, rise = local[n, 0] * wide, local[n, 0] * tall
        left += local[n, 1] > across
        right += -local[n, 1] > across
        above += local[n, 2] > rise
        below += -local[n, 2] > rise
    return max(max(left, right), max(above, below)) == count


@numba.njit(nogil=True, cache=True)
def _spans(
    ring: Float, count: int, height: int, width: int, left: Float, right: Float, rows: Int
) -> None:
    """First and last pixel column (``left``, ``right``) of a convex ring in each row ``rows[0]`` to ``rows[1]``."""
    low, high = ring[0, 1], ring[0, 1]
    west, east = ring[0, 0], ring[0, 0]
    for k in range(1, count):
        low, high = min(low, ring[k, 1]), max(high, ring[k, 1])
        west, east = min(west, ring[k, 0]), max(east, ring[k, 0])
    if east <= 0.0 or west >= width or high <= 0.0 or low >= height:
        rows[0], rows[1] = 0, 0
        return
    rows[0] = max(0, math.ceil(max(low, -1.0) - 0.5))
    rows[1] = min(height, math.ceil(min(high, height + 1.0) - 0.5))
    for row in range(rows[0], rows[1]):
        left[row], right[row] = 1e30, -1e30
    for k in range(count):
        m = k + 1 if k + 1 < count else 0
        # Always from the upper to the lower end: neighbours compute the same border, so nothing gapes.
        if ring[k, 1] < ring[m, 1]:
            a, b = k, m
        else:
            a, b = m, k
        top, bottom = ring[a, 1], ring[b, 1]
        if bottom <= 0.0 or top >= height or top == bottom:
            continue
        begin = max(0, math.ceil(max(top, -1.0) - 0.5))
        end = min(height, math.ceil(min(bottom, height + 1.0) - 0.5))
        slope = (ring[b, 0] - ring[a, 0]) / (bottom - top)
        for row in range(begin, end):
            u = ring[a, 0] + (row + 0.5 - top) * slope
            left[row], right[row] = min(left[row], u), max(right[row], u)


@numba.njit(nogil=True, cache=True)
def _draw(
    corners: Float,
    first: Int,
    sided: NDArray[np.bool_],
    lens: Float,
    number: int,
    inverse: Float32,
    ids: Ids,
) -> None:
    height, width = ids.shape
    ring, plane, rows = np.empty((MAX_CORNERS + 2, 3)), np.empty(3), np.zeros(2, dtype=np.int64)
    left, right = np.empty(height), np.empty(height)
    for polygon in range(len(first) - 1):
        count = _project(
            corners, first[polygon], first[polygon + 1], lens, ring, plane, sided[polygon]
        )
        if count == 0:
            continue
        _spans(ring, count, height, width, left, right, rows)
        if rows[0] >= rows[1]:
            continue
        # A quadrilateral that is not quite flat must not shoot beyond its corners where it is seen edge-on.
        far, near = ring[0, 2], ring[0, 2]
        for k in range(1, count):
            far, near = min(far, ring[k, 2]), max(near, ring[k, 2])
        least, most, slope = np.float32(far), np.float32(near), np.float32(plane[1])
        mine = np.int32(number + polygon)
        for row in range(rows[0], rows[1]):
            if right[row] <= 0.0 or left[row] >= width:
                continue
            begin = max(0, math.ceil(left[row] - 0.5))
            end = min(width, math.ceil(min(right[row], width + 1.0) - 0.5))
            base = np.float32(plane[0] + plane[2] * (row + 0.5) + plane[1] * (begin + 0.5))
            depths, owners = inverse[row], ids[row]
            for column in range(begin, end):
                value = base + slope * np.float32(column - begin)
                value = min(max(value, least), most)
                if value > depths[column]:
                    depths[column] = value
                    owners[column] = mine


@numba.njit(nogil=True, cache=True)
def _cover(
    corners: Float,
    first: Int,
    lens: Float,
    inverse: Float32,
    mask: Mask,
    value: int,
    reach: np.float32,
) -> None:
    height, width = inverse.shape
    ring, plane, rows = np.empty((MAX_CORNERS + 2, 3)), np.empty(3), np.zeros(2, dtype=np.int64)
    left, right = np.empty(height), np.empty(height)
    for polygon in range(len(first) - 1):
        count = _project(corners, first[polygon], first[polygon + 1], lens, ring, plane, True)
        if count == 0:
            continue
        _spans(ring, count, height, width, left, right, rows)
        for row in range(rows[0], rows[1]):
            if right[row] <= 0.0 or left[row] >= width:
                continue
            begin = max(0, math.ceil(left[row] - 0.5))
            end = min(width, math.ceil(min(right[row], width + 1.0) - 0.5))
            base = plane[0] + plane[2] * (row + 0.5)
            for column in range(begin, end):
                mine = base + plane[1] * (column + 0.5)
                seen = inverse[row, column]
                # Compared along the ray; a slanting view stretches a small gap in height.
                if min(seen, mine) > 0.0 and abs(1.0 / mine - 1.0 / seen) < reach * (
                    1.0 + 0.08 / seen
                ):
                    mask[row, column] = value
