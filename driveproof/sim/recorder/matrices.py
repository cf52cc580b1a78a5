"""Poses as 4x4 matrices in CARLA's left-handed frame (x forward, y right, z up; degrees), as annotations have them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from driveproof.geometry.arrays import Float

Rows = list[list[float]]


def pose_matrix(
    x: float, y: float, z: float, yaw: float = 0.0, pitch: float = 0.0, roll: float = 0.0
) -> Float:
    """Local to parent ``[4, 4]``; yaw is clockwise from above, pitch nose up, roll right side down."""
    cy, sy = math.cos(math.radians(yaw)), math.sin(math.radians(yaw))
    cp, sp = math.cos(math.radians(pitch)), math.sin(math.radians(pitch))
    cr, sr = math.cos(math.radians(roll)), math.sin(math.radians(roll))
    return np.array(
        [
            [cp * cy, cy * sp * sr - sy * cr, -cy * sp * cr - sy * sr, x],
            [cp * sy, sy * sp * sr + cy * cr, -sy * sp * cr + cy * sr, y],
            [sp, -cp * sr, cp * cr, z],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def angles_of(matrix: Float) -> tuple[float, float, float]:
    """Pitch, roll and yaw in degrees (the order of annotations) of a matrix ``[4, 4]``."""
    pitch = math.asin(min(max(float(matrix[2, 0]), -1.0), 1.0))
    yaw = math.atan2(matrix[1, 0], matrix[0, 0])
    roll = math.atan2(-matrix[2, 1], matrix[2, 2])
    return math.degrees(pitch), math.degrees(roll), math.degrees(yaw)


def inverse(matrix: Float) -> Float:
    """The inverse of a rigid ``[4, 4]``."""
    turned = matrix[:3, :3].T
    result = np.eye(4)
    result[:3, :3] = turned
    result[:3, 3] = -turned @ matrix[:3, 3]
    return result


def rows(matrix: Float) -> Rows:
    """A matrix as nested lists, rounded to tenths of a millimetre."""
    result: Rows = np.round(matrix, 4).tolist()
    return result


def rounded(values: Sequence[float] | Float) -> list[float]:
    """Numbers with four decimals."""
    return [round(float(value), 4) for value in values]
