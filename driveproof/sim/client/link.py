"""The bond to a running world: synchronous ticks with a fixed step, weather, traffic lights, the town."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np

from driveproof.errors import BadInput, MissingMap
from driveproof.maps import LaneKind, TownMap, load_town
from driveproof.maps.sources import town_name
from driveproof.maps.town import town_from_opendrive
from driveproof.scene import LightState
from driveproof.sim.client.connecting import carla_errors
from driveproof.sim.client.failures import ServerLost
from driveproof.sim.client.reader import LIGHT_STATES, SnapshotReader
from driveproof.sim.client.states import Collision, WorldState


class Link:
    """What a session is without actors of its own; see :class:`driveproof.sim.client.Session`."""

    state: WorldState

    def __init__(self, client: Any, delta_s: float, timeout_s: float) -> None:
        self.client = client
        self.delta_s = delta_s
        self.timeout_s = timeout_s
        self.lost = False
        self.watch: Callable[[], AbstractContextManager[object]] = nullcontext
        self._zero: int | None = None
        with self._asking("asking for the world"):
            self.world = client.get_world()
            self._found = self.world.get_settings()
        self._enter_world()

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

    def ground(self, x: float, y: float) -> float:
        """Height of the nearest driving lane at a right-handed place, m."""
        kinds = (LaneKind.DRIVING, LaneKind.BIDIRECTIONAL)
        match = self.town.nearest_lane([x, y], kinds=kinds)
        lanes = self.town.lanes
        part = lanes.points(int(match.lane[0]))
        return float(np.interp(match.arc[0], lanes.arc[part], lanes.centre[part, 2]))

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

    def _contacts(self) -> tuple[Collision, ...]:
        """What collision sensors have reported; a session with actors has some."""
        return ()

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
