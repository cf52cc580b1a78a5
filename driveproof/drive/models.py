"""The server of a run's own model: ``driveproof policy serve``, kept alive for as long as the run goes on."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from driveproof.errors import Unreachable
from driveproof.sim.client import ServerHandle, start_server

READY_S = 180.0
"""Seconds in which a model must be loaded."""
POLL_S = 0.2
TRIES = 2
"""Starts until it is given up: who makes a mistake in the specification shall not wait long."""
SESSIONS = 64
"""Episodes at once: far more than workers, for a killed episode's session ends only after a while."""


class ModelServer:
    """Serves a policy on this machine and starts it anew when it is dead or does not answer. A context manager.

    Parameters
    ----------
    spec
        What is served.
    healthy
        Whether the server at a URL answers.
    seed
        Of a policy that draws.
    """

    def __init__(
        self, spec: str, healthy: Callable[[str], bool], seed: int = 0, ready_s: float = READY_S
    ) -> None:
        self.spec, self._seed = spec, seed
        self._healthy, self._ready_s = healthy, ready_s
        self._server: ServerHandle | None = None
        self._lock = threading.Lock()
        self.starts = 0
        """How often it was started."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._end()

    def address(self, stop: threading.Event | None = None) -> str:
        """The URL at which it answers now, after a start if it has to be.

        Raises
        ------
        Unreachable
            If it cannot be started, or ``stop`` is set meanwhile.
        """
        with self._lock:
            if self._server is not None and not self._answers(self._server):
                self._end()
            for left in reversed(range(TRIES)):
                if self._server is not None:
                    break
                try:
                    self._server = self._start(stop or threading.Event())
                except Unreachable:
                    if not left or (stop is not None and stop.is_set()):
                        raise
            assert self._server is not None
            return _url(self._server)

    def _answers(self, server: ServerHandle) -> bool:
        return server.alive and self._healthy(_url(server))

    def _start(self, stop: threading.Event) -> ServerHandle:
        command = [sys.executable, "-m", "driveproof", "policy", "serve", self.spec]
        options = ["--port", "{port}", "--seed", str(self._seed)]
        # one thread, because another number gives other bytes
        options += ["--threads", "1", "--sessions", str(SESSIONS)]
        try:
            server = start_server(command=[*command, *options], timeout_s=self._ready_s)
        except Unreachable as error:  # worded for a simulator
            raise _not_up(str(error)) from None
        self.starts += 1
        deadline = time.monotonic() + self._ready_s
        while not self._healthy(_url(server)):
            if not server.alive or stop.is_set() or time.monotonic() > deadline:
                words = server.last_words()
                server.kill()
                raise _not_up(words)
            time.sleep(POLL_S)
        return server

    def _end(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.stop() if server.alive else server.kill()


def _not_up(words: str) -> Unreachable:
    """``words`` are what was said of it: of a simulator, or by its own error."""
    for prefix in ("the simulator ended while starting: ", "error: "):
        words = words.removeprefix(prefix)
    return Unreachable(
        f"the policy's server does not come up: {words.replace('the simulator', 'it')}"
    )


def _url(server: ServerHandle) -> str:
    return f"http://{server.host}:{server.port}"
