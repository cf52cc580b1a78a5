"""Actors of a session: spawned, controlled, measured with sensors, and destroyed without a trace."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from driveproof.sim.client.failures import SpawnBlocked, UnknownBlueprint
from driveproof.sim.client.frames import to_transform, to_vector
from driveproof.sim.client.link import Link
from driveproof.sim.client.sensors import SensorQueue
from driveproof.sim.client.states import Collision

LIFT = 0.2
"""Metres above the road at which vehicles are put down, so that real wheels are not in the ground."""
LATE_S = 0.1
"""Seconds within which an event of a tick has surely arrived."""


class Actors(Link):
    """A link with actors of its own; see :class:`driveproof.sim.client.Session`."""

    def __init__(self, client: Any, delta_s: float, timeout_s: float) -> None:
        self._spawned: dict[int, Any] = {}
        self._sensors: dict[int, SensorQueue] = {}
        self._watched: dict[int, SensorQueue] = {}
        super().__init__(client, delta_s, timeout_s)

    def spawn_vehicle(
        self,
        type_id: str,
        pose: Sequence[float],
        z: float | None = None,
        role_name: str = "",
        colour: tuple[int, int, int] | None = None,
        speed: float = 0.0,
    ) -> Any:
        """Put down a vehicle, a ``carla.Vehicle``; it is in the states from the next tick on.

        Parameters
        ----------
        pose
            ``x, y, heading``, right-handed.
        z
            Height of the ground, m; None takes the nearest lane's.
        colour
            Red, green, blue 0 to 255; None leaves the blueprint's.
        speed
            Metres a second along the heading with which it begins.

        Raises
        ------
        SpawnBlocked
            If something stands there.
        UnknownBlueprint
            If the server has no such vehicle.
        """
        attributes = {"role_name": role_name} if role_name else {}
        if colour is not None:
            attributes["color"] = ",".join(map(str, colour))
        vehicle = self._spawn_on_ground(type_id, attributes, pose, z, LIFT)
        if speed:
            along = (speed * math.cos(pose[2]), speed * math.sin(pose[2]), 0.0)
            vehicle.set_target_velocity(to_vector(along))
        return vehicle

    def spawn_walker(
        self, type_id: str, pose: Sequence[float], z: float | None = None, role_name: str = ""
    ) -> Any:
        """Put down a walker, a ``carla.Walker``, as :meth:`spawn_vehicle` does."""
        attributes = {"role_name": role_name} if role_name else {}
        return self._spawn_on_ground(type_id, attributes, pose, z, 1.0)

    def spawn_prop(
        self, type_id: str, pose: Sequence[float], z: float | None = None, role_name: str = ""
    ) -> Any:
        """Put down a thing, a ``carla.Actor``, as :meth:`spawn_vehicle` does."""
        attributes = {"role_name": role_name} if role_name else {}
        return self._spawn_on_ground(type_id, attributes, pose, z, 0.0)

    def _spawn_on_ground(
        self,
        type_id: str,
        attributes: Mapping[str, str],
        pose: Sequence[float],
        z: float | None,
        lift: float,
    ) -> Any:
        x, y, heading = map(float, pose)
        ground = self.ground(x, y) if z is None else z
        return self.spawn(type_id, attributes, to_transform(x, y, ground + lift, heading))

    def spawn(
        self,
        type_id: str,
        attributes: Mapping[str, str],
        transform: Any,
        parent: Any = None,
    ) -> Any:
        """Spawn any blueprint at a ``carla.Transform``, relative to ``parent`` if there is one."""
        import carla

        blueprint = self._blueprint(type_id, attributes)
        try:
            rigid = carla.AttachmentType.Rigid
            actor = self.world.spawn_actor(blueprint, transform, parent, rigid)
        except RuntimeError as error:
            if "collision" in str(error) or "spawn failed" in str(error).lower():
                place = transform.location
                raise SpawnBlocked(
                    f"{type_id} at {place.x:.1f}, {-place.y:.1f}: {error}"
                ) from error
            with self._asking(f"spawning {type_id}"):
                raise
        self._spawned[actor.id] = actor
        return actor

    def _blueprint(self, type_id: str, attributes: Mapping[str, str]) -> Any:
        try:
            blueprint = self.library.find(type_id)
        except IndexError:
            raise UnknownBlueprint("the simulator has no such blueprint", field=type_id) from None
        for key, value in attributes.items():
            if not blueprint.has_attribute(key):
                raise UnknownBlueprint(
                    "the blueprint has no such attribute", field=f"{type_id}.{key}"
                )
            blueprint.set_attribute(key, value)
        return blueprint

    def actor(self, actor_id: int) -> Any:
        """The ``carla.Actor`` of an id; LookupError if there is none."""
        if actor_id in self._spawned:
            return self._spawned[actor_id]
        with self._asking("asking for an actor"):
            actor = self.world.get_actor(actor_id)
        if actor is None:
            raise LookupError(f"no actor {actor_id}")
        return actor

    def destroy(self, actors: Iterable[int]) -> None:
        """Destroy actors by id, and first, drained, the sensors on them. Unknown ids are left out."""
        import carla

        ids = set(actors)
        for sensor in [s for s in self._sensors.values() if {s.id, s.parent_id} & ids]:
            self._close_sensor(sensor)
            ids.add(sensor.id)
        gone = sorted((i for i in ids if i in self._spawned), reverse=True)
        for actor_id in gone:
            del self._spawned[actor_id]
            self._watched.pop(actor_id, None)
        if gone and not self.lost:
            with self._asking("destroying actors"):
                commands = [carla.command.DestroyActor(actor_id) for actor_id in gone]
                self.client.apply_batch_sync(commands, False)

    def clear(self) -> None:
        """Destroy everything that this session has spawned."""
        self.destroy(list(self._spawned))

    def apply(self, controls: Mapping[int, Any]) -> None:
        """Send one batch of ``carla.VehicleControl`` or ``carla.WalkerControl`` by actor id."""
        import carla

        vehicle, walker = carla.command.ApplyVehicleControl, carla.command.ApplyWalkerControl
        commands = [
            (walker if isinstance(control, carla.WalkerControl) else vehicle)(actor_id, control)
            for actor_id, control in controls.items()
        ]
        if commands:
            with self._asking("applying controls"):
                self.client.apply_batch_sync(commands, False)

    def set_lamps(self, lamps: Mapping[int, int]) -> None:
        """Set bits of ``carla.VehicleLightState`` by vehicle id, in one batch."""
        import carla

        commands = [
            carla.command.SetVehicleLightState(actor_id, carla.VehicleLightState(bits))
            for actor_id, bits in lamps.items()
        ]
        if commands:
            with self._asking("setting lamps"):
                self.client.apply_batch_sync(commands, False)

    def lamps(self) -> dict[int, int]:
        """Bits of ``carla.VehicleLightState`` of all vehicles by id."""
        with self._asking("asking for lamps"):
            return {
                actor_id: int(bits)
                for actor_id, bits in dict(self.world.get_vehicles_light_states()).items()
            }

    def attach_sensor(
        self,
        type_id: str,
        attributes: Mapping[str, object] | None = None,
        pose: Sequence[float] = (0.0, 0.0, 0.0),
        parent: Any = None,
    ) -> SensorQueue:
        """Attach a sensor that listens from the next tick on.

        Parameters
        ----------
        pose
            Right-handed ``x, y, z[, yaw[, pitch[, roll]]]`` in the frame of ``parent`` (m, rad).
        parent
            A ``carla.Actor``; None puts the sensor into the world.
        """
        texts = {key: _text(value) for key, value in (attributes or {}).items()}
        actor = self.spawn(type_id, texts, to_transform(*pose), parent)
        queue = SensorQueue(actor, self.state.frame)
        self._sensors[actor.id] = queue
        return queue

    def watch_collisions(self, vehicle: Any) -> None:
        """Report contacts of a ``carla.Vehicle`` in the states from now on."""
        if vehicle.id not in self._watched:
            queue = self.attach_sensor("sensor.other.collision", parent=vehicle)
            self._watched[vehicle.id] = queue

    def late_collisions(self) -> tuple[Collision, ...]:
        """Contacts of the last tick whose messages came after its state: events have sockets of their own."""
        if self._watched:
            time.sleep(LATE_S)
        return self._contacts()

    def _contacts(self) -> tuple[Collision, ...]:
        found = [
            Collision(
                event.frame,
                vehicle_id,
                event.other_actor.id,
                event.other_actor.type_id,
                event.normal_impulse.length(),
            )
            for vehicle_id, queue in self._watched.items()
            for event in queue.take()
        ]
        return tuple(sorted(found))

    def _close_sensor(self, sensor: SensorQueue) -> None:
        del self._sensors[sensor.id]
        sensor.close(self.state.frame, not self.lost)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
