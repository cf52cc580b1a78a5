"""Simulators that a run drives in: embedded servers of its own, or CARLA servers that run somewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from driveproof.errors import BadInput
from driveproof.sim.client import Supervisor
from driveproof.sim.client.isolated import Errand, run_child

EMBEDDED = "embedded"
DELTA_S = 0.05
"""A tick: 20 Hz, as the leaderboard's."""
HANG_S = 30.0
"""Seconds after which a tick hangs."""
FIRST_TOWN = "Town02"
"""Loads quickly; every episode loads its own."""


@dataclass(frozen=True)
class Address:
    """Where a simulator listens; nothing is known of its process."""

    host: str
    port: int
    alive: bool = True


class Embedded:
    """A server of our own, started anew when it dies or hangs, and after every ``recycle_after`` episodes."""

    def __init__(self, hang_s: float = HANG_S, recycle_after: int | None = None) -> None:
        self._supervisor = Supervisor(FIRST_TOWN, hang_s=hang_s, recycle_after=recycle_after)

    def __enter__(self) -> Self:
        self._supervisor.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._supervisor.__exit__(kind, error, trace)

    def run(
        self, job: Callable[..., Any], *args: Any, look: Callable[[], None] | None = None
    ) -> Any:
        """The result of ``job(session, *args)`` in a process of its own."""
        return self._supervisor.run_isolated(job, *args, attempts=1, delta_s=DELTA_S, look=look)


class Elsewhere:
    """A CARLA server that somebody else started and keeps alive."""

    def __init__(self, host: str, port: int, hang_s: float = HANG_S) -> None:
        self._address, self._hang_s = Address(host, port), hang_s

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing of it is ours."""

    def run(
        self, job: Callable[..., Any], *args: Any, look: Callable[[], None] | None = None
    ) -> Any:
        """The result of ``job(session, *args)`` in a process of its own."""
        errand = Errand(job, args, DELTA_S, None, self._hang_s, look)
        return run_child(self._address, errand)


def parse_simulators(text: str, workers: int) -> list[Address | None]:
    """One entry a worker: None for an embedded server, or an address.

    Parameters
    ----------
    text
        ``embedded``, or ``HOST:PORT`` with commas between; each address is one worker.

    Raises
    ------
    BadInput
        If an address is none, or comes twice.
    """
    if text == EMBEDDED:
        return [None] * workers
    found: list[Address | None] = []
    for item in text.split(","):
        host, colon, port = item.strip().rpartition(":")
        if not (colon and host and port.isdecimal() and 0 < int(port) < 65536):
            raise BadInput(f"not a simulator: {item}", hint="embedded, or HOST:PORT[,HOST:PORT…]")
        address = Address(host, int(port))
        if address in found:
            raise BadInput(f"one simulator cannot drive two routes at once: {item}")
        found.append(address)
    return found


def open_simulator(
    address: Address | None, hang_s: float = HANG_S, recycle_after: int | None = None
) -> Embedded | Elsewhere:
    """The simulator of a worker."""
    if address is None:
        return Embedded(hang_s, recycle_after)
    return Elsewhere(address.host, address.port, hang_s)
