"""A pinhole camera on the ego vehicle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Float


@dataclass(frozen=True)
class Camera:
    """A pinhole camera without distortion.

    Parameters
    ----------
    x, y, z
        Position in the ego frame (x forward, y left, z up from the road), metres.
    yaw
        Radians, positive looks left.
    pitch
        Radians, positive looks up.
    roll
        Radians, positive lowers the right side.
    fov
        Horizontal field of view, radians.
    width, height
        Pixels.

    Raises
    ------
    ValueError
        If the field of view is not inside (0, pi) or a side is not positive.
    """

    x: float = 0.8
    y: float = 0.0
    z: float = 1.6
    yaw: float = 0.0
    pitch: float = 0.0
    roll: float = 0.0
    fov: float = float(np.radians(70.0))
    width: int = 224
    height: int = 128

    def __post_init__(self) -> None:
        if not 0.0 < self.fov < np.pi:
            raise ValueError(f"Camera.fov: {self.fov} is not between 0 and pi radians")
        if self.width < 1 or self.height < 1:
            raise ValueError(f"Camera: {self.width}x{self.height} is no image")

    @property
    def focal(self) -> float:
        """Focal length in pixels."""
        return self.width / (2.0 * float(np.tan(self.fov / 2.0)))

    @property
    def intrinsics(self) -> Float:
        """``[3, 3]`` matrix K of the usual optical frame (x right, y down, z forward)."""
        return np.array(
            [
                [self.focal, 0.0, self.width / 2.0],
                [0.0, self.focal, self.height / 2.0],
                [0.0, 0.0, 1.0],
            ]
        )

    @cached_property
    def rotation(self) -> Float:
        """``[3, 3]`` columns: the camera's forward, left and up axes in the ego frame."""
        cy, sy, cp, sp = np.cos(self.yaw), np.sin(self.yaw), np.cos(self.pitch), np.sin(self.pitch)
        level = np.array([[cy * cp, -sy, -cy * sp], [sy * cp, cy, -sy * sp], [sp, 0.0, cp]])
        cr, sr = np.cos(self.roll), np.sin(self.roll)
        return np.asarray(level @ np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]]))

    @property
    def position(self) -> Float:
        """``[3]`` in the ego frame, metres."""
        return np.array([self.x, self.y, self.z])

    def to_camera(self, points: ArrayLike) -> Float:
        """Ego-frame points ``[..., 3]`` in the camera's frame: forward, left, up."""
        local: Float = (np.asarray(points, dtype=np.float64) - self.position) @ self.rotation
        return local

    def to_pixels(self, local: Float) -> Float:
        """Pixels ``[..., 2]`` (u right, v down) of camera-frame points ``[..., 3]`` with positive depth."""
        scale = self.focal / local[..., :1]
        centre = np.array([self.width / 2.0, self.height / 2.0])
        return np.asarray(centre - scale * local[..., 1:], dtype=np.float64)

    def project(self, points: ArrayLike) -> tuple[Float, Float]:
        """Pixels ``[..., 2]`` and depth ``[...]`` of ego-frame points ``[..., 3]``; NaN pixels behind the camera."""
        local = self.to_camera(points)
        depth = local[..., 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            pixels = self.to_pixels(local)
        return np.where(depth[..., None] > 0.0, pixels, np.nan), depth

    def scaled(self, factor: int) -> Camera:
        """The same camera with ``factor`` times as many pixels a side."""
        return replace(self, width=self.width * factor, height=self.height * factor)


#: Bench2Drive's three front cameras (70 degrees; the side ones look 55 degrees outward), in small.
BENCH2DRIVE_CAMERAS = {
    "front": Camera(),
    "front_left": Camera(x=0.27, y=0.55, yaw=float(np.radians(55.0)), width=112, height=64),
    "front_right": Camera(x=0.27, y=-0.55, yaw=float(np.radians(-55.0)), width=112, height=64),
}
