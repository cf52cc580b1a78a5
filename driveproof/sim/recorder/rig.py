"""Where Bench2Drive's sensors sit on the ego, in CARLA's left-handed ego frame (m, degrees)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.sim.recorder.matrices import pose_matrix, rows


@dataclass(frozen=True)
class Mount:
    """A camera on the ego.

    Attributes
    ----------
    sensor
        Its name in annotations; "" for a camera that annotations leave out.
    folder
        Where its pictures lie in a clip.
    x, y, z
        Place: forward, right, up, m.
    yaw, pitch
        Degrees, clockwise and up.
    fov
        Horizontal field of view, degrees.
    width, height
        Pixels.
    every
        A picture every so many frames.
    """

    sensor: str
    folder: str
    x: float
    y: float
    z: float
    yaw: float
    fov: float
    pitch: float = 0.0
    width: int = 1600
    height: int = 900
    every: int = 1

    @property
    def intrinsic(self) -> Float:
        """Pinhole matrix ``[3, 3]`` with the principal point in the middle."""
        focal = self.width / (2.0 * math.tan(math.radians(self.fov) / 2.0))
        return np.array(
            [[focal, 0.0, self.width / 2.0], [0.0, focal, self.height / 2.0], [0.0, 0.0, 1.0]]
        )

    @cached_property
    def cam2ego(self) -> Float:
        """Camera to ego ``[4, 4]``; the camera looks along its x."""
        return pose_matrix(self.x, self.y, self.z, self.yaw, self.pitch)

    @cached_property
    def fixed(self) -> dict[str, Any]:
        """What annotations say of it in every frame."""
        return {
            "intrinsic": rows(self.intrinsic),
            "cam2ego": rows(self.cam2ego),
            "fov": self.fov,
            "image_size_x": self.width,
            "image_size_y": self.height,
        }

    def resized(self, width: int, height: int, every: int) -> Mount:
        """The same camera with another picture size and rate."""
        return replace(self, width=width, height=height, every=every)


CAMERAS = {
    mount.folder: mount
    for mount in (
        Mount("CAM_FRONT", "rgb_front", 0.80, 0.0, 1.60, 0.0, 70.0),
        Mount("CAM_FRONT_LEFT", "rgb_front_left", 0.27, -0.55, 1.60, -55.0, 70.0),
        Mount("CAM_FRONT_RIGHT", "rgb_front_right", 0.27, 0.55, 1.60, 55.0, 70.0),
        Mount("CAM_BACK", "rgb_back", -2.0, 0.0, 1.60, 180.0, 110.0),
        Mount("CAM_BACK_LEFT", "rgb_back_left", -0.32, -0.55, 1.60, -110.0, 70.0),
        Mount("CAM_BACK_RIGHT", "rgb_back_right", -0.32, 0.55, 1.60, 110.0, 70.0),
    )
}
"""The six cameras in nuScenes' arrangement, by folder."""
LIDAR = (-0.39, 0.0, 1.84)
"""Place of the lidar: forward, right, up, m."""


def top_down(pixels: int, every: int, half_m: float = 40.0, height_m: float = 60.0) -> Mount:
    """A square picture from above that reaches ``half_m`` metres to each side on the ground, the ego heading up."""
    fov = 2.0 * math.degrees(math.atan(half_m / height_m))
    mount = Mount("", "rgb_top_down", 0.0, 0.0, height_m, 0.0, fov, pitch=-90.0)
    return mount.resized(pixels, pixels, every)
