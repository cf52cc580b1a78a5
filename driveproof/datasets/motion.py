"""Motion as formats deliver it (quaternions, scattered rows) brought into poses and tracks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Bool, Float
from driveproof.geometry.se2 import wrap_angle
from driveproof.scene.types import AgentKind, AgentTracks

MAX_TRACK_GAP_S = 0.6
"""Longest gap of a track that is bridged by interpolation."""
_MIN_COURSE_STEP_M = 0.3


def quaternion_yaw(w: ArrayLike, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Float:
    """Heading ``[...]`` in radians of the x axis turned by quaternions of any length; NaN for a zero one.

    The argument order is scalar first; formats that store the scalar last pass it by name.
    """
    w, x, y, z = (np.asarray(part, dtype=np.float64) for part in (w, x, y, z))
    forward, left = w * w + x * x - y * y - z * z, 2.0 * (w * z + x * y)
    yaw: Float = np.arctan2(left, forward)
    return np.where(w * w + x * x + y * y + z * z > 1e-12, yaw, np.nan)


def path_headings(points: ArrayLike, start_heading: float | None = None) -> Float:
    """Headings ``[T]`` along a path ``[T, 2]`` that records none.

    The course counts after every 0.3 m and is held in between, so that jitter at standstill does not
    turn the vehicle; a course that flips by more than 90 degrees is read as driving backwards.
    ``start_heading`` is that of the first point; without it the first course is taken.
    """
    points = np.asarray(points, dtype=np.float64)
    headings = np.zeros(len(points))
    anchor, current = (points[0] if len(points) else np.zeros(2)), start_heading
    for index in range(1, len(points)):
        delta = points[index] - anchor
        if np.hypot(*delta) >= _MIN_COURSE_STEP_M:
            course = float(np.arctan2(delta[1], delta[0]))
            if current is None:
                headings[:index] = current = course
            turn = float(wrap_angle(course - current))
            if abs(turn) > np.pi / 2:
                turn = float(wrap_angle(turn + np.pi))
            current, anchor = current + turn, points[index]
        headings[index] = current or 0.0
    if start_heading is not None and len(points):
        headings[0] = start_heading
    return wrap_angle(headings)


def track_velocities(times: Float, positions: Float, valid: Bool) -> Float:
    """Velocity ``[N, T, 2]`` of tracks at ``positions`` ``[N, T, 2]``, from neighbouring valid samples.

    Central where both neighbours are valid, one-sided at the ends; a box seen only once stands still.
    """
    n, t = valid.shape
    ahead = np.minimum(np.arange(t) + 1, t - 1)
    behind = np.maximum(np.arange(t) - 1, 0)
    index = np.broadcast_to(np.arange(t), (n, t))
    high = np.where(valid[:, ahead], ahead, index)
    low = np.where(valid[:, behind], behind, index)
    moved = np.take_along_axis(positions, high[..., None], 1) - np.take_along_axis(
        positions, low[..., None], 1
    )
    span = times[high] - times[low]
    velocity: Float = moved / np.where(span > 0, span, np.inf)[..., None]
    return np.where(valid[..., None], velocity, np.nan)


def tracks_on_grid(
    grid: Float,
    ids: Sequence[str],
    kinds: Sequence[AgentKind],
    times: ArrayLike,
    boxes: ArrayLike,
) -> AgentTracks:
    """Tracks on a common clock from scattered detections.

    Parameters
    ----------
    grid
        ``[T]`` seconds, increasing.
    ids, kinds, times
        Of the R detections.
    boxes
        ``[R, 6]`` x, y, heading of the box centre in the log's world, length, width, height.

    Positions between two detections of a track at most 0.6 s apart are interpolated; velocities are
    differentiated; dimensions are the median over the track. Detections that are not finite are dropped.
    """
    clock = np.asarray(times, dtype=np.float64)
    rows = np.asarray(boxes, dtype=np.float64).reshape(len(clock), 6)
    usable = np.isfinite(rows).all(1) & np.isfinite(clock)
    by_track: dict[str, list[int]] = {}
    for index in np.flatnonzero(usable):
        by_track.setdefault(ids[index], []).append(int(index))
    names = tuple(sorted(by_track))
    poses = np.full((len(names), len(grid), 3), np.nan)
    dimensions = np.zeros((len(names), 3))
    for row, name in enumerate(names):
        chosen = np.array(sorted(by_track[name], key=lambda i: clock[i]))
        poses[row] = interpolate_poses(grid, clock[chosen], rows[chosen, :3])
        dimensions[row] = np.median(rows[chosen, 3:], axis=0)
    valid: Bool = np.isfinite(poses).all(-1)
    states = np.concatenate([poses, track_velocities(grid, poses[..., :2], valid)], axis=-1)
    kind_of = {name: kinds[by_track[name][0]] for name in names}
    return AgentTracks(names, tuple(kind_of[n] for n in names), grid, dimensions, states, valid)


def interpolate_poses(grid: Float, times: Float, poses: Float) -> Float:
    """Poses ``[G, 3]`` at ``grid``, linear between samples ``[T, 3]`` at increasing ``times``.

    NaN outside the samples and between samples more than 0.6 s apart.
    """
    if not len(times):
        return np.full((len(grid), 3), np.nan)
    right = np.clip(np.searchsorted(times, grid, side="left"), 0, len(times) - 1)
    left = np.clip(np.searchsorted(times, grid, side="right") - 1, 0, len(times) - 1)
    # 5 ms: detections of one sweep carry slightly different stamps
    inside = (grid >= times[0] - 5e-3) & (grid <= times[-1] + 5e-3)
    inside &= times[right] - times[left] <= MAX_TRACK_GAP_S
    columns = (poses[:, 0], poses[:, 1], np.unwrap(poses[:, 2]))
    found = np.stack([np.interp(grid, times, column) for column in columns], axis=-1)
    return np.where(inside[:, None], found, np.nan)
