"""The RPC channel: MessagePack requests of one client, answered in their order.

Whatever a client sends, the worst that happens is that its own connection is closed: sizes, depths and the number
of waiting requests are bounded, and a client that does not read its answers is not read either.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import deque
from collections.abc import Awaitable
from typing import Any

import msgpack

from driveproof.sim.server.registry import call
from driveproof.sim.server.streams import tune
from driveproof.sim.server.world import World

log = logging.getLogger(__name__)

#: The largest message; the OpenDRIVE text of the largest town has 90 MB.
MAX_MESSAGE = 128 * 2**20
#: Bytes of incomplete messages of all clients together.
MAX_UNFINISHED = 2 * MAX_MESSAGE
#: The most elements of one array: a batch of commands, a list of ids.
MAX_ARRAY = 16384
#: Requests that may wait before the connection is not read for a while.
MAX_WAITING = 256
#: Bytes of answers that may wait before the next request is looked at.
MAX_UNREAD = 4 * 2**20
MAX_CLIENTS = 256

_REQUEST, _RESPONSE, _NOTIFICATION = 0, 1, 2
_numbers = itertools.count(1)


class Client(asyncio.Protocol):
    """One connection of the RPC channel.

    Attributes
    ----------
    world
        What the handlers act upon.
    number
        Tells clients apart in the log.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.number = next(_numbers)
        self._unpacker = msgpack.Unpacker(
            raw=False,
            unicode_errors="surrogateescape",
            max_buffer_size=MAX_MESSAGE,
            max_array_len=MAX_ARRAY,
            max_map_len=0,
            max_ext_len=0,
        )
        self._packer = msgpack.Packer(unicode_errors="surrogateescape", autoreset=True)
        self._waiting: deque[Any] = deque()
        self._task: asyncio.Task[None] | None = None
        self._unfinished = 0
        self._is_full = False
        self._is_held = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the client in, unless there are too many."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if len(self.world.clients) >= MAX_CLIENTS:
            log.warning("too many clients, one is turned away")
            transport.abort()
            return
        self.world.clients.add(self)
        tune(transport)
        transport.set_write_buffer_limits(high=MAX_UNREAD)
        log.debug("client %d connects", self.number)

    def data_received(self, data: bytes) -> None:
        """Take requests apart and answer those that are whole."""
        try:
            self._unpacker.feed(data)
            before = len(self._waiting)
            self._waiting.extend(self._unpacker)
        except (ValueError, msgpack.UnpackException, MemoryError, RecursionError) as error:
            log.warning("client %d sent no message (%s), closed", self.number, _kind(error))
            self.abort()
            return
        self._unfinished = 0 if len(self._waiting) > before else self._unfinished + len(data)
        if sum(client._unfinished for client in self.world.clients) > MAX_UNFINISHED:
            log.warning("client %d sent too much of an unfinished message, closed", self.number)
            self.abort()
            return
        self._pump()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client and what only it kept alive; its actors stay, as with a real server."""
        self._waiting.clear()
        self.world.clients.discard(self)
        self.world.traffic_managers.forget(self.number)
        log.debug("client %d is gone", self.number)

    def pause_writing(self) -> None:
        """The client does not read its answers."""
        self._is_full = True

    def resume_writing(self) -> None:
        """The client reads again."""
        self._is_full = False
        self._pump()

    def abort(self) -> None:
        """Close at once."""
        self._waiting.clear()
        self._transport.abort()

    def _pump(self) -> None:
        while self._waiting and self._task is None and not self._is_full:
            message = self._waiting.popleft()
            if not _is_request(message):
                log.warning("client %d sent a message that is no request, closed", self.number)
                self.abort()
                return
            number = message[1] if len(message) == 4 else None
            name, arguments = message[-2:]
            outcome = call(self, name, arguments)
            if isinstance(outcome, tuple):
                self._answer(number, *outcome)
            else:
                self._task = asyncio.get_running_loop().create_task(self._finish(number, outcome))
        self._hold(len(self._waiting) > MAX_WAITING)

    async def _finish(self, number: int | None, outcome: Awaitable[tuple[Any, Any]]) -> None:
        try:
            self._answer(number, *await outcome)
        finally:
            self._task = None
            asyncio.get_running_loop().call_soon(self._pump)

    def _answer(self, number: int | None, error: Any, result: Any) -> None:
        if number is not None and not self._transport.is_closing():
            self._transport.write(self._packer.pack([_RESPONSE, number, error, result]))

    def _hold(self, hold: bool) -> None:
        if hold != self._is_held and not self._transport.is_closing():
            self._is_held = hold
            if hold:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()


def _is_request(message: Any) -> bool:
    """``[0, number, name, [[is_asynchronous], ...]]``, or ``[2, name, [...]]``, which wants no answer."""
    if type(message) is not list or not message:
        return False
    shape = (_REQUEST, 4) if len(message) == 4 else (_NOTIFICATION, 3)
    return (
        (message[0], len(message)) == shape
        and type(message[-2]) is str
        and type(message[-1]) is list
        and (len(message) == 3 or type(message[1]) is int)
    )


def _kind(error: BaseException) -> str:
    return f"{type(error).__name__} {error}"[:120]
