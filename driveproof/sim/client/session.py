"""A session with a CARLA server: synchronous ticks, plain states, and nothing left behind."""

from __future__ import annotations

import atexit
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from types import TracebackType
from typing import Any, Self

import numpy as np

from driveproof.errors import BadInput, MissingMap
from driveproof.maps import LaneKind, TownMap, load_town
from driveproof.maps.sources import town_name
from driveproof.maps.town import town_from_opendrive
from driveproof.scene import LightState
from driveproof.sim.client.connecting import LOAD_TIMEOUT_S, carla_errors, connect
from driveproof.sim.client.failures import ServerLost, SpawnBlocked, UnknownBlueprint
from driveproof.sim.client.frames import to_transform, to_vector
from driveproof.sim.client.reader import LIGHT_STATES, SnapshotReader
from driveproof.sim.client.sensors import SensorQueue
from driveproof.sim.client.states import Collision, WorldState

LIFT = 0.2
"""Metres above the road at which vehicles are put down, so that real wheels are not in the ground."""
RECONNECT_S = 1.2
"""Seconds in which the client library gives up the stream of a dead server; ending before aborts the process."""


class Session:
    """A connection to a CARLA server, real or embedded, as a context manager.

    While it is open the server runs in synchronous mode with a fixed step. At the end everything that was
    spawned is destroyed, sensors are drained before they stop, and the settings found are restored.
    Poses are right-handed (metres, radians) and of CARLA's actor origin, which lies in the middle of a
    vehicle on the ground and in the middle of a walker's body.

    Attributes
    ----------
    client, world, carla_map
        The objects of the ``carla`` library behind it.
    library
        The blueprints that the server knows, a ``carla.BlueprintLibrary``.
    state
        The world after the last tick.
    lost
        Whether the server does no more answer.
    watch
        Makes the context manager within which a tick runs; the supervisor hooks in here.
    """

    def __init__(self, client: Any, delta_s: float, timeout_s: float) -> None:
        self.client = client
        self.delta_s = delta_s
        self.timeout_s = timeout_s
        self.lost = self._closed = False
        self.watch: Callable[[], AbstractContextManager[object]] = nullcontext
        with self._asking("asking for the world"):
            self.world = client.get_world()
            self._found = self.world.get_settings()
        self._zero: int | None = None
        self._spawned: dict[int, Any] = {}
        self._sensors: dict[int, SensorQueue] = {}
        self._watched: dict[int, SensorQueue] = {}
        self._enter_world()
        atexit.register(self.close)  # a sensor that still listens then would abort the process

    @classmethod
    def open(
        cls,
        host: str = "127.0.0.1",
        port: int = 2000,
        timeout_s: float = 30.0,
        delta_s: float = 0.05,
        town: str | None = None,
    ) -> Session:
        """Connect (retrying until ``timeout_s``), load ``town`` if another one runs, and tick once.

        Parameters
        ----------
        timeout_s
            Seconds that any later call may take, too.
        delta_s
            Simulated seconds of a tick.

        Raises
        ------
        SimulatorUnreachable, WrongVersion
            As :func:`driveproof.sim.client.connecting.connect` says.
        BadInput
            If the server has no such town.
        """
        if not 0.0 < delta_s <= 0.1:
            raise BadInput("a tick has more than 0 and at most 0.1 s", field="delta_s")
        session = cls(connect(host, port, timeout_s), delta_s, timeout_s)
        try:
            if town is not None:
                session.enter_town(town)
        except BaseException:
            session.close()
            raise
        return session

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Drain and stop sensors, destroy what was spawned, restore the settings found; never raises for a dead server."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        listened = bool(self._sensors)
        with suppress(ServerLost, BadInput):
            self.clear()
        if self.lost:
            time.sleep(RECONNECT_S if listened else 0.0)
            return
        with suppress(ServerLost, BadInput), self._asking("restoring the settings"):
            self.world.apply_settings(self._found)

    @contextmanager
    def _asking(self, doing: str) -> Iterator[None]:
        """Errors of the client library as ours; notes when the server is lost, and asks it no more then."""
        if self.lost:
            raise ServerLost("the simulator is lost")
        try:
            with carla_errors(doing):
                yield
        except ServerLost:
            self.lost = True
            raise

    def _enter_world(self) -> None:
        """Take over the world that runs now: settings, map, and a first tick."""
        with self._asking("setting synchronous mode"):
            settings = self.world.get_settings()
            settings.synchronous_mode = True
            settings.fixed_delta_seconds = self.delta_s
            self.world.apply_settings(settings)
            self.library = self.world.get_blueprint_library()
        with self._asking("asking for the map"):
            self.carla_map = self.world.get_map()
        self._town: TownMap | None = None
        self._reader = SnapshotReader(self.world)
        self.restart_clock()
        self.tick()

    # --- the world -------------------------------------------------------------------------------

    @property
    def town(self) -> TownMap:
        """The roads: from the town files by name, else from the server's own OpenDRIVE text."""
        if self._town is None:
            name = town_name(self.carla_map.name)
            try:
                self._town = load_town(name)
            except MissingMap:
                self._town = town_from_opendrive(name, self.carla_map.to_opendrive())
        return self._town

    def load_town(self, name: str) -> None:
        """Let the server load another town, or the same one afresh. All actors are gone afterwards.

        Raises
        ------
        BadInput
            If the server has no such town.
        """
        self.clear()
        wanted = town_name(name)
        self.client.set_timeout(max(LOAD_TIMEOUT_S, self.timeout_s))
        with self._asking(f"loading {wanted}"):
            offered = self.client.get_available_maps()
            fits = [path for path in offered if town_name(path) == wanted]
            if not fits:
                known = ", ".join(sorted({town_name(path) for path in offered}))
                raise BadInput(f"the simulator has no town {wanted}", hint=f"it has {known}")
            exact = [path for path in fits if path.rsplit("/", 1)[-1] == name.rsplit("/", 1)[-1]]
            self.world = self.client.load_world((exact or fits)[0], False)
        self.client.set_timeout(self.timeout_s)
        self._enter_world()

    def enter_town(self, name: str) -> None:
        """Be in a town: as :meth:`load_town`, but only if another one runs."""
        if town_name(name) != town_name(self.carla_map.name):
            self.load_town(name)

    def tick(self) -> WorldState:
        """Let one step pass.

        Raises
        ------
        ServerLost
            If the server does not answer within the session's time.
        """
        with self.watch(), self._asking("ticking"):
            self.world.tick(self.timeout_s)
            snapshot = self.world.get_snapshot()
            actors = self._reader.actors(snapshot)
        if self._zero is None:
            self._zero = snapshot.frame
        self.state = WorldState(
            frame=snapshot.frame,
            time=round((snapshot.frame - self._zero) * self.delta_s, 9),
            actors=actors,
            lights=self._reader.light_states(),
            collisions=self._contacts(),
        )
        return self.state

    def limit(self, timeout_s: float) -> None:
        """Change how many seconds any call may take."""
        self.timeout_s = timeout_s
        self.client.set_timeout(timeout_s)

    def restart_clock(self) -> None:
        """Let the next tick be time 0.

        Times are counted in ticks, so that what is done at a time does not depend on how long the server has run.
        """
        self._zero = None

    def set_weather(self, values: Mapping[str, float]) -> None:
        """Change CARLA's weather parameters of these names; the others stay.

        Raises
        ------
        BadInput
            If CARLA has no parameter of a name.
        """
        with self._asking("setting the weather"):
            weather = self.world.get_weather()
            for key, value in values.items():
                if not hasattr(weather, key):
                    raise BadInput("no weather parameter of CARLA", field=key)
                setattr(weather, key, value)
            self.world.set_weather(weather)

    # --- traffic lights --------------------------------------------------------------------------

    def freeze_lights(self, frozen: bool = True) -> None:
        """Stop the lights' own cycles everywhere, or let them run again."""
        with self._asking("freezing the lights"):
            self.world.freeze_all_traffic_lights(frozen)

    def set_lights(self, states: Mapping[str, LightState]) -> None:
        """Set traffic lights by signal id; ids that the server does not have are left out."""
        import carla

        with self._asking("setting lights"):
            for key, state in states.items():
                light = self._reader.lights.get(key)
                if light is not None:
                    light.set_state(carla.TrafficLightState.values[LIGHT_STATES.index(state)])

    # --- actors ----------------------------------------------------------------------------------

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

    def ground(self, x: float, y: float) -> float:
        """Height of the nearest driving lane at a right-handed place, m."""
        kinds = (LaneKind.DRIVING, LaneKind.BIDIRECTIONAL)
        match = self.town.nearest_lane([x, y], kinds=kinds)
        lanes = self.town.lanes
        part = lanes.points(int(match.lane[0]))
        return float(np.interp(match.arc[0], lanes.arc[part], lanes.centre[part, 2]))

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

    # --- sensors ---------------------------------------------------------------------------------

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
