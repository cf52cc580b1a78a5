"""Radar: random rays within a cone, with the speed at which what they meet comes nearer or goes away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.sim.engine.pose import rotation_matrices
from driveproof.sim.sensors.base import Sensor
from driveproof.sim.sensors.bodies import boxes_near

if TYPE_CHECKING:
    from driveproof.sim.engine.engine import Engine

_MAX_RAYS = 100_000


class Radar(Sensor):
    """Hits on actors and buildings as (velocity, azimuth, altitude, depth), left-handed, float32.

    The velocity is that of the target relative to the radar along the ray: negative comes nearer.
    """

    def measure(self, engine: Engine) -> bytes:
        """See :class:`Sensor`."""
        count = round(self.number("points_per_second", 1500.0, 0.0) * self.elapsed(engine))
        azimuth, altitude = self._rays(min(max(count, 1), _MAX_RAYS))
        reach = self.number("range", 100.0, 0.0)
        cos = np.cos(altitude)
        local = np.column_stack([cos * np.cos(azimuth), -cos * np.sin(azimuth), np.sin(altitude)])
        pose = self.actor.pose
        rays = local @ rotation_matrices(pose.rotation).T
        boxes = boxes_near(engine, pose.position, reach)
        boxes = boxes.where(boxes.owner != (self.actor.parent or 0))
        depth, box = boxes.nearest_hit(pose.position, rays, reach)
        met = box >= 0
        carrier = engine.actors.get(self.actor.parent or -1, self.actor)
        relative = boxes.velocity[box[met]] - carrier.velocity
        velocity = (relative * rays[met]).sum(1)
        columns = [velocity, azimuth[met], altitude[met], depth[met]]
        return np.column_stack(columns).astype("<f4").tobytes()

    def _rays(self, count: int) -> tuple[Float, Float]:
        """Azimuth (right positive) and altitude ``[count]`` in radians, spread over an elliptic cone."""
        radius = np.sqrt(self.rng.random(count))
        turn = self.rng.random(count) * 2.0 * np.pi
        across = np.tan(np.radians(self.number("horizontal_fov", 30.0, 0.0, 170.0)) / 2.0)
        upright = np.tan(np.radians(self.number("vertical_fov", 30.0, 0.0, 170.0)) / 2.0)
        right, up = across * radius * np.cos(turn), upright * radius * np.sin(turn)
        azimuth = np.arctan(right)
        return azimuth, np.arctan2(up, np.sqrt(1.0 + right**2))
