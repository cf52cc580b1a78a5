"""Rigid motions of the plane, on arrays of poses ``[..., 3]`` = x, y, heading."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Float


def wrap_angle(angle: ArrayLike) -> Float:
    """Angle(s) in radians, wrapped to (-pi, pi]."""
    angle = np.asarray(angle, dtype=np.float64)
    wrapped: Float = np.pi - (np.pi - angle) % (2.0 * np.pi)
    return wrapped


def rotate(vectors: ArrayLike, angle: ArrayLike) -> Float:
    """Rotate vectors ``[..., 2]`` counter-clockwise by ``angle`` (broadcast over the leading axes)."""
    vectors = np.asarray(vectors, dtype=np.float64)
    cos, sin = np.cos(angle), np.sin(angle)
    x, y = vectors[..., 0], vectors[..., 1]
    return np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)


def points_to_local(points: ArrayLike, origin: ArrayLike) -> Float:
    """Points ``[..., 2]`` of the parent frame, seen from the pose(s) ``origin`` ``[..., 3]``."""
    origin = np.asarray(origin, dtype=np.float64)
    return rotate(np.asarray(points, dtype=np.float64) - origin[..., :2], -origin[..., 2])


def points_to_world(points: ArrayLike, origin: ArrayLike) -> Float:
    """Points ``[..., 2]`` of the frame at pose(s) ``origin``, expressed in the parent frame."""
    origin = np.asarray(origin, dtype=np.float64)
    world: Float = rotate(points, origin[..., 2]) + origin[..., :2]
    return world


def poses_to_local(poses: ArrayLike, origin: ArrayLike) -> Float:
    """Poses ``[..., 3]`` of the parent frame, seen from the pose(s) ``origin``; headings wrapped."""
    poses, origin = np.asarray(poses, dtype=np.float64), np.asarray(origin, dtype=np.float64)
    heading = wrap_angle(poses[..., 2] - origin[..., 2])
    return np.concatenate([points_to_local(poses[..., :2], origin), heading[..., None]], axis=-1)


def poses_to_world(poses: ArrayLike, origin: ArrayLike) -> Float:
    """Poses ``[..., 3]`` of the frame at ``origin``, expressed in the parent frame; headings wrapped."""
    poses, origin = np.asarray(poses, dtype=np.float64), np.asarray(origin, dtype=np.float64)
    heading = wrap_angle(poses[..., 2] + origin[..., 2])
    return np.concatenate([points_to_world(poses[..., :2], origin), heading[..., None]], axis=-1)


def compose(outer: ArrayLike, inner: ArrayLike) -> Float:
    """The pose that ``inner`` (expressed in the frame ``outer``) has in the parent frame."""
    return poses_to_world(inner, outer)


def inverse(pose: ArrayLike) -> Float:
    """The pose of the parent frame seen from ``pose``: ``compose(pose, inverse(pose))`` is zero."""
    return poses_to_local(np.zeros(3), pose)
