"""The streaming channel: one TCP connection a subscriber, frames with a length before them.

A subscriber that reads too slowly has a short queue of its own; when that is full, its oldest frames are dropped
and nobody else notices.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from collections import Counter, deque
from collections.abc import Callable, Sequence

log = logging.getLogger(__name__)

#: The stream of world snapshots; real servers give it this number too.
WORLD_STREAM = 1
#: Bytes that may wait in the transport of one subscriber before its frames are queued.
HIGH_WATER = 2**20
#: Frames and bytes that may wait in the queue of one subscriber; the newest frame is always kept.
QUEUED_FRAMES = 64
QUEUED_BYTES = 64 * 2**20
#: Bytes that may wait in all queues together.
ALL_QUEUED_BYTES = 256 * 2**20
#: Seconds that a connection may take to say which stream it wants.
GREETING_S = 10.0
#: Seconds without any progress after which the system gives up a subscriber whose machine is gone.
DEAD_PEER_S = 30
#: Connections that may be open at once.
MAX_CONNECTIONS = 512

_TOKEN = struct.Struct("<IHBB16s")
_LENGTH = struct.Struct("<I")
_TCP = 1


def stream_token(stream: int, port: int) -> bytes:
    """The 24 bytes that tell a client where a stream is; the host is the one that it dialled already."""
    return _TOKEN.pack(stream, port, _TCP, 0, b"")


def tune(transport: asyncio.BaseTransport) -> None:
    """No delay, and an end to connections whose other side has vanished without a word."""
    connection: socket.socket | None = transport.get_extra_info("socket")
    if connection is None:
        return
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        ("TCP_KEEPIDLE", DEAD_PEER_S),
        ("TCP_KEEPINTVL", 10),
        ("TCP_KEEPCNT", 3),
        ("TCP_USER_TIMEOUT", DEAD_PEER_S * 1000),
    ):
        if hasattr(socket, option):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


class StreamHub:
    """All streams, their subscribers, and who is expected to subscribe soon.

    Parameters
    ----------
    greet
        Gives the first message for a new subscriber of a stream, or None.
    """

    def __init__(self, greet: Callable[[int], bytes | None]) -> None:
        self.port = 0
        self.dropped = 0
        self.queued_bytes = 0
        self._greet = greet
        self._next = WORLD_STREAM
        self._open: dict[int, set[Subscriber]] = {}
        self._connections: set[Subscriber] = set()
        self._expected: Counter[int] = Counter()
        self._arrived = asyncio.Event()
        self._room = asyncio.Event()

    def open(self) -> int:
        """A new stream; numbers are never used again, so that a late socket cannot hear another sensor."""
        stream = self._next
        self._next += 1
        self._open[stream] = set()
        return stream

    def token(self, stream: int) -> bytes:
        """The token of a stream."""
        return stream_token(stream, self.port)

    def is_open(self, stream: int) -> bool:
        """Whether the stream exists."""
        return stream in self._open

    def is_heard(self, stream: int) -> bool:
        """Whether anybody listens."""
        return bool(self._open.get(stream))

    def expect(self, stream: int) -> None:
        """Somebody asked for the token of this stream, so a socket is on its way."""
        self._expected[stream] += 1

    async def settle(self, timeout_s: float) -> None:
        """Wait until every expected socket is here, or give those up after ``timeout_s`` seconds.

        A world that steps in between loses the first frame of a sensor that was just told to listen.
        """
        if not self._expected:
            return
        try:
            async with asyncio.timeout(timeout_s):
                while self._expected:
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError:
            log.debug("no socket came for the streams %s", dict(self._expected))
            self._expected.clear()

    @property
    def is_settled(self) -> bool:
        """Whether no socket is expected."""
        return not self._expected

    @property
    def is_crowded(self) -> bool:
        """Whether a subscriber that kept up until now has a full queue."""
        return any(subscriber.is_behind for subscriber in self._connections)

    async def drain(self, timeout_s: float) -> None:
        """Wait until no subscriber is behind; those that still are after ``timeout_s`` are not waited for again."""
        try:
            async with asyncio.timeout(timeout_s):
                while self.is_crowded:
                    self._room.clear()
                    await self._room.wait()
        except TimeoutError:
            for subscriber in self._connections:
                if subscriber.is_behind:
                    subscriber.patience = False

    def listeners(self, stream: int) -> frozenset[Subscriber]:
        """Who listens to a stream now."""
        return frozenset(self._open.get(stream, ()))

    def publish(
        self, stream: int, parts: Sequence[bytes], among: frozenset[Subscriber] | None = None
    ) -> None:
        """Send one message to every subscriber of a stream, or to those ``among`` them."""
        listeners = self._open.get(stream)
        if listeners:
            frame = b"".join((_LENGTH.pack(sum(map(len, parts))), *parts))
            for listener in tuple(listeners if among is None else listeners & among):
                listener.send(frame)

    def close(self, stream: int) -> None:
        """End a stream: its sockets are closed once what was sent has left."""
        self._expected.pop(stream, None)
        for listener in self._open.pop(stream, ()):
            listener.close()
        self._arrived.set()

    def close_all(self) -> None:
        """Close every connection, without waiting for slow readers."""
        for connection in tuple(self._connections):
            connection.abort()

    def admit(self, connection: Subscriber) -> bool:
        """Take a new connection in; False when there are too many."""
        if len(self._connections) >= MAX_CONNECTIONS:
            return False
        self._connections.add(connection)
        return True

    def subscribe(self, connection: Subscriber, stream: int) -> None:
        """A connection said which stream it wants.

        One that wants a stream of the past is kept, silent: the client would come back at once if it were closed.
        """
        if self._expected[stream] <= 1:
            del self._expected[stream]
        else:
            self._expected[stream] -= 1
        self._arrived.set()
        if stream in self._open:
            self._open[stream].add(connection)
            first = self._greet(stream)
            if first is not None:
                connection.send(_LENGTH.pack(len(first)) + first)

    def leave(self, connection: Subscriber, stream: int | None) -> None:
        """A connection is gone."""
        self._connections.discard(connection)
        if stream is not None and stream in self._open:
            self._open[stream].discard(connection)
        self._room.set()

    def made_room(self) -> None:
        """A slow subscriber has read something."""
        self._room.set()


class Subscriber(asyncio.Protocol):
    """One connection of the streaming channel: says a stream number (4 bytes), then only reads."""

    def __init__(self, hub: StreamHub) -> None:
        self._hub = hub
        self._said = b""
        self._stream: int | None = None
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0
        self._is_full = False
        self.patience = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Tune the socket, and give the other side a while to say what it wants."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if not self._hub.admit(self):
            transport.abort()
            return
        tune(transport)
        transport.set_write_buffer_limits(high=HIGH_WATER)
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(GREETING_S, self._give_up)

    def data_received(self, data: bytes) -> None:
        """Read the stream number; anything after it is no part of the protocol and is thrown away."""
        if self._stream is not None:
            return
        self._said += data[:4]
        if len(self._said) >= 4:
            self._deadline.cancel()
            self._stream = _LENGTH.unpack(self._said[:4])[0]
            self._hub.subscribe(self, self._stream)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if hasattr(self, "_deadline"):
            self._deadline.cancel()
        self._forget()
        self._hub.leave(self, self._stream)

    def pause_writing(self) -> None:
        """The transport is full: from now on frames wait here."""
        self._is_full = True

    def resume_writing(self) -> None:
        """The transport is empty again: send what waited."""
        self._is_full = False
        while self._queue and not self._is_full:
            self._transport.write(self._take())
        if not self._queue:
            self.patience = True
            self._hub.made_room()

    @property
    def is_behind(self) -> bool:
        """Whether frames wait that the world should give time to leave."""
        return bool(self._queue) and self.patience

    def send(self, frame: bytes) -> None:
        """Send a frame, or queue it; the oldest queued ones are dropped when there are too many."""
        if not self._is_full:
            self._transport.write(frame)
            return
        while self._queue and (
            len(self._queue) >= QUEUED_FRAMES
            or self._queued_bytes + len(frame) > QUEUED_BYTES
            or self._hub.queued_bytes + len(frame) > ALL_QUEUED_BYTES
        ):
            self._take()
            self._hub.dropped += 1
        self._queue.append(frame)
        self._queued_bytes += len(frame)
        self._hub.queued_bytes += len(frame)

    def close(self) -> None:
        """Close once the transport has sent what it has."""
        self._forget()
        self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self._transport.abort()

    def _take(self) -> bytes:
        """The oldest frame of the queue."""
        frame = self._queue.popleft()
        self._queued_bytes -= len(frame)
        self._hub.queued_bytes -= len(frame)
        return frame

    def _forget(self) -> None:
        while self._queue:
            self._take()

    def _give_up(self) -> None:
        log.warning("a connection to the streaming port said no stream number, closed")
        self._transport.abort()
