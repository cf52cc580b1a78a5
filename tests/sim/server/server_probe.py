"""What the tests of the server share: raw requests, and small steps with the client."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgpack

from driveproof.sim.client import ServerHandle

META = [False]


@contextmanager
def connection(server: ServerHandle, offset: int = 0) -> Iterator[socket.socket]:
    """A raw connection to the RPC port, or with ``offset`` 1 to the streaming port."""
    with socket.create_connection((server.host, server.port + offset), timeout=5.0) as opened:
        yield opened


def ask(opened: socket.socket, method: str, *arguments: Any, number: int = 1) -> Any:
    """The whole answer to a request."""
    opened.sendall(msgpack.packb([0, number, method, [META, *arguments]]))
    return answer(opened)


def answer(opened: socket.socket) -> Any:
    """The next message of a connection."""
    unpacker = msgpack.Unpacker(raw=False)
    while True:
        data = opened.recv(1 << 16)
        assert data, "the server closed the connection"
        unpacker.feed(data)
        for message in unpacker:
            return message


def synchronise(world: Any, delta_s: float = 0.05, rendering: bool = True) -> None:
    """Synchronous mode with a fixed delta."""
    settings = world.get_settings()
    settings.synchronous_mode = True
    settings.fixed_delta_seconds = delta_s
    settings.no_rendering_mode = not rendering
    world.apply_settings(settings)
    world.tick()


def wait_until(condition: Callable[[], object], timeout_s: float = 5.0) -> None:
    """Look until ``condition`` holds; fails after ``timeout_s`` seconds."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)
