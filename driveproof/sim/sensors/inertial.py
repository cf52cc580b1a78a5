"""Inertial and satellite sensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgpack
import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.sim.engine.pose import rotation_matrices
from driveproof.sim.sensors.base import Sensor
from driveproof.sim.sensors.geodesy import Geodesy

if TYPE_CHECKING:
    from driveproof.sim.engine import Actor
    from driveproof.sim.engine.engine import Engine

GRAVITY = 9.81


def packed(values: object) -> bytes:
    """MessagePack with float32 for what CARLA declares as float."""
    return bytes(msgpack.packb(values, use_single_float=True))


class ImuSensor(Sensor):
    """Specific force (m/s², at rest +9.81 upwards), turn rate (rad/s) in the sensor's left-handed frame, and compass.

    The compass is 0 where the sensor looks north (CARLA's -y) and grows clockwise.
    """

    def measure(self, engine: Engine) -> bytes:
        """See :class:`Sensor`."""
        carrier = engine.actors.get(self.actor.parent or -1, self.actor)
        pose = self.actor.pose
        axes = rotation_matrices(pose.rotation)
        turn = carrier.angular_velocity
        force = carrier.acceleration + np.array([0.0, 0.0, GRAVITY])
        # A mirror turns the y of vectors, and the x and z of turns.
        force = (force @ axes) * [1.0, -1.0, 1.0]
        turn = (turn @ axes) * [-1.0, 1.0, -1.0]
        force = force + self._noise("accel_stddev") * self.rng.standard_normal(3)
        turn = turn + self._noise("gyro_bias")
        turn = turn + self._noise("gyro_stddev") * self.rng.standard_normal(3)
        compass = float((np.pi / 2.0 - pose.yaw) % (2.0 * np.pi))
        return packed([force.tolist(), turn.tolist(), compass])

    def _noise(self, name: str) -> Float:
        return np.array([self.number(f"noise_{name}_{axis}", 0.0) for axis in "xyz"])


class GnssSensor(Sensor):
    """Latitude and longitude in degrees, altitude in metres."""

    def __init__(self, actor: Actor) -> None:
        super().__init__(actor)
        self._geodesy: Geodesy | None = None

    def measure(self, engine: Engine) -> bytes:
        """See :class:`Sensor`."""
        if self._geodesy is None:
            self._geodesy = Geodesy.of(engine.town.opendrive)
        pose = self.actor.pose
        fix = self._geodesy.locate(pose.x, pose.y, pose.z)
        noisy = [
            value
            + self.number(f"noise_{name}_bias", 0.0)
            + self.number(f"noise_{name}_stddev", 0.0) * float(self.rng.standard_normal())
            for value, name in zip(fix, ("lat", "lon", "alt"), strict=True)
        ]
        return bytes(msgpack.packb(noisy))
