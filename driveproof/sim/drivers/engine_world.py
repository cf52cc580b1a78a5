"""A bare engine as a world for drivers: the same calls as a session, without a server in between."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from driveproof.maps import TownMap
from driveproof.scene import LightState
from driveproof.sim.blueprints import VehicleSpec, library
from driveproof.sim.client import SpawnBlocked
from driveproof.sim.client.states import ActorState, Collision, Kind, WorldState
from driveproof.sim.engine import (
    Actor,
    ActorKind,
    Engine,
    Pose3,
    Vehicle,
    VehicleControl,
    Walker,
    WalkerControl,
)
from driveproof.sim.engine import SpawnBlocked as EngineBlocked

_KINDS: dict[int, Kind] = {
    int(ActorKind.VEHICLE): "vehicle",
    int(ActorKind.WALKER): "walker",
    int(ActorKind.PROP): "prop",
}
_LIGHTS = (
    LightState.RED,
    LightState.YELLOW,
    LightState.GREEN,
    LightState.OFF,
    LightState.UNKNOWN,
)


class EngineWorld:
    """Lets drivers drive an :class:`~driveproof.sim.engine.Engine` in this process.

    Collisions of every vehicle are reported, as if each carried a sensor.
    """

    def __init__(self, engine: Engine, delta_s: float = 0.05) -> None:
        self.engine, self.delta_s = engine, delta_s
        self.state = self._read()

    @classmethod
    def of(cls, town: TownMap, seed: int = 0, delta_s: float = 0.05, **more: Any) -> EngineWorld:
        """A fresh world of a town; ``more`` goes to the engine."""
        return cls(Engine(town, library(), seed, **more), delta_s)

    @property
    def town(self) -> TownMap:
        """The roads."""
        return self.engine.town

    def spawn_vehicle(
        self,
        type_id: str,
        pose: Sequence[float],
        z: float | None = None,
        role_name: str = "",
        colour: tuple[int, int, int] | None = None,
        speed: float = 0.0,
    ) -> Actor:
        """As :meth:`driveproof.sim.client.Session.spawn_vehicle`."""
        attributes = {"role_name": role_name} if role_name else {}
        if colour is not None:
            attributes["color"] = ",".join(map(str, colour))
        actor = self._spawn(type_id, attributes, pose, z, 0.0)
        actor.velocity = (speed * math.cos(pose[2]), speed * math.sin(pose[2]), 0.0)
        return actor

    def spawn_walker(
        self, type_id: str, pose: Sequence[float], z: float | None = None, role_name: str = ""
    ) -> Actor:
        """As :meth:`driveproof.sim.client.Session.spawn_walker`."""
        return self._spawn(type_id, {"role_name": role_name} if role_name else {}, pose, z, 1.0)

    def spawn_prop(
        self, type_id: str, pose: Sequence[float], z: float | None = None, role_name: str = ""
    ) -> Actor:
        """As :meth:`driveproof.sim.client.Session.spawn_prop`."""
        return self._spawn(type_id, {"role_name": role_name} if role_name else {}, pose, z, 0.0)

    def _spawn(
        self,
        type_id: str,
        attributes: Mapping[str, str],
        pose: Sequence[float],
        z: float | None,
        lift: float,
    ) -> Actor:
        x, y, heading = map(float, pose)
        ground = self.engine.ground_height(x, y, 0.0 if z is None else z)
        place = Pose3(x, y, ground + lift, yaw=heading)
        try:
            return self.engine.spawn(type_id, attributes, place)
        except EngineBlocked as error:
            raise SpawnBlocked(f"{type_id} at {x:.1f}, {y:.1f}: {error}") from error

    def destroy(self, actors: Iterable[int]) -> None:
        """Remove actors by id."""
        for number in actors:
            self.engine.destroy(number)

    def apply(self, controls: Mapping[int, Any]) -> None:
        """Give vehicles and walkers their ``carla`` controls."""
        for number, control in controls.items():
            actor = self.engine.actors.get(number)
            if isinstance(actor, Vehicle):
                actor.control = VehicleControl(
                    control.throttle,
                    control.steer,
                    control.brake,
                    control.hand_brake,
                    control.reverse,
                )
            elif isinstance(actor, Walker):
                way = control.direction
                actor.walker_control = WalkerControl((way.x, -way.y, way.z), control.speed)

    def tick(self) -> WorldState:
        """Let one step pass."""
        self.engine.step(self.delta_s)
        self.state = self._read()
        return self.state

    def look(self) -> WorldState:
        """The state now, with actors spawned since the last tick."""
        self.state = self._read()
        return self.state

    def _read(self) -> WorldState:
        engine = self.engine
        contacts = {
            (hit.actor_id, hit.other_id): float(np.linalg.norm(hit.impulse))
            for hit in engine.collisions
        }
        return WorldState(
            frame=engine.frame,
            time=engine.time,
            actors=_actor_states(engine),
            lights={light.signal_id: _LIGHTS[int(light.state)] for light in engine.lights},
            collisions=tuple(
                Collision(engine.frame, one, other, _type_of(engine, other), impulse)
                for (one, other), impulse in sorted(contacts.items())
            ),
        )


def _type_of(engine: Engine, actor_id: int) -> str:
    actor = engine.actors.get(actor_id)
    return actor.type_id if actor is not None else "static.building"


def _actor_states(engine: Engine) -> dict[int, ActorState]:
    table = engine.table
    rows = np.flatnonzero(np.isin(table.kind, list(_KINDS)))
    heading = np.remainder(table.rotation[rows, 2] + np.pi, 2.0 * np.pi) - np.pi
    cos, sin = np.cos(heading), np.sin(heading)
    place, offset = table.position[rows], table.box_offset[rows]
    size = 2.0 * table.half_extent[rows]
    velocity, accel = table.velocity[rows], table.acceleration[rows]
    columns = [
        place[:, 0] + offset[:, 0] * cos - offset[:, 1] * sin,
        place[:, 1] + offset[:, 0] * sin + offset[:, 1] * cos,
        place[:, 2] + offset[:, 2] - size[:, 2] / 2.0,
        heading,
        velocity[:, 0],
        velocity[:, 1],
        velocity[:, 0] * cos + velocity[:, 1] * sin,
        accel[:, 0] * cos + accel[:, 1] * sin,
        table.angular_velocity[rows, 2],
        size[:, 0],
        size[:, 1],
        size[:, 2],
    ]
    ids = table.id[rows].tolist()
    return {
        number: _state(engine.actors[number], values)
        for number, values in zip(ids, np.stack(columns, axis=1).tolist(), strict=True)
    }


def _state(actor: Actor, values: list[float]) -> ActorState:
    spec = actor.spec if isinstance(actor, Vehicle) else None
    base = spec.base_type if isinstance(spec, VehicleSpec) else ""
    role = actor.attributes.get("role_name", "")
    return ActorState._make((actor.id, actor.type_id, _KINDS[int(actor.kind)], role, *values, base))
