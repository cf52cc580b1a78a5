"""Turning lidars: rays against the bodies of actors, buildings and the ground."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.render.scenery import scenery_of
from driveproof.sim.engine.pose import rotation_matrices
from driveproof.sim.sensors.base import Sensor
from driveproof.sim.sensors.bodies import Boxes, boxes_near
from driveproof.sim.sensors.casting import cast_boxes, cast_ground
from driveproof.sim.sensors.patch import Patch, patch_around

if TYPE_CHECKING:
    from driveproof.sim.engine import Actor
    from driveproof.sim.engine.engine import Engine

_MAX_CHANNELS, _MAX_RAYS, _MAX_REACH_M = 512, 1_000_000, 500.0
_GROUND = -2


@dataclass(frozen=True)
class Scan:
    """What C channels of K rays each met: ``hit``, ``distance``, ``cosine``, ``found`` ``[C, K]`` and the rays ``[C, K, 3]``.

    ``found`` is the box (-2 the ground); rays are unit vectors in the sensor's right-handed frame.
    """

    rays: Float
    hit: Bool
    distance: Float
    cosine: Float
    found: Int


class _Turning(Sensor):
    """The head that both lidars share."""

    def __init__(self, actor: Actor) -> None:
        super().__init__(actor)
        self.channels = self.whole("channels", 32, 1, _MAX_CHANNELS)
        self.reach = self.number("range", 10.0, 0.0, _MAX_REACH_M)
        self._turned = 0.0
        self._patch: Patch | None = None

    def sweep(self, engine: Engine) -> tuple[Scan, Boxes]:
        """Turn on by the time that has passed, and look along all rays on the way."""
        elapsed = self.elapsed(engine)
        azimuth = self._advance(elapsed)
        upper, lower = self.number("upper_fov", 10.0), self.number("lower_fov", -30.0)
        elevation = np.radians(np.linspace(upper, lower, self.channels))
        pose = self.actor.pose
        axes, origin = rotation_matrices(pose.rotation), pose.position
        boxes = boxes_near(engine, origin, self.reach)
        shape = (self.channels, len(azimuth))
        distance, cosine = np.full(shape, self.reach + 1e-6), np.zeros(shape)
        found = np.full(shape, -1, dtype=np.int64)
        cast_boxes(
            azimuth,
            elevation,
            (boxes.centre - origin) @ axes,
            boxes.half,
            np.ascontiguousarray(axes.T @ boxes.axes),
            self.reach,
            distance,
            cosine,
            found,
        )
        if self._patch is None or not self._patch.serves(origin, self.reach):
            self._patch = patch_around(scenery_of(engine.town), origin, self.reach)
        patch = self._patch
        cast_ground(
            azimuth,
            elevation,
            axes,
            origin,
            patch.heights,
            patch.corner,
            patch.cell,
            patch.steepest,
            distance,
            cosine,
            found,
        )
        flat = np.cos(elevation)[:, None]
        rays = np.stack(
            [
                flat * np.cos(azimuth),
                flat * np.sin(azimuth),
                np.broadcast_to(np.sin(elevation)[:, None], shape),
            ],
            axis=-1,
        )
        return Scan(rays, found != -1, distance, cosine, found), boxes

    def _advance(self, elapsed: float) -> Float:
        """Azimuths ``[K]`` (right-handed, radians) of this turn; CARLA turns clockwise and starts at the left end."""
        fov = self.number("horizontal_fov", 360.0, 0.1, 360.0)
        rays = self.number("points_per_second", 56000.0, 0.0) * elapsed
        columns = min(round(rays / self.channels), _MAX_RAYS // self.channels)
        turn = self.number("rotation_frequency", 10.0, 0.0) * fov * elapsed
        steps = self._turned + turn * np.arange(columns) / max(columns, 1)
        self._turned = (self._turned + turn) % fov
        return -np.radians(steps % fov - fov / 2.0)

    def header(self, counts: Int) -> bytes:
        """Angle at the end (radians), number of channels, points of each channel."""
        head = struct.pack("<fI", math.radians(self._turned), self.channels)
        return head + counts.astype("<u4").tobytes()


class Lidar(_Turning):
    """Points as x, y (right), z and intensity; drops and noise as CARLA describes them."""

    def measure(self, engine: Engine) -> bytes:
        """See :class:`Sensor`."""
        scan, _ = self.sweep(engine)
        intensity = np.exp(-self.number("atmosphere_attenuation_rate", 0.004, 0.0) * scan.distance)
        kept = scan.hit & self._survive(intensity)
        distance = scan.distance
        noise = self.number("noise_stddev", 0.0, 0.0)
        if noise > 0.0:
            distance = distance + noise * self.rng.standard_normal(distance.shape)
        points = np.empty((*distance.shape, 4), dtype="<f4")
        points[..., :3] = scan.rays * distance[..., None]
        points[..., 1] *= -1.0
        points[..., 3] = intensity
        return self.header(kept.sum(1)) + points[kept].tobytes()

    def _survive(self, intensity: Float) -> Bool:
        """Which rays come back: some are lost at random, weak ones more often."""
        kept = np.ones(intensity.shape, dtype=bool)
        lost = self.number("dropoff_general_rate", 0.45, 0.0, 1.0)
        if lost > 0.0:
            kept &= self.rng.random(intensity.shape) >= lost
        limit = self.number("dropoff_intensity_limit", 0.8)
        at_zero = self.number("dropoff_zero_intensity", 0.4, 0.0, 1.0)
        if limit > 0.0 and at_zero > 0.0:
            chance = at_zero / limit * intensity + 1.0 - at_zero
            kept &= (intensity > limit) | (self.rng.random(intensity.shape) < chance)
        return kept


class SemanticLidar(_Turning):
    """Points as x, y (right), z, cosine of the incidence, actor id and semantic tag; no drops, no noise."""

    def measure(self, engine: Engine) -> bytes:
        """See :class:`Sensor`."""
        scan, boxes = self.sweep(engine)
        hit, found = scan.hit, scan.found[scan.hit]
        local = scan.rays[hit] * scan.distance[hit][:, None]
        points = np.zeros(len(found), dtype=_POINT)
        points["x"], points["y"], points["z"] = local[:, 0], -local[:, 1], local[:, 2]
        points["cosine"] = scan.cosine[hit]
        solid = found >= 0
        points["owner"][solid] = boxes.owner[found[solid]]
        points["label"][solid] = boxes.label[found[solid]]
        pose = self.actor.pose
        world = local[~solid] @ rotation_matrices(pose.rotation).T + pose.position
        assert self._patch is not None  # the sweep has just used it
        points["label"][~solid] = self._patch.labels_at(world)
        return self.header(hit.sum(1)) + points.tobytes()


_POINT = np.dtype(
    [(name, "<f4") for name in ("x", "y", "z", "cosine")] + [("owner", "<u4"), ("label", "<u4")]
)
