"""Collisions and obstacles, as plain values: their messages name actors, which only the server can encode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.sim.engine.commands import ActorKind
from driveproof.sim.engine.pose import rotation_matrices
from driveproof.sim.sensors.base import Sensor
from driveproof.sim.sensors.bodies import boxes_near

if TYPE_CHECKING:
    from driveproof.sim.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class CollisionEvent:
    """``self_id`` bumped into ``other_id`` (0: a building or pole); ``impulse`` ``[3]`` in N s, world frame, right-handed."""

    self_id: int
    other_id: int
    impulse: Float


@dataclass(frozen=True, slots=True)
class ObstacleEvent:
    """``other_id`` (0: a building) is ``distance`` metres before ``self_id``."""

    self_id: int
    other_id: int
    distance: float


class CollisionSensor(Sensor):
    """One event for each contact of its parent during the last step."""

    def measure(self, engine: Engine) -> list[CollisionEvent]:
        """See :class:`Sensor`."""
        owner = self.actor.parent or 0
        return [
            CollisionEvent(owner, hit.other_id, np.asarray(hit.impulse, dtype=np.float64))
            for hit in engine.collisions
            if hit.actor_id == owner
        ]


class ObstacleSensor(Sensor):
    """The nearest body in a straight tube of ``hit_radius`` before the sensor, as far as ``distance``."""

    def measure(self, engine: Engine) -> list[ObstacleEvent]:
        """See :class:`Sensor`."""
        reach, radius = self.number("distance", 5.0, 0.0), self.number("hit_radius", 0.5, 0.0)
        moving = self.flag("only_dynamics")
        pose = self.actor.pose
        boxes = boxes_near(engine, pose.position, reach + radius, statics=not moving)
        keep = boxes.owner != (self.actor.parent or 0)
        if moving:
            keep &= np.isin(boxes.kind, [ActorKind.VEHICLE, ActorKind.WALKER])
        boxes = boxes.where(keep)
        ahead = rotation_matrices(pose.rotation)[:, 0]
        distance, box = boxes.grown(radius).nearest_hit(pose.position, ahead[None], reach)
        if box[0] < 0:
            return []
        owner = self.actor.parent or self.actor.id
        return [ObstacleEvent(owner, int(boxes.owner[box[0]]), float(distance[0]))]
