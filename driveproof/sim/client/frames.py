"""The door of the client: CARLA's left-handed degrees outside, right-handed radians inside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def to_transform(
    x: float, y: float, z: float, yaw: float = 0.0, pitch: float = 0.0, roll: float = 0.0
) -> Any:
    """``carla.Transform`` of a right-handed pose: metres; radians, yaw positive to the left, pitch nose up."""
    import carla

    rotation = carla.Rotation(
        pitch=math.degrees(pitch),
        yaw=math.degrees(math.remainder(-yaw, math.tau)),
        roll=math.degrees(roll),
    )
    return carla.Transform(carla.Location(x, -y, z), rotation)


def pose_of(transform: Any) -> tuple[float, float, float, float, float, float]:
    """Right-handed ``x, y, z, yaw, pitch, roll`` (m, rad) of a ``carla.Transform``."""
    place, turn = transform.location, transform.rotation
    yaw = math.remainder(-math.radians(turn.yaw), math.tau)
    return place.x, -place.y, place.z, yaw, math.radians(turn.pitch), math.radians(turn.roll)


def to_vector(vector: Sequence[float]) -> Any:
    """``carla.Vector3D`` of a right-handed ``[x, y, z]``."""
    import carla

    return carla.Vector3D(vector[0], -vector[1], vector[2])
