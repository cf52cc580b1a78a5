"""Quantities of motion along sampled trajectories."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Float
from driveproof.geometry.se2 import wrap_angle


def constant_velocity(velocity: ArrayLike, times: ArrayLike) -> Float:
    """Waypoints ``[..., T, 2]`` reached at ``times`` ``[T]`` from the origin at ``velocity`` ``[..., 2]``."""
    velocity, times = np.asarray(velocity, dtype=np.float64), np.asarray(times, dtype=np.float64)
    waypoints: Float = velocity[..., None, :] * times[:, None]
    return waypoints


def path_length(points: ArrayLike, *, from_origin: bool = False) -> Float:
    """Length ``[...]`` of paths ``[..., T, 2]``; ``from_origin`` adds the step from (0, 0) to the first point."""
    points = np.asarray(points, dtype=np.float64)
    if from_origin:
        points = np.concatenate([np.zeros_like(points[..., :1, :]), points], axis=-2)
    steps: Float = np.linalg.norm(np.diff(points, axis=-2), axis=-1).sum(-1)
    return steps


def net_heading_change(waypoints: ArrayLike, *, min_step: float = 0.3) -> Float:
    """Heading ``[...]`` in which ego-frame waypoints ``[..., T, 2]`` end, relative to heading 0 at the origin.

    The course is integrated over steps of at least ``min_step`` metres, so that jitter at standstill
    does not count and a turn beyond 180 degrees is not lost to wrapping. Positive is left.
    """
    waypoints = np.asarray(waypoints, dtype=np.float64)
    path = np.concatenate([np.zeros_like(waypoints[..., :1, :]), waypoints], axis=-2)
    flat = path.reshape(-1, *path.shape[-2:])
    anchor = flat[:, 0].copy()
    course = np.zeros(len(flat))
    total = np.zeros(len(flat))
    for step in range(1, flat.shape[1]):
        delta = flat[:, step] - anchor
        moved = np.hypot(delta[:, 0], delta[:, 1]) >= min_step
        heading = np.arctan2(delta[:, 1], delta[:, 0])
        total[moved] += wrap_angle(heading - course)[moved]
        course[moved] = heading[moved]
        anchor[moved] = flat[moved, step]
    return total.reshape(path.shape[:-2])


def differentiate(values: ArrayLike, times: ArrayLike) -> Float:
    """Time derivative ``[T, ...]`` of samples ``[T, ...]`` at ``times`` ``[T]``, second order, one-sided at the ends."""
    values, times = np.asarray(values, dtype=np.float64), np.asarray(times, dtype=np.float64)
    if len(times) < 2:
        raise ValueError("differentiate: at least two samples are needed")
    if len(times) == 2:
        return np.asarray(np.gradient(values, times, axis=0), dtype=np.float64)
    return np.asarray(np.gradient(values, times, axis=0, edge_order=2), dtype=np.float64)
