"""The server as a whole: two ports, one world, from the first bind to the last socket."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import signal
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput, Unreachable
from driveproof.maps import TownMap, load_town
from driveproof.sim.server import handlers  # noqa: F401  # registers the methods
from driveproof.sim.server.rpc import Client
from driveproof.sim.server.streams import Subscriber
from driveproof.sim.server.versions import DEFAULT_VERSION, version_facts
from driveproof.sim.server.world import World

log = logging.getLogger(__name__)

_PAIR_ATTEMPTS = 64
_HIGHEST_PORT = 65535


class PortTaken(Unreachable):
    """The ports cannot be listened to."""


@dataclass(frozen=True)
class ServerOptions:
    """What to serve, and where.

    Parameters
    ----------
    port
        The RPC port; streams are at the next one. 0 takes a free pair.
    maps
        Folder with own OpenDRIVE files.
    insecure_open
        Allow a host that other machines reach: the protocol knows no passwords, so whoever reaches it commands it.
    """

    town: str = "Town10HD"
    host: str = "127.0.0.1"
    port: int = 2000
    seed: int = 0
    version: str = DEFAULT_VERSION
    maps: Path = Path("data/maps")
    insecure_open: bool = False


@dataclass(frozen=True)
class Address:
    """Where a server listens, and what it is."""

    host: str
    port: int
    stream_port: int
    pid: int
    town: str
    version: str
    build: str

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


async def serve(options: ServerOptions, ready: Callable[[Address], None]) -> None:
    """Serve until SIGTERM or SIGINT (or until this task is cancelled).

    Parameters
    ----------
    ready
        Called once, when clients can connect.

    Raises
    ------
    BadInput, MissingMap
        A town that is not there, or a host that is refused.
    PortTaken
        The ports are in use.
    """
    check_host(options.host, options.insecure_open)
    version = version_facts(options.version)
    rpc_socket, stream_socket = bind_pair(options.host, options.port)
    world = World(lambda name: _town(name, options.maps), version, options.seed)
    stop = asyncio.Event()
    with _until_signalled(stop.set), rpc_socket, stream_socket:
        load = asyncio.ensure_future(world.load(f"Carla/Maps/{options.town.rsplit('/', 1)[-1]}"))
        if not await _first(load, stop):
            return
        world.streams.port = stream_socket.getsockname()[1]
        loop = asyncio.get_running_loop()
        rpc = await loop.create_server(lambda: Client(world), sock=rpc_socket)
        streams = await loop.create_server(lambda: Subscriber(world.streams), sock=stream_socket)
        clock = asyncio.ensure_future(world.clock.run())
        ready(
            Address(
                options.host,
                rpc_socket.getsockname()[1],
                world.streams.port,
                os.getpid(),
                options.town,
                version.number,
                world.build_name,
            )
        )
        try:
            await _first(clock, stop)
        finally:
            clock.cancel()
            rpc.close()
            streams.close()
            for client in tuple(world.clients):
                client.abort()
            world.streams.close_all()
            await asyncio.sleep(0)


def check_host(host: str, insecure_open: bool) -> None:
    """BadInput for an address that other machines reach, unless that is wanted."""
    try:
        is_local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_local = host == "localhost"
    if not is_local and not insecure_open:
        raise BadInput(
            "CARLA's protocol has no passwords: whoever reaches this address commands the server",
            field=f"--host {host}",
            hint="--insecure-open if that is wanted",
        )


def bind_pair(host: str, port: int) -> tuple[socket.socket, socket.socket]:
    """Two bound sockets, ``port`` and the next one, or a free pair for 0; they do not listen yet.

    Raises
    ------
    PortTaken
        If somebody else has one of them.
    """
    if not 0 <= port < _HIGHEST_PORT:
        raise BadInput(f"no port with a next one: {port}", field="--port")
    attempts = 1 if port else _PAIR_ATTEMPTS
    for attempt in range(1, attempts + 1):
        first = second = None
        try:
            first = _bind(host, port)
            second = _bind(host, first.getsockname()[1] + 1)
            return first, second
        except (OSError, OverflowError) as error:
            if first is not None:
                first.close()
            if attempt == attempts:
                where = f"{host}:{port} and {port + 1}" if port else host
                reason = getattr(error, "strerror", None) or str(error)
                raise PortTaken(
                    f"cannot listen at {where}: {reason}", hint="--port 0 takes free ports"
                ) from error
    raise AssertionError("unreachable")


def _bind(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except BaseException:
        bound.close()
        raise
    return bound


def _town(map_name: str, maps: Path) -> TownMap:
    return load_town(map_name, maps)


async def _first(work: asyncio.Future[Any], stop: asyncio.Event) -> bool:
    """Wait until ``work`` is done, whose error is raised, or until ``stop``; whether it is done."""
    stopped = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((work, stopped), return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopped.cancel()
    if work.done():
        work.result()
        return True
    work.cancel()
    return False


class _until_signalled:  # used as a function
    """While inside, SIGTERM and SIGINT call ``stop`` instead of ending the process."""

    def __init__(self, stop: Callable[[], object]) -> None:
        self._stop = stop
        self._signals: list[signal.Signals] = []

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            try:
                loop.add_signal_handler(number, self._stop)
                self._signals.append(number)
            except (RuntimeError, ValueError, NotImplementedError):
                log.debug("no signal handlers in this thread")

    def __exit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        for number in self._signals:
            loop.remove_signal_handler(number)
