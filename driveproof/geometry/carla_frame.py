"""The door between CARLA (left-handed, y right, degrees) and the inside (right-handed, y left, radians)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Float
from driveproof.geometry.se2 import wrap_angle


def from_carla_points(points: ArrayLike) -> Float:
    """CARLA points or vectors ``[..., 2 or 3]`` with y to the right, as right-handed ones."""
    flipped: Float = np.array(points, dtype=np.float64)
    flipped[..., 1] *= -1.0
    return flipped


def to_carla_points(points: ArrayLike) -> Float:
    """Right-handed points or vectors as CARLA ones (the flip is its own inverse)."""
    return from_carla_points(points)


def from_carla_yaw(degrees: ArrayLike) -> Float:
    """CARLA yaw in degrees (clockwise) as heading in radians (counter-clockwise), wrapped."""
    return wrap_angle(-np.radians(np.asarray(degrees, dtype=np.float64)))


def to_carla_yaw(heading: ArrayLike) -> Float:
    """Heading in radians (counter-clockwise) as CARLA yaw in degrees (clockwise), wrapped."""
    return np.degrees(wrap_angle(-np.asarray(heading, dtype=np.float64)))
