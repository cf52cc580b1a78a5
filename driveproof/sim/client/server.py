"""Starting a simulator as a process group that never outlives its owner."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from driveproof.sim.client.failures import SimulatorUnreachable

START_S = 300.0
"""Seconds that a start may take: a fresh checkout compiles the engine first. A server that ends is noticed at once."""
HOST = "127.0.0.1"
PORTS = range(20_000, 32_000, 4)
"""Below the ports that systems give to outgoing connections."""
CONSECUTIVE = 3
"""CARLA listens at a port and the two after it."""
GUARD = Path(__file__).with_name("guard.py")
TRIES = 5


def embedded_command(town: str, seed: int = 0) -> list[str]:
    """The command line of the embedded server; "{port}" stands for the port."""
    serve = [sys.executable, "-m", "driveproof", "sim", "serve"]
    return [*serve, "--port", "{port}", "--town", town, "--seed", str(seed)]


def free_port() -> int:
    """The first of :data:`CONSECUTIVE` ports at which nobody listens now.

    Raises
    ------
    SimulatorUnreachable
        If there are none.
    """
    draw = random.SystemRandom()
    for port in draw.sample(PORTS, 200):
        with ExitStack() as stack, suppress(OSError):
            for number in range(port, port + CONSECUTIVE):
                probe = stack.enter_context(socket.socket())
                probe.bind((HOST, number))
            return port
    raise SimulatorUnreachable("no free ports for a simulator")


@dataclass
class ServerHandle:
    """A running simulator.

    Attributes
    ----------
    host, port
        Where its RPC port is; streams use the next one.
    process
        The guard, leader of the process group in which the server runs.
    """

    host: str
    port: int
    process: subprocess.Popen[bytes]
    log: IO[bytes]

    @property
    def alive(self) -> bool:
        """Whether the process lives."""
        return self.process.poll() is None

    def listening(self) -> bool:
        """Whether the RPC port accepts connections."""
        with suppress(OSError), socket.create_connection((self.host, self.port), timeout=1.0):
            return True
        return False

    def last_words(self) -> str:
        """The last line that the server wrote."""
        self.log.seek(max(self.log.seek(0, os.SEEK_END) - 4096, 0))
        lines = self.log.read().decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")

    def kill(self) -> None:
        """End the whole process group at once, and leave no zombie."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._release()

    def stop(self) -> None:
        """End the server politely, and whatever is left of its group after three seconds certainly."""
        self._release()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(6.0)
        self.kill()

    def _release(self) -> None:
        if self.process.stdin is not None:
            with suppress(BrokenPipeError):
                self.process.stdin.close()


def start_server(
    town: str = "Town01",
    port: int = 0,
    seed: int = 0,
    command: Sequence[str] | None = None,
    timeout_s: float = START_S,
) -> ServerHandle:
    """Start the embedded server, or any command of a CARLA server, and wait until it listens.

    Parameters
    ----------
    port
        0 takes free ones.
    command
        A command line in which "{port}" stands for the port, for example
        ``["./CarlaUE4.sh", "-RenderOffScreen", "-carla-rpc-port={port}"]``; None starts the embedded server.
    timeout_s
        Seconds until it must listen.

    Raises
    ------
    SimulatorUnreachable
        If it does not start, ends at once or does not listen in time.
    """
    words = list(command) if command is not None else embedded_command(town, seed)
    for attempt in range(1 if port else TRIES):
        try:
            return _start(words, port or free_port(), timeout_s)
        except _PortTaken as error:
            if port or attempt == TRIES - 1:
                raise SimulatorUnreachable(str(error)) from None
    raise AssertionError("unreachable")


class _PortTaken(Exception):
    """Somebody else took the port between the look and the start."""


def _start(words: list[str], port: int, timeout_s: float) -> ServerHandle:
    filled = [word.replace("{port}", str(port)) for word in words]
    log = tempfile.TemporaryFile()  # noqa: SIM115 (the handle keeps it)
    process = subprocess.Popen(
        [sys.executable, "-I", str(GUARD), *filled],
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    server = ServerHandle(HOST, port, process, log)
    try:
        _await_listening(server, timeout_s)
    except BaseException:
        server.kill()
        raise
    return server


def _await_listening(server: ServerHandle, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while not server.listening():
        if not server.alive:
            words = server.last_words()
            if "in use" in words:
                raise _PortTaken(f"port {server.port} is taken")
            raise SimulatorUnreachable(f"the simulator ended while starting: {words}")
        if time.monotonic() > deadline:
            words = server.last_words()
            raise SimulatorUnreachable(
                f"the simulator does not listen after {timeout_s:g} s; its last words: {words}"
            )
        time.sleep(0.05)
