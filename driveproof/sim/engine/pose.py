"""Poses in space, and many of them at once.

Frame: right-handed, x forward, y left, z up, metres, radians. Yaw is positive to the left, pitch positive
with the nose up, roll positive with the right side down; a body is rolled first, then pitched, then turned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from driveproof.geometry.arrays import Float

#: Nothing goes further out than this (m): squares of distances must stay numbers in single precision too.
FURTHEST = 1e6


@dataclass(frozen=True, slots=True)
class Pose3:
    """A place and an attitude, metres and radians."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    roll: float = 0.0
    pitch: float = 0.0
    yaw: float = 0.0

    @property
    def position(self) -> Float:
        """``[3]`` x, y, z."""
        return np.array([self.x, self.y, self.z])

    @property
    def rotation(self) -> Float:
        """``[3]`` roll, pitch, yaw."""
        return np.array([self.roll, self.pitch, self.yaw])

    def matrix(self) -> Float:
        """``[4, 4]`` takes points of this pose's frame to the parent frame."""
        result = np.eye(4)
        result[:3, :3] = rotation_matrices(self.rotation)
        result[:3, 3] = self.position
        return result

    def compose(self, inner: Pose3) -> Pose3:
        """The pose that ``inner``, given in this pose's frame, has in the parent frame."""
        return Pose3.from_matrix(self.matrix() @ inner.matrix())

    def is_finite(self) -> bool:
        """Whether all six numbers are finite."""
        return all(
            math.isfinite(value)
            for value in (self.x, self.y, self.z, self.roll, self.pitch, self.yaw)
        )

    def bounded(self) -> Pose3:
        """The same attitude at the nearest place that a world has."""
        if max(abs(self.x), abs(self.y), abs(self.z)) <= FURTHEST:
            return self
        x, y, z = np.clip(self.position, -FURTHEST, FURTHEST).tolist()
        return Pose3(x, y, z, self.roll, self.pitch, self.yaw)

    @staticmethod
    def from_matrix(matrix: Float) -> Pose3:
        """The pose of a rigid ``[4, 4]`` matrix."""
        roll, pitch, yaw = angles_of(matrix[:3, :3]).tolist()
        x, y, z = matrix[:3, 3].tolist()
        return Pose3(x, y, z, roll, pitch, yaw)

    @staticmethod
    def of(position: Float, rotation: Float) -> Pose3:
        """The pose of ``position`` ``[3]`` and ``rotation`` ``[3]`` (roll, pitch, yaw)."""
        return Pose3(*position.tolist(), *rotation.tolist())


def rotation_matrices(rotation: Float) -> Float:
    """Matrices ``[..., 3, 3]`` of ``rotation`` ``[..., 3]`` (roll, pitch, yaw): body to world."""
    cos, sin = np.cos(rotation), np.sin(rotation)
    cr, cp, cy = cos[..., 0], cos[..., 1], cos[..., 2]
    sr, sp, sy = sin[..., 0], sin[..., 1], sin[..., 2]
    result = np.empty((*rotation.shape[:-1], 3, 3))
    result[..., 0, 0] = cy * cp
    result[..., 1, 0] = sy * cp
    result[..., 2, 0] = sp
    result[..., 0, 1] = -sy * cr - cy * sp * sr
    result[..., 1, 1] = cy * cr - sy * sp * sr
    result[..., 2, 1] = cp * sr
    result[..., 0, 2] = sy * sr - cy * sp * cr
    result[..., 1, 2] = -cy * sr - sy * sp * cr
    result[..., 2, 2] = cp * cr
    return result


def angles_of(matrices: Float) -> Float:
    """Roll, pitch, yaw ``[..., 3]`` of rotation matrices ``[..., 3, 3]``; pitch within a quarter turn."""
    pitch = np.arcsin(np.clip(matrices[..., 2, 0], -1.0, 1.0))
    roll = np.arctan2(matrices[..., 2, 1], matrices[..., 2, 2])
    yaw = np.arctan2(matrices[..., 1, 0], matrices[..., 0, 0])
    return np.stack([roll, pitch, yaw], axis=-1)
