"""Children follow their parents: rigidly, or on a spring arm that lags behind."""

from __future__ import annotations

import numpy as np

from driveproof.geometry import wrap_angle
from driveproof.geometry.arrays import Float, Int
from driveproof.sim.engine.actor import Actor
from driveproof.sim.engine.commands import Attachment
from driveproof.sim.engine.pose import angles_of, rotation_matrices
from driveproof.sim.engine.table import ActorTable

#: A spring arm closes this share of its lag a second (1/s): CARLA's camera arms lag visibly but shortly.
_SPRING_RATE = 12.0


class Attachments:
    """All attached actors, in layers so that children of children follow too."""

    def __init__(self) -> None:
        self._layers: list[tuple[Int, Int, Float, Float, Int]] = []

    def arrange(self, actors: dict[int, Actor]) -> None:
        """Note who follows whom; call it after actors appeared or disappeared."""
        depth: dict[int, int] = {}
        for actor in actors.values():  # parents are older than their children
            parent = actors.get(actor.parent) if actor.parent is not None else None
            if parent is not None:
                depth[actor.id] = depth.get(parent.id, 0) + 1
        self._layers = []
        for layer in range(1, max(depth.values(), default=0) + 1):
            members = [actors[key] for key, level in depth.items() if level == layer]
            parents = [actors[m.parent].row for m in members if m.parent is not None]
            self._layers.append(
                (
                    np.array([m.row for m in members]),
                    np.array(parents),
                    np.array([m.relative.position for m in members]),
                    rotation_matrices(np.array([m.relative.rotation for m in members])),
                    np.flatnonzero([m.attachment != Attachment.RIGID for m in members]),
                )
            )

    def follow(self, table: ActorTable, dt: float) -> None:
        """Move children to where their parents carry them; ``dt`` zero lets spring arms arrive at once."""
        for rows, parents, offset, turn, springs in self._layers:
            frame = rotation_matrices(table.rotation[parents])
            position = table.position[parents] + (frame @ offset[..., None])[..., 0]
            rotation = angles_of(frame @ turn)
            if len(springs) and dt > 0.0:
                share = 1.0 - np.exp(-_SPRING_RATE * dt)
                mine = rows[springs]
                lag = position[springs] - table.position[mine]
                position[springs] = table.position[mine] + share * lag
                turned = wrap_angle(rotation[springs] - table.rotation[mine])
                rotation[springs] = wrap_angle(table.rotation[mine] + share * turned)
            table.position[rows], table.rotation[rows] = position, rotation
            table.velocity[rows] = table.velocity[parents]
            table.angular_velocity[rows] = table.angular_velocity[parents]
