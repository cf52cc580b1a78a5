"""The camera rig: where Bench2Drive's cameras sit on the ego, in CARLA's left-handed ego frame."""

from __future__ import annotations

import math
from dataclasses import dataclass

from driveproof.config.collect import CollectParams

Matrix = list[list[float]]


@dataclass(frozen=True)
class Mount:
    """A camera: annotation name, folder, place on the ego (x forward, y right, z up, m), yaw (degrees,
    clockwise), horizontal field of view (degrees) and picture size (pixels)."""

    sensor: str
    folder: str
    x: float
    y: float
    z: float
    yaw: float
    fov: float
    width: int
    height: int

    @property
    def intrinsic(self) -> Matrix:
        """Pinhole matrix 3x3 with the principal point in the middle."""
        focal = self.width / (2.0 * math.tan(math.radians(self.fov) / 2.0))
        return [
            [focal, 0.0, self.width / 2.0],
            [0.0, focal, self.height / 2.0],
            [0.0, 0.0, 1.0],
        ]

    @property
    def cam2ego(self) -> Matrix:
        """Camera to ego, 4x4."""
        return pose_matrix(self.x, self.y, self.z, self.yaw)


def rig(params: CollectParams) -> tuple[Mount, ...]:
    """The three front cameras in the sizes of the parameters."""
    front = (params.front_width, params.front_height)
    side = (params.side_width, params.side_height)
    return (
        Mount("CAM_FRONT", "rgb_front", 0.80, 0.0, 1.60, 0.0, 70.0, *front),
        Mount("CAM_FRONT_LEFT", "rgb_front_left", 0.27, -0.55, 1.60, -55.0, 70.0, *side),
        Mount("CAM_FRONT_RIGHT", "rgb_front_right", 0.27, 0.55, 1.60, 55.0, 70.0, *side),
    )


def pose_matrix(x: float, y: float, z: float, yaw: float) -> Matrix:
    """Local to parent 4x4 of an upright pose; yaw in CARLA degrees."""
    c, s = math.cos(math.radians(yaw)), math.sin(math.radians(yaw))
    return [[c, -s, 0.0, x], [s, c, 0.0, y], [0.0, 0.0, 1.0, z], [0.0, 0.0, 0.0, 1.0]]


def inverse_pose_matrix(x: float, y: float, z: float, yaw: float) -> Matrix:
    """Parent to local 4x4 of the same pose."""
    c, s = math.cos(math.radians(yaw)), math.sin(math.radians(yaw))
    return [
        [c, s, 0.0, -(c * x + s * y)],
        [-s, c, 0.0, s * x - c * y],
        [0.0, 0.0, 1.0, -z],
        [0.0, 0.0, 0.0, 1.0],
    ]
