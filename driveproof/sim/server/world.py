"""What all clients share: the episode, the settings, the frame, the streams, and the next step of all of it."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from driveproof import __version__
from driveproof.errors import BadInput
from driveproof.maps import TownMap, town_from_opendrive
from driveproof.sim.blueprints import library
from driveproof.sim.engine import Engine
from driveproof.sim.sensors import prepare
from driveproof.sim.server.background import in_background
from driveproof.sim.server.clock import SYNCHRONOUS_S, Clock
from driveproof.sim.server.debug_shapes import DebugShapes
from driveproof.sim.server.episode import Episode
from driveproof.sim.server.messages import Settings
from driveproof.sim.server.registry import Refused
from driveproof.sim.server.scenery import building_boxes
from driveproof.sim.server.sensing import world_header
from driveproof.sim.server.snapshot import MAP_CHANGED
from driveproof.sim.server.streams import WORLD_STREAM, StreamHub, Subscriber
from driveproof.sim.server.traffic_managers import TrafficManagers
from driveproof.sim.server.versions import Version

if TYPE_CHECKING:
    from driveproof.sim.server.rpc import Client

log = logging.getLogger(__name__)

#: The name under which a client loads the OpenDRIVE text that it has sent.
OPENDRIVE_WORLD = "OpenDriveMap"
#: Seconds that a step waits for the socket of a sensor that was just told to listen.
HOLD_S = 1.0
#: A step is cut into pieces of at most 0.1 s, so a very long one would hold everybody up.
SHORTEST_DELTA_S, LONGEST_DELTA_S = 1e-4, 10.0
#: Seconds after a load until its other listeners are told that the map changed. The client that asked for the load is
#: dropping its own old episode in that time; told of the change by it, one client in twenty died of a segmentation fault.
UNAWARE_S = 1.0
#: Seconds that a step waits for a reader that is behind, once; then its oldest frames are dropped.
PATIENCE_S = 2.0


class World:
    """The shared state of the server.

    Parameters
    ----------
    towns
        Gives the town of a name; may raise a UserError.
    version
        Whose client is served.
    seed
        Seed of every engine.
    """

    def __init__(self, towns: Callable[[str], TownMap], version: Version, seed: int = 0) -> None:
        self.version = version
        self.build_name = f"driveproof {__version__} embedded server"
        self.seed = seed
        self.library = library()
        self.settings = Settings()
        self.frame = 0
        self.last_delta = 0.0
        self.clients: set[Client] = set()
        self.streams = StreamHub(self._greet)
        assert self.streams.open() == WORLD_STREAM
        self.traffic_managers = TrafficManagers()
        self.debug = DebugShapes()
        self.clock = Clock(self)
        self.opendrive: str | None = None
        self._towns = towns
        self._episode: Episode | None = None
        self._episodes = 0
        self._unaware: frozenset[Subscriber] = frozenset()
        self._tell_at = 0.0
        self._loading = asyncio.Lock()

    @property
    def episode(self) -> Episode:
        """The present episode; an error before the first one is loaded."""
        if self._episode is None:
            raise RuntimeError("no town is loaded")
        return self._episode

    async def load(self, map_name: str, reset_settings: bool = True) -> None:
        """Load a town by its CARLA name and make it the world; the old one goes on until that is done.

        Raises
        ------
        UserError
            If there is no such town; then nothing changes.
        """
        async with self._loading:
            engine = await in_background(lambda: self._make(map_name))
            self._enter(engine, map_name, reset_settings)

    def _make(self, map_name: str) -> Engine:
        started = time.perf_counter()
        town = self._town(map_name)
        engine = Engine(town, self.library, self.seed, statics=building_boxes(town))
        prepare(engine)
        log.info("%s is loaded (%.1f s)", map_name, time.perf_counter() - started)
        return engine

    def _town(self, map_name: str) -> TownMap:
        if map_name.endswith(f"/{OPENDRIVE_WORLD}"):
            if self.opendrive is None:
                raise BadInput("no OpenDRIVE text was sent before this load", field=OPENDRIVE_WORLD)
            return town_from_opendrive(OPENDRIVE_WORLD, self.opendrive)
        return self._towns(map_name)

    def _enter(self, engine: Engine, map_name: str, reset_settings: bool) -> None:
        if self._episode is not None:
            self._episode.close()
        self._episodes += 1
        self.debug.clear()
        engine.debug_shapes = self.debug  # type: ignore[attr-defined]  # cameras look for it
        self._episode = Episode(
            self._episodes, map_name, engine, self.library, self.streams, self.version
        )
        if reset_settings:
            self.settings = Settings()
        self.frame += 1
        self._unaware = self.streams.listeners(WORLD_STREAM)
        self._tell_at = time.monotonic() + UNAWARE_S
        self.clock.wake()
        # The old town goes now; the new one stays, and need not be looked at in every collection.
        gc.unfreeze()
        gc.collect()
        gc.freeze()

    def configure(self, settings: Settings) -> int:
        """Take new settings; the frame from which they hold. Refused if nothing can run with them."""
        delta = settings.fixed_delta_seconds or 0.0
        if delta and not SHORTEST_DELTA_S <= delta <= LONGEST_DELTA_S:
            raise Refused(
                f"fixed_delta_seconds of {delta:g}: it must lie between {SHORTEST_DELTA_S:g} and {LONGEST_DELTA_S:g}"
            )
        self.settings = settings
        self.clock.wake()
        return self.frame

    @property
    def next_delta(self) -> float:
        """Seconds of the next step, as far as that is known."""
        return self.settings.fixed_delta_seconds or SYNCHRONOUS_S

    async def settle(self) -> None:
        """Wait (not long) for sockets that are on their way and for readers that are behind."""
        await self.streams.settle(HOLD_S)
        if self.settings.synchronous_mode:
            await self.streams.drain(PATIENCE_S)

    @property
    def is_settled(self) -> bool:
        """Whether a step may be made at once."""
        return self.streams.is_settled and not (
            self.settings.synchronous_mode and self.streams.is_crowded
        )

    def step(self, delta_s: float) -> int:
        """Advance the world by ``delta_s`` seconds and tell everybody; the new frame.

        What sensors see is sent before the snapshot, so that it is on its way when the client's tick returns.
        """
        episode = self.episode
        self.frame += 1
        self.last_delta = delta_s
        episode.engine.step(delta_s)
        episode.sensors.publish(self.frame, rendering=not self.settings.no_rendering_mode)
        self.debug.expire(episode.engine.time)
        if self.streams.is_heard(WORLD_STREAM):
            self._publish_snapshot()
        return self.frame

    def _publish_snapshot(self) -> None:
        """Send the snapshot to all; whoever listened before the last load learns by it that the map changed."""
        everybody = self.streams.listeners(WORLD_STREAM)
        told = self._unaware if time.monotonic() >= self._tell_at else frozenset()
        self.streams.publish(WORLD_STREAM, self._snapshot(0), everybody - told)
        if told:
            self.streams.publish(WORLD_STREAM, self._snapshot(MAP_CHANGED), told)
            self._unaware = frozenset()

    def _snapshot(self, bits: int) -> tuple[bytes, bytes]:
        episode = self.episode
        header = world_header(self.version, self.frame, episode.engine.time)
        return header, episode.packer.pack(episode.key, time.time(), self.last_delta, bits)

    def _greet(self, stream: int) -> bytes | None:
        return b"".join(self._snapshot(0)) if stream == WORLD_STREAM else None
