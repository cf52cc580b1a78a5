"""The sensors of an episode: their streams, when each is due, and the messages that they send."""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Iterable

import msgpack
import numpy as np

from driveproof.errors import UserError
from driveproof.sim.engine import Actor, Engine
from driveproof.sim.sensors import CollisionEvent, ObstacleEvent, Sensor, make_sensor
from driveproof.sim.server.messages import ACTOR, POSE, VECTOR, ActorMessage
from driveproof.sim.server.streams import StreamHub
from driveproof.sim.server.versions import Version
from driveproof.sim.server.wire import REAL, row

log = logging.getLogger(__name__)

Found = bytes | CollisionEvent | ObstacleEvent

_COLLISION = row(ACTOR, ACTOR, VECTOR)
_OBSTACLE = row(ACTOR, ACTOR, REAL)
_HEADER = struct.Struct("<QQd6f")
#: Seconds by which rounding may make a sensor late.
_EARLY_S = 1e-6
#: Sensors that clients compute themselves; they have no stream.
_CLIENT_SIDE = ("sensor.other.lane_invasion", "sensor.other.rss")


def world_header(version: Version, frame: int, time: float) -> bytes:
    """The 48 bytes before a world snapshot."""
    return _HEADER.pack(version.world_index, frame, time, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class SensorDeck:
    """All sensors of one engine that send something.

    Parameters
    ----------
    streams
        Where their messages go; a stream is opened for each sensor and closed with it.
    describe
        Gives the message of an actor, for events that name actors.
    """

    def __init__(
        self,
        engine: Engine,
        streams: StreamHub,
        version: Version,
        describe: Callable[[int], ActorMessage],
    ) -> None:
        self._engine = engine
        self._describe = describe
        self._streams = streams
        self._version = version
        self._mounted: dict[int, _Mounted] = {}

    def add(self, actor: Actor) -> None:
        """Open a stream for a new sensor."""
        index = self._version.sensor_index.get(actor.type_id)
        if index is not None and actor.type_id not in _CLIENT_SIDE:
            self._mounted[actor.id] = _Mounted(actor, self._streams.open(), index)

    def remove(self, actor_id: int) -> None:
        """Close the stream of a sensor, if it is one."""
        mounted = self._mounted.pop(actor_id, None)
        if mounted is not None:
            self._streams.close(mounted.stream)

    def close(self) -> None:
        """Close all streams."""
        for actor_id in list(self._mounted):
            self.remove(actor_id)

    def stream(self, actor_id: int) -> int | None:
        """The stream of a sensor, None for other actors."""
        mounted = self._mounted.get(actor_id)
        return None if mounted is None else mounted.stream

    def publish(self, frame: int, rendering: bool) -> None:
        """Measure with every sensor that is due and listened to; cameras rest when nothing is rendered."""
        for mounted in self._mounted.values():
            if not self._streams.is_heard(mounted.stream):
                continue
            if not rendering and mounted.actor.type_id.startswith("sensor.camera."):
                continue
            if self._engine.time - mounted.last < mounted.period - _EARLY_S:
                continue
            mounted.last = self._engine.time
            for found in mounted.measure(self._engine):
                header = mounted.header(frame, self._engine.time)
                self._streams.publish(mounted.stream, (header, self._body(found)))

    def _body(self, found: Found) -> bytes:
        """What a sensor has found as the body of a message."""
        if isinstance(found, bytes):
            return found
        measure = found.impulse if isinstance(found, CollisionEvent) else found.distance
        codec = _COLLISION if isinstance(found, CollisionEvent) else _OBSTACLE
        actors = self._describe(found.self_id), self._describe(found.other_id)
        packed: bytes = msgpack.packb(codec.encode((*actors, measure)))
        return packed


class _Mounted:
    """A sensor actor with its stream; the sensor itself is made when it first measures."""

    def __init__(self, actor: Actor, stream: int, index: int) -> None:
        self.actor = actor
        self.stream = stream
        self.index = index
        self.period = float(actor.attributes.get("sensor_tick", 0.0) or 0.0)
        self.last = -np.inf
        self._sensor: Sensor | None = None
        self._is_broken = False

    def header(self, frame: int, time: float) -> bytes:
        """The 48 bytes before each message."""
        location, rotation = POSE.encode(self.actor.pose)
        return _HEADER.pack(self.index, frame, time, *location, *rotation)

    def measure(self, engine: Engine) -> Iterable[Found]:
        """Message bodies or events of this moment; a sensor that fails is silent from then on, and the log says why."""
        if self._is_broken:
            return ()
        try:
            if self._sensor is None:
                self._sensor = make_sensor(engine, self.actor)
            found = self._sensor.measure(engine)
        except Exception as error:
            self._is_broken = True
            log.error(
                "%s has failed and stays silent: %s",
                self.actor,
                error,
                exc_info=not isinstance(error, UserError),
            )
            return ()
        return (found,) if isinstance(found, bytes) else found
