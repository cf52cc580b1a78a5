"""Simulators that a run drives in: servers of its own, embedded or CARLA by its command line, or ones that run somewhere."""

from __future__ import annotations

import re
import shlex
import shutil
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


@dataclass(frozen=True)
class Command:
    """How a server of our own is started; "{port}" in a word stands for the port, which each start takes anew."""

    words: tuple[str, ...]


Where = Address | Command | None
"""Of a worker's simulator: somewhere, a server of our own by its command line, or (None) an embedded one."""


class Embedded:
    """A server of our own, started anew when it dies or hangs, and after every ``recycle_after`` episodes.

    It is the embedded one, or what ``command`` starts.
    """

    def __init__(
        self,
        hang_s: float = HANG_S,
        recycle_after: int | None = None,
        command: Command | None = None,
    ) -> None:
        words = None if command is None else command.words
        self._supervisor = Supervisor(
            FIRST_TOWN, command=words, hang_s=hang_s, recycle_after=recycle_after
        )

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


def parse_simulators(text: str, workers: int, command: str = "", gpus: str = "") -> list[Where]:
    """One entry a worker.

    Parameters
    ----------
    text
        ``embedded``, or ``HOST:PORT`` with commas between; each address is one worker.
    workers
        Servers of our own that drive at once.
    command
        Command line of a CARLA server in place of the embedded one, in a shell's quoting but for no shell. "{port}"
        in it stands for a free port, "{gpu}" for one of ``gpus``, which go round.
    gpus
        Numbers with commas between.

    Raises
    ------
    BadInput
        If an address is none or comes twice, the command starts nothing, or they do not go together.
    """
    if command:
        return _commands(text, workers, command, gpus)
    if gpus:
        raise BadInput("says which GPU --sim-command takes; there is none", field="--sim-gpus")
    if text == EMBEDDED:
        return [None] * workers
    found: list[Where] = []
    for item in text.split(","):
        host, colon, port = item.strip().rpartition(":")
        if not (colon and host and port.isdecimal() and 0 < int(port) < 65536):
            raise BadInput(f"not a simulator: {item}", hint="embedded, or HOST:PORT[,HOST:PORT…]")
        address = Address(host, int(port))
        if address in found:
            raise BadInput(f"one simulator cannot drive two routes at once: {item}")
        found.append(address)
    if workers not in (1, len(found)):
        raise BadInput(
            f"{workers} workers for {len(found)} simulators: each address is one", field="--workers"
        )
    return found


def _commands(text: str, workers: int, command: str, gpus: str) -> list[Where]:
    field = "--sim-command"
    if text != EMBEDDED:
        raise BadInput(f"starts servers of our own, --sim {text} names others", field=field)
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"no command line: {error}", field=field) from None
    if not words or shutil.which(words[0]) is None:
        raise BadInput(f"no such program: {words[0] if words else repr(command)}", field=field)
    named = {name for word in words for name in re.findall(r"\{(\w*)\}", word)}
    if "port" not in named or not named <= {"port", "gpu"}:
        hint = "./CarlaUE4.sh -RenderOffScreen -carla-rpc-port={port} -graphicsadapter={gpu}"
        raise BadInput(
            "needs {port}, may have {gpu}, and nothing else in braces", field=field, hint=hint
        )
    numbers = [part.strip() for part in gpus.split(",")] if gpus else []
    if not all(part.isascii() and part.isdecimal() for part in numbers):
        raise BadInput(f"no numbers of GPUs: {gpus}", field="--sim-gpus", hint="0,1")
    if ("gpu" in named) != bool(numbers):
        raise BadInput("belongs to {gpu} in --sim-command, and that to it", field="--sim-gpus")
    return [
        Command(tuple(word.replace("{gpu}", numbers[n % len(numbers)]) for word in words))
        if numbers
        else Command(tuple(words))
        for n in range(workers)
    ]


def open_simulator(
    where: Where, hang_s: float = HANG_S, recycle_after: int | None = None
) -> Embedded | Elsewhere:
    """The simulator of a worker."""
    if isinstance(where, Address):
        return Elsewhere(where.host, where.port, hang_s)
    return Embedded(hang_s, recycle_after, where)
