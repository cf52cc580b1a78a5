"""A closed loop in a child process: even a client library that hangs for ever costs one attempt only.

The client library can dead-lock inside a tick (with a traffic manager), and waits out its time limit when a
server dies. A parent that watches both notices at once.

Children are forked from a clean process that has no threads; what it has imported (``preload``) they have, too.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

from driveproof.sim.client.failures import ServerLost
from driveproof.sim.client.session import Session

LOOK_S = 0.25
OPEN_S = 20.0
IDLE = 0.0


class Served(Protocol):
    """A simulator that runs somewhere: ours, or one that somebody else started."""

    @property
    def host(self) -> str:
        """Where it listens."""

    @property
    def port(self) -> int:
        """Its RPC port."""

    @property
    def alive(self) -> bool:
        """Whether it may still answer."""


@dataclass(frozen=True)
class Errand:
    """What the child does: ``job(session, *args)``, both picklable, with the options of the session.

    ``look`` is called four times a second here, in the parent; what it raises ends the child.
    """

    job: Callable[..., Any]
    args: tuple[Any, ...]
    delta_s: float
    town: str | None
    timeout_s: float
    look: Callable[[], None] | None = None


def preload(*modules: str) -> None:
    """Let future children have these modules already; without effect once one has been started."""
    multiprocessing.get_context("forkserver").set_forkserver_preload(list(modules))


def run_child(server: Served, errand: Errand) -> Any:
    """The result of an errand that a new process does with ``server``; its exceptions are raised here.

    Raises
    ------
    ServerLost
        If the server dies, a tick takes longer than ``errand.timeout_s`` or the child dies.
    """
    context = multiprocessing.get_context("forkserver")
    ours, theirs = context.Pipe(duplex=False)
    busy = context.Value("d", IDLE, lock=False)
    child = context.Process(
        target=_work,
        args=(theirs, busy, server.host, server.port, replace(errand, look=None)),
        daemon=True,
    )
    child.start()
    theirs.close()
    try:
        answer = _await(ours, server, busy, errand)
    finally:
        child.kill()
        child.join()
        child.close()
        ours.close()
    if isinstance(answer, BaseException):
        raise answer
    return answer[0]


def _await(ours: Connection, server: Served, busy: Any, errand: Errand) -> Any:
    limit_s = errand.timeout_s
    while not wait([ours], LOOK_S):
        if errand.look is not None:
            errand.look()
        if not server.alive:
            raise ServerLost("the simulator died")
        if busy.value != IDLE and time.monotonic() - busy.value > limit_s:
            raise ServerLost(f"a tick takes longer than {limit_s:g} s")
    try:
        return ours.recv()
    except EOFError:
        raise ServerLost("the client's process died") from None


def _work(theirs: Connection, busy: Any, host: str, port: int, errand: Errand) -> None:
    @contextmanager
    def watch() -> Iterator[None]:
        busy.value = time.monotonic()
        try:
            yield
        finally:
            busy.value = IDLE

    try:
        with Session.open(host, port, OPEN_S, errand.delta_s, errand.town) as session:
            session.limit(errand.timeout_s)
            session.watch = watch
            answer: Any = (errand.job(session, *errand.args),)
    except BaseException as error:
        answer = error
    theirs.send(answer)
