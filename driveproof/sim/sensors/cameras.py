"""Cameras: colours, depth, semantic tags and instances, read from one raster."""

from __future__ import annotations

import math
import struct
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from driveproof.render.light import light_of
from driveproof.render.picture import Picture
from driveproof.render.raster import Lens
from driveproof.sim.engine.pose import rotation_matrices
from driveproof.sim.sensors.base import Sensor
from driveproof.sim.sensors.stage import scene_of

if TYPE_CHECKING:
    from driveproof.sim.engine import Actor
    from driveproof.sim.engine.engine import Engine

Pixels = NDArray[np.uint8]

_HEADER = struct.Struct("<IIf")
#: Largest side of a picture; 24 bits of depth reach this far, metres.
MAX_SIDE, DEPTH_M = 8192, 1000.0
_DEPTH_STEPS = 2**24 - 1


class CameraSensor(Sensor):
    """A pinhole that looks along its +x; lens distortion and exposure are not modelled."""

    def __init__(self, actor: Actor) -> None:
        super().__init__(actor)
        self.width = self.whole("image_size_x", 800, 1, MAX_SIDE)
        self.height = self.whole("image_size_y", 600, 1, MAX_SIDE)
        self.fov = self.number("fov", 90.0, 1.0, 175.0)

    def lens(self) -> Lens:
        """Where it is now."""
        pose = self.actor.pose
        focal = self.width / (2.0 * math.tan(math.radians(self.fov) / 2.0))
        axes = rotation_matrices(pose.rotation)
        return Lens(pose.position, axes, focal, self.width, self.height)

    def picture(self, engine: Engine) -> Picture:
        """What it sees now."""
        return Picture(scene_of(engine), self.lens())

    def measure(self, engine: Engine) -> bytes:
        """See :class:`Sensor`: width, height, field of view, then B, G, R, A row by row from the top left."""
        pixels = self.pixels(self.picture(engine), engine)
        header = _HEADER.pack(self.width, self.height, self.fov)
        return b"".join((header, pixels.data))

    @abstractmethod
    def pixels(self, picture: Picture, engine: Engine) -> Pixels:
        """``[H, W, 4]`` blue, green, red, 255."""


class RgbCamera(CameraSensor):
    """Colours in the light of the world's weather."""

    def pixels(self, picture: Picture, engine: Engine) -> Pixels:
        """See :class:`CameraSensor`."""
        return picture.bgra(light_of(engine.weather))


class DepthCamera(CameraSensor):
    """Depth along the optical axis: R + 256 G + 65536 B counts 2^24 - 1 steps to 1000 m."""

    def pixels(self, picture: Picture, engine: Engine) -> Pixels:
        """See :class:`CameraSensor`."""
        steps = np.clip(picture.depth().astype(np.float64) / DEPTH_M, 0.0, 1.0) * _DEPTH_STEPS
        value = np.round(steps).astype(np.uint32)
        blue, green, red = value >> 16 & 255, value & 0xFF00, (value & 255) << 16
        return _packed(blue | green | red)


class SemanticCamera(CameraSensor):
    """The semantic tag in red."""

    def pixels(self, picture: Picture, engine: Engine) -> Pixels:
        """See :class:`CameraSensor`."""
        return _packed(picture.labels().astype(np.uint32) << 16)


class InstanceCamera(CameraSensor):
    """The semantic tag in red, the low and high byte of the actor's id in green and blue."""

    def pixels(self, picture: Picture, engine: Engine) -> Pixels:
        """See :class:`CameraSensor`."""
        owner = picture.owners().astype(np.uint32)
        low, high = (owner & 255) << 8, owner >> 8 & 255
        return _packed(picture.labels().astype(np.uint32) << 16 | low | high)


class NormalsCamera(CameraSensor):
    """The surface's unit normal in the camera's frame (right, up, towards the camera), -1 to 1 as 0 to 255."""

    def pixels(self, picture: Picture, engine: Engine) -> Pixels:
        """See :class:`CameraSensor`."""
        local = picture.column("normals") @ picture.lens.axes
        backward = (local[:, 0] > 0.0) & picture.column("sided")
        local[backward] *= -1.0
        seen = np.column_stack([-local[:, 1], local[:, 2], -local[:, 0]])
        table = np.round((np.vstack([seen, [0.0, 0.0, 1.0]]) + 1.0) * 127.5).astype(np.uint32)
        words = table[:, 0] << 16 | table[:, 1] << 8 | table[:, 2]
        return _packed(words[picture.raster.ids])


def _packed(words: NDArray[Any]) -> Pixels:
    """Words with blue lowest as bytes ``[H, W, 4]``, alpha 255."""
    full = np.ascontiguousarray(words | 0xFF000000, dtype="<u4")
    return full.view(np.uint8).reshape(*full.shape, 4)
