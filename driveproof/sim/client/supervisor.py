"""Keeps a simulator running: notices when it died or hangs, ends all of it, and starts it again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from driveproof.sim.client.failures import ServerLost, SimulatorUnreachable
from driveproof.sim.client.isolated import Errand, run_child
from driveproof.sim.client.server import START_S, ServerHandle, start_server
from driveproof.sim.client.session import Session

Result = TypeVar("Result")
LOOK_S = 0.25
"""Seconds between two looks at the server."""
OPEN_S = 20.0
"""Seconds in which a server that has just begun to listen must answer."""
HANG_S = 6.0
"""Seconds after which a tick hangs."""


class Supervisor:
    """Owns one server at a time. A context manager: at the end nothing of it is left.

    Parameters
    ----------
    town, seed
        What the embedded server starts with.
    command
        A CARLA command line as :func:`driveproof.sim.client.server.start_server` takes it; None is embedded.
    hang_s
        A tick that takes longer is given up and its server killed.
    recycle_after
        Sessions after which the server is started afresh; None never.
    start_s
        Seconds that a start may take.
    """

    def __init__(
        self,
        town: str = "Town01",
        seed: int = 0,
        command: Sequence[str] | None = None,
        hang_s: float = HANG_S,
        recycle_after: int | None = None,
        start_s: float = START_S,
    ) -> None:
        self._town, self._seed, self._command = town, seed, command
        self._hang_s, self._recycle_after, self._start_s = hang_s, recycle_after, start_s
        self._server: ServerHandle | None = None
        self._sessions = 0
        self.starts = 0
        """How often a server was started."""
        self._busy_since: float | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, name="simulator watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._end_server()

    @property
    def server(self) -> ServerHandle:
        """The server that runs, started if there is none or it is dead.

        Raises
        ------
        SimulatorUnreachable
            If it cannot be started.
        """
        if self._server is not None and not self._server.alive:
            self._end_server()
        if self._server is None:
            self._server = start_server(
                self._town, seed=self._seed, command=self._command, timeout_s=self._start_s
            )
            self.starts += 1
            self._sessions = 0
        return self._server

    def _next(self) -> ServerHandle:
        """The server of the next session: a new one when this one has served its time."""
        if self._recycle_after is not None and self._sessions >= self._recycle_after:
            self._end_server()
        server = self.server
        self._sessions += 1
        return server

    @contextmanager
    def session(self, delta_s: float = 0.05, town: str | None = None) -> Iterator[Session]:
        """A session with the server, which is killed if the session loses it.

        Raises
        ------
        ServerLost
            From any call in the block once the server is dead or hangs.
        """
        server = self._next()
        try:
            session = Session.open(server.host, server.port, OPEN_S, delta_s, town)
        except (ServerLost, SimulatorUnreachable) as error:
            state = "hangs" if server.alive else "ended"
            words = server.last_words()
            self._end_server()
            raise ServerLost(f"the simulator {state}; its last words: {words}") from error
        session.limit(self._hang_s)
        session.watch = self._tick
        try:
            with session:
                yield session
        finally:
            if session.lost:
                self._end_server()

    def run(
        self,
        job: Callable[[Session], Result],
        attempts: int = 3,
        delta_s: float = 0.05,
        town: str | None = None,
    ) -> Result:
        """The result of ``job`` with a session; when the server is lost, all over again with a new one.

        Raises
        ------
        ServerLost
            If it is lost in each of ``attempts``.
        """
        for left in reversed(range(attempts)):
            try:
                with self.session(delta_s, town) as session:
                    return job(session)
            except ServerLost:
                if not left:
                    raise
        raise ValueError("attempts must be positive")

    def run_isolated(
        self,
        job: Callable[..., Result],
        *args: Any,
        attempts: int = 3,
        delta_s: float = 0.05,
        town: str | None = None,
        look: Callable[[], None] | None = None,
    ) -> Result:
        """As :meth:`run`, but ``job(session, *args)`` runs in a process of its own.

        A dead server is noticed at once, and a hanging client library does no harm; ``job``, ``args`` and
        the result must be picklable. ``look`` is called four times a second meanwhile; what it raises ends
        the process and is raised here.
        """
        errand = Errand(job, args, delta_s, town, self._hang_s, look)
        for left in reversed(range(attempts)):
            server = self._next()
            try:
                result: Result = run_child(server, errand)
            except (ServerLost, SimulatorUnreachable):
                self._end_server()
                if not left:
                    raise
            else:
                return result
        raise ValueError("attempts must be positive")

    @contextmanager
    def _tick(self) -> Iterator[None]:
        self._busy_since = time.monotonic()
        try:
            yield
        finally:
            self._busy_since = None

    def _look(self) -> None:
        """Kill a server whose tick hangs, so that nothing waits for it any longer."""
        while not self._stop.wait(LOOK_S):
            since, server = self._busy_since, self._server
            if since is not None and server is not None and time.monotonic() - since > self._hang_s:
                server.kill()
                self._busy_since = None

    def _end_server(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.stop() if server.alive else server.kill()
