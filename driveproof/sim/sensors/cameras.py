"""Cameras: colours, depth, semantic tags and instances, read from one raster."""

from __future__ import annotations

import math
import struct
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numpy.typing import NDArray

from driveproof.geometry.arrays import Float32
from driveproof.render.labels import Label
from driveproof.render.light import light_of
from driveproof.render.picture import Picture
from driveproof.render.raster import Buffers, Lens
from driveproof.render.sketch import sketch
from driveproof.sim.engine.pose import rotation_matrices
from driveproof.sim.sensors.base import Sensor
from driveproof.sim.sensors.stage import scene_of

if TYPE_CHECKING:
    from driveproof.sim.engine import Actor
    from driveproof.sim.engine.engine import Engine

Pixels = NDArray[np.uint8]

_HEADER = struct.Struct("<IIf")
#: Largest side of a picture; 24 bits of depth reach this far, metres.
MAX_SIDE, DEPTH_M = 4096, 1000.0
_DEPTH_STEPS = 2**24 - 1
#: Cameras that look down as steeply as this (sine) show what clients draw: a driver's must not.
FROM_ABOVE = -0.86


class CameraSensor(Sensor):
    """A pinhole that looks along its +x; lens distortion and exposure are not modelled."""

    def __init__(self, actor: Actor) -> None:
        super().__init__(actor)
        self.width = self.whole("image_size_x", 800, 1, MAX_SIDE)
        self.height = self.whole("image_size_y", 600, 1, MAX_SIDE)
        self.fov = self.number("fov", 90.0, 1.0, 175.0)
        self._buffers = Buffers(self.width, self.height)

    def lens(self) -> Lens:
        """Where it is now."""
        pose = self.actor.pose
        focal = self.width / (2.0 * math.tan(math.radians(self.fov) / 2.0))
        axes = rotation_matrices(pose.rotation)
        return Lens(pose.position, axes, focal, self.width, self.height)

    def picture(self, engine: Engine) -> Picture:
        """What it sees now."""
        return Picture(scene_of(engine), self.lens(), self._buffers)

    def measure(self, engine: Engine) -> bytes:
        """See :class:`Sensor`: width, height, field of view, then B, G, R, A row by row from the top left."""
        pixels = np.ascontiguousarray(self.pixels(self.picture(engine), engine))
        header = _HEADER.pack(self.width, self.height, self.fov)
        return b"".join((header, pixels.reshape(-1).view(np.uint8).data))

    @abstractmethod
    def pixels(self, picture: Picture, engine: Engine) -> NDArray[Any]:
        """What follows the header, by default ``[H, W, 4]`` blue, green, red, 255."""


class RgbCamera(CameraSensor):
    """Colours in the light of the world's weather; from above also what clients drew into the world."""

    def pixels(self, picture: Picture, engine: Engine) -> Pixels:
        """See :class:`CameraSensor`."""
        image = picture.bgra(light_of(engine.weather))
        lens = picture.lens
        if lens.axes[2, 0] < FROM_ABOVE:
            shapes = getattr(engine, "debug_shapes", ())
            ground = engine.ground_height(*lens.origin.tolist())
            scale = lens.focal / max(float(lens.origin[2]) - ground, 1.0)
            sketch(image, shapes, lambda points: lens.project(points)[0], scale, bgr=True)
        return image


class DepthCamera(CameraSensor):
    """Depth along the optical axis: R + 256 G + 65536 B counts 2^24 - 1 steps to 1000 m."""

    def pixels(self, picture: Picture, engine: Engine) -> Pixels:
        """See :class:`CameraSensor`."""
        encode_depth(picture.raster.inverse, picture.raster.image)
        return _bytes(picture.raster.image)


class SemanticCamera(CameraSensor):
    """The semantic tag in red."""

    def pixels(self, picture: Picture, engine: Engine) -> Pixels:
        """See :class:`CameraSensor`."""
        return _painted(picture, picture.column("label").astype(np.uint32) << 16)


class InstanceCamera(CameraSensor):
    """The semantic tag in red, the low and high byte of the actor's id in green and blue."""

    def pixels(self, picture: Picture, engine: Engine) -> Pixels:
        """See :class:`CameraSensor`."""
        owner = picture.column("owner").astype(np.uint32)
        low, high = (owner & 255) << 8, owner >> 8 & 255
        return _painted(picture, picture.column("label").astype(np.uint32) << 16 | low | high)


class NormalsCamera(CameraSensor):
    """The surface's unit normal in the camera's frame (right, up, towards the camera), -1 to 1 as 0 to 255."""

    def pixels(self, picture: Picture, engine: Engine) -> Pixels:
        """See :class:`CameraSensor`."""
        local = picture.column("normals") @ picture.lens.axes
        backward = (local[:, 0] > 0.0) & picture.column("sided")
        local[backward] *= -1.0
        seen = np.column_stack([-local[:, 1], local[:, 2], -local[:, 0]])
        table = np.round((seen + 1.0) * 127.5).astype(np.uint32)
        return _painted(picture, table[:, 0] << 16 | table[:, 1] << 8 | table[:, 2], 0x8080FF)


def _painted(picture: Picture, words: NDArray[Any], sky: int = Label.SKY << 16) -> Pixels:
    """Each polygon as its word of ``words`` ``[P]`` (blue lowest), with full alpha."""
    table = np.append(words, sky).astype(np.uint32) | np.uint32(0xFF000000)
    np.take(table, picture.raster.ids, mode="wrap", out=picture.raster.image)
    return _bytes(picture.raster.image)


def _bytes(words: NDArray[np.uint32]) -> Pixels:
    """Words ``[H, W]`` as bytes ``[H, W, 4]``, the lowest first."""
    return words.astype("<u4", copy=False).view(np.uint8).reshape(*words.shape, 4)


@numba.njit(nogil=True, cache=True)
def encode_depth(inverse: Float32, words: NDArray[np.uint32]) -> None:
    """CARLA's depth pixels ``[H, W]`` (blue lowest) of one over the depth ``[H, W]``."""
    scale = _DEPTH_STEPS / DEPTH_M
    for row in range(inverse.shape[0]):
        for column in range(inverse.shape[1]):
            value = np.uint32(_DEPTH_STEPS)
            if inverse[row, column] * DEPTH_M > 1.0:
                value = np.uint32(scale / inverse[row, column] + 0.5)
            words[row, column] = (
                np.uint32(0xFF000000)
                | (value & np.uint32(0xFF)) << np.uint32(16)
                | (value & np.uint32(0xFF00))
                | value >> np.uint32(16)
            )
