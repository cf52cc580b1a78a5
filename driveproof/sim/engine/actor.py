"""Actors: handles to rows of the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.sim.engine.commands import ActorKind, Box
from driveproof.sim.engine.pose import Pose3, rotation_matrices

if TYPE_CHECKING:
    from driveproof.sim.engine.engine import Engine

Vector = Sequence[float] | Float


@dataclass(frozen=True, slots=True)
class Collision:
    """``actor_id`` felt ``impulse`` ``[3]`` (N s, world frame) from ``other_id`` (0: a building or pole) at ``point`` ``[3]``."""

    actor_id: int
    other_id: int
    impulse: Float
    point: Float


class Actor:
    """Anything with an id and a place. Vectors are in the world's frame, metres, seconds, radians.

    Attributes
    ----------
    id
        Never used again after the actor is gone.
    type_id
        "vehicle.lincoln.mkz_2020".
    attributes
        Attribute values as text.
    parent
        Id of the actor that it is attached to, None without.
    relative
        Pose in the parent's frame (the pose at birth while there is no parent).
    row
        Row in ``Engine.table``; changes when older actors are destroyed.
    kind
        :class:`~driveproof.sim.engine.commands.ActorKind`.
    tags
        CARLA's semantic tags.
    alive
        False once destroyed.
    """

    def __init__(
        self,
        engine: Engine,
        actor_id: int,
        type_id: str,
        attributes: Mapping[str, str],
        kind: ActorKind,
        tags: tuple[int, ...],
    ) -> None:
        self._engine = engine
        self.id = actor_id
        self.type_id = type_id
        self.attributes = dict(attributes)
        self.kind = kind
        self.tags = tags
        self.parent: int | None = None
        self.attachment = 0
        self.relative = Pose3()
        self.row = -1
        self.alive = True

    def __repr__(self) -> str:
        return f"Actor({self.id}, {self.type_id})"

    @property
    def pose(self) -> Pose3:
        """Where it is; setting it teleports (in the world's frame, also for attached actors)."""
        table = self._engine.table
        return Pose3.of(table.position[self.row], table.rotation[self.row])

    @pose.setter
    def pose(self, pose: Pose3) -> None:
        self._engine.teleport(self.id, pose)

    @property
    def velocity(self) -> Float:
        """``[3]`` m/s; setting it changes the motion at once."""
        return np.array(self._engine.table.velocity[self.row])

    @velocity.setter
    def velocity(self, value: Vector) -> None:
        self._engine.table.velocity[self.row] = finite(value)

    @property
    def angular_velocity(self) -> Float:
        """``[3]`` rad/s about the world's axes; setting it changes the motion at once."""
        return np.array(self._engine.table.angular_velocity[self.row])

    @angular_velocity.setter
    def angular_velocity(self, value: Vector) -> None:
        self._engine.table.angular_velocity[self.row] = finite(value)

    @property
    def acceleration(self) -> Float:
        """``[3]`` m/s² during the last step."""
        return np.array(self._engine.table.acceleration[self.row])

    @property
    def bounding_box(self) -> Box:
        """The box in the actor's frame; for lights and signs it is the trigger volume, as CARLA has it."""
        table = self._engine.table
        x, y, z = table.box_offset[self.row].tolist()
        a, b, c = table.half_extent[self.row].tolist()
        return Box((x, y, z), (a, b, c))

    @property
    def simulate_physics(self) -> bool:
        """Whether forces, gravity and collisions move it."""
        return bool(self._engine.table.physics[self.row])

    @simulate_physics.setter
    def simulate_physics(self, on: bool) -> None:
        self._engine.set_physics(self.id, on)

    @property
    def collisions_enabled(self) -> bool:
        """Whether other bodies bump into it."""
        return bool(self._engine.table.solid[self.row])

    @collisions_enabled.setter
    def collisions_enabled(self, on: bool) -> None:
        self._engine.table.solid[self.row] = on

    @property
    def gravity(self) -> bool:
        """Whether it falls."""
        return bool(self._engine.table.gravity[self.row])

    @gravity.setter
    def gravity(self, on: bool) -> None:
        self._engine.table.gravity[self.row] = on

    def add_impulse(self, impulse: Vector, at: Vector | None = None) -> None:
        """Change the momentum by ``impulse`` ``[3]`` (N s), given at the world point ``at`` ``[3]`` or at the centre."""
        self._engine.add_impulse(self.id, finite(impulse), None if at is None else finite(at))

    def add_angular_impulse(self, impulse: Vector) -> None:
        """Change the angular momentum by ``impulse`` ``[3]`` (kg m²/s)."""
        self._engine.add_angular_impulse(self.id, finite(impulse))

    def forward(self) -> Float:
        """``[3]`` unit vector of its nose."""
        return np.asarray(rotation_matrices(self._engine.table.rotation[self.row])[:, 0])


def finite(value: Vector) -> Float:
    """``value`` as ``[3]`` floats with anything that is not a finite number set to zero, and bounded to 1e6."""
    vector = np.nan_to_num(np.asarray(value, dtype=np.float64).reshape(3), posinf=0.0, neginf=0.0)
    return np.clip(vector, -1e6, 1e6)
