"""Rays of a turning lidar against boxes and the ground, compiled by numba.

Rays form a grid: ``channels`` elevations times ``columns`` azimuths in the sensor's frame. Each box is tried only
against the window of the grid that it can lie in.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from driveproof.geometry.arrays import Float, Float32, Int

#: Rays approach the ground in leaps down to the height of what is too small for its slope to tell, then in
#: steps; metres.
_BUMP_M, _LEAST_STEP_M, _CLOSE_M, _HALVINGS = 0.12, 0.25, 0.02, 10


@numba.njit(nogil=True, cache=True)
def _enter(start: Float, heading: Float, half: Float) -> tuple[float, int]:
    """How far along a ray a box begins, in the box's frame, and through which side; -1 if it is missed."""
    enter, leave, side = -1e30, 1e30, 0
    for k in range(3):
        if abs(heading[k]) < 1e-12:
            if abs(start[k]) > half[k]:
                return -1.0, 0
            continue
        one, two = (-half[k] - start[k]) / heading[k], (half[k] - start[k]) / heading[k]
        if min(one, two) > enter:
            enter, side = min(one, two), k
        leave = min(leave, max(one, two))
    return (enter, side) if enter <= leave else (-1.0, 0)


@numba.njit(nogil=True, cache=True)
def cast_boxes(
    azimuth: Float,
    elevation: Float,
    centre: Float,
    half: Float,
    axes: Float,
    reach: float,
    distance: Float,
    cosine: Float,
    found: Int,
) -> None:
    """Shorten ``distance`` ``[C, K]`` where boxes (in the sensor's frame) are met; fill ``cosine`` and ``found``.

    ``azimuth`` ``[K]`` ascends over at most a full turn. A box that the sensor lies in is not met.
    """
    channels, columns = len(elevation), len(azimuth)
    start, heading = np.empty(3), np.empty(3)
    ahead, aside = np.cos(azimuth), np.sin(azimuth)
    level, upward = np.cos(elevation), np.sin(elevation)
    for box in range(len(centre)):
        away = math.sqrt(centre[box, 0] ** 2 + centre[box, 1] ** 2 + centre[box, 2] ** 2)
        radius = math.sqrt(half[box, 0] ** 2 + half[box, 1] ** 2 + half[box, 2] ** 2)
        if away - radius > reach:
            continue
        inside = True
        for k in range(3):
            start[k] = 0.0
            for m in range(3):
                start[k] -= axes[box, m, k] * centre[box, m]
            inside = inside and abs(start[k]) <= half[box, k]
        if inside:
            continue
        flat = math.hypot(centre[box, 0], centre[box, 1])
        middle = math.atan2(centre[box, 1], centre[box, 0])
        width = math.pi if flat <= radius else math.asin(radius / flat)
        rise = math.atan2(centre[box, 2], flat)
        tall = math.pi if away <= radius else math.asin(radius / away)
        for column in range(columns):
            gap = abs(azimuth[column] - middle) % (2.0 * math.pi)
            if min(gap, 2.0 * math.pi - gap) > width:
                continue
            ca, sa = ahead[column], aside[column]
            for channel in range(channels):
                if abs(elevation[channel] - rise) > tall:
                    continue
                ce, se = level[channel], upward[channel]
                for k in range(3):
                    heading[k] = (
                        axes[box, 0, k] * ce * ca + axes[box, 1, k] * ce * sa + axes[box, 2, k] * se
                    )
                enter, side = _enter(start, heading, half[box])
                if 0.0 < enter < distance[channel, column]:
                    distance[channel, column] = enter
                    cosine[channel, column] = abs(heading[side])
                    found[channel, column] = box


@numba.njit(nogil=True, cache=True)
def _height(heights: Float32, west: float, south: float, cell: float, x: float, y: float) -> float:
    """Bilinear height of a patch whose node (0, 0) is its south-west corner."""
    rows, columns = heights.shape
    u = min(max((x - west) / cell, 0.0), columns - 1.001)
    v = min(max((y - south) / cell, 0.0), rows - 1.001)
    i, j = int(u), int(v)
    u, v = u - i, v - j
    low = heights[j, i] * (1.0 - u) + heights[j, i + 1] * u
    high = heights[j + 1, i] * (1.0 - u) + heights[j + 1, i + 1] * u
    return float(low * (1.0 - v) + high * v)


@numba.njit(nogil=True, cache=True)
def _touch(
    heights: Float32,
    west: float,
    south: float,
    cell: float,
    ray: tuple[float, float, float, float, float, float],
    low: float,
    high: float,
) -> float:
    """Where between ``low`` and ``high`` a ray (origin, direction) goes through the ground, by halving."""
    for _ in range(_HALVINGS):
        t = (low + high) / 2.0
        ground = _height(heights, west, south, cell, ray[0] + t * ray[3], ray[1] + t * ray[4])
        if ray[2] + t * ray[5] > ground:
            low = t
        else:
            high = t
    return (low + high) / 2.0


@numba.njit(nogil=True, cache=True)
def cast_ground(
    azimuth: Float,
    elevation: Float,
    axes: Float,
    origin: Float,
    heights: Float32,
    corner: Float,
    cell: float,
    steepest: float,
    distance: Float,
    cosine: Float,
    found: Int,
) -> None:
    """Shorten ``distance`` ``[C, K]`` where rays meet the ground; ``found`` becomes -2 there.

    ``axes`` ``[3, 3]`` takes the sensor's frame to the world, ``corner`` is the south-west node of ``heights``,
    ``steepest`` the rise per metre that the ground does not exceed but for bumps.
    """
    west, south = corner[0], corner[1]
    ahead, aside = np.cos(azimuth), np.sin(azimuth)
    for channel in range(len(elevation)):
        ce, se = math.cos(elevation[channel]), math.sin(elevation[channel])
        for column in range(len(azimuth)):
            a, b = ce * ahead[column], ce * aside[column]
            dx = axes[0, 0] * a + axes[0, 1] * b + axes[0, 2] * se
            dy = axes[1, 0] * a + axes[1, 1] * b + axes[1, 2] * se
            dz = axes[2, 0] * a + axes[2, 1] * b + axes[2, 2] * se
            limit = distance[channel, column]
            closing = steepest * math.hypot(dx, dy) - dz
            before, here = 0.0, 0.0
            hit = False
            while here < limit and closing > 0.0:
                gap = origin[2] + here * dz
                gap -= _height(
                    heights, west, south, cell, origin[0] + here * dx, origin[1] + here * dy
                )
                if gap < _CLOSE_M:
                    hit = here > 0.0
                    break
                before = here
                here += max((gap - _BUMP_M) / closing, _LEAST_STEP_M)
            if not hit:
                continue
            ray = (origin[0], origin[1], origin[2], dx, dy, dz)
            t = _touch(heights, west, south, cell, ray, before, min(here + _LEAST_STEP_M, limit))
            x, y = origin[0] + t * dx, origin[1] + t * dy
            ground = _height(heights, west, south, cell, x, y)
            east = (_height(heights, west, south, cell, x + cell, y) - ground) / cell
            north = (_height(heights, west, south, cell, x, y + cell) - ground) / cell
            distance[channel, column] = t
            cosine[channel, column] = abs(dz - east * dx - north * dy) / math.sqrt(
                1.0 + east * east + north * north
            )
            found[channel, column] = -2


def compile_casting() -> None:
    """Compile both kernels now."""
    angles, grid, found = np.zeros(2), np.ones((2, 2)), np.zeros((2, 2), dtype=np.int64)
    point, axes = np.full((1, 3), 5.0), np.eye(3)
    cast_boxes(angles, angles, point, point * 0.1, axes[None], 10.0, grid, grid.copy(), found)
    heights, corner = np.zeros((2, 2), dtype=np.float32), np.zeros(2)
    cast_ground(angles, angles, axes, point[0], heights, corner, 1.0, 0.1, grid, grid.copy(), found)
