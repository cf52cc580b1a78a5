"""Where a route stands: its state, and every attempt with what became of it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from driveproof.config.base import Section
from driveproof.errors import BadInput
from driveproof.evaluation.driving.records import RouteState
from driveproof.files import read_json, write_json

STATE_FILE = "state.json"


class Ending(StrEnum):
    """How an attempt ended."""

    COMPLETED = "completed"
    POLICY = "policy"
    """The policy broke: its answer counts against it."""
    SIMULATOR = "simulator"
    """The simulator, or its client's process, died or hung."""
    UNREACHABLE = "unreachable"
    """There was no simulator to begin with; not the route's fault."""
    ROUTE = "route"
    """The simulator cannot set the route up, however often it is asked."""
    MODEL_SERVER = "model_server"
    """Whoever serves the policy's model did not answer."""
    DISK = "disk"
    """Its files cannot be written or read; nobody's fault, and the run stops."""
    INTERRUPTED = "interrupted"
    """The run was stopped, or its process died; this is nobody's fault."""


class Attempt(Section):
    """One try at a route: when (seconds since 1970), by whom, and how it ended (None while it goes on)."""

    began: float
    ended: float | None = None
    by: str = ""
    ending: Ending | None = None
    reason: str = ""


class RouteStatus(Section):
    """The content of ``state.json``.

    Attributes
    ----------
    state
        Where the route stands.
    reason
        Why it did not end of its own; "" if it did or has not.
    attempts
        All of them, in order.
    forgiven
        Attempts that no longer count, because somebody asked to try again.
    """

    state: RouteState = RouteState.QUEUED
    reason: str = ""
    attempts: tuple[Attempt, ...] = ()
    forgiven: int = 0

    def crashes(self, *endings: Ending) -> int:
        """Attempts that count and ended in one of ``endings``."""
        return sum(one.ending in endings for one in self.attempts[self.forgiven :])

    @property
    def tries(self) -> int:
        """Attempts that count: not those that were nobody's fault or that were forgiven."""
        free = (Ending.INTERRUPTED, Ending.UNREACHABLE, Ending.DISK)
        return sum(one.ending not in free for one in self.attempts[self.forgiven :])

    def begun(self, now: float, by: str) -> RouteStatus:
        """A new attempt goes on."""
        attempts = (*self.attempts, Attempt(began=now, by=by))
        return RouteStatus(state=RouteState.RUNNING, attempts=attempts, forgiven=self.forgiven)

    def ended(self, now: float, ending: Ending, reason: str) -> RouteStatus:
        """The last attempt is over, and the route queued until somebody decides what that means."""
        last = self.attempts[-1].model_copy(
            update={"ended": now, "ending": ending, "reason": reason[:500]}
        )
        attempts = (*self.attempts[:-1], last)
        return RouteStatus(attempts=attempts, forgiven=self.forgiven)

    def settled(self, state: RouteState, reason: str = "") -> RouteStatus:
        """In a state that stays."""
        return self.model_copy(update={"state": state, "reason": reason[:500]})

    def queued_again(self) -> RouteStatus:
        """To be tried anew, with the whole budget."""
        return RouteStatus(attempts=self.attempts, forgiven=len(self.attempts))


def verdict(status: RouteStatus, budget: int) -> RouteStatus:
    """What the attempts so far mean: an end, or the queue again.

    Parameters
    ----------
    budget
        Crashes of one kind after which a route is given up: of the model's server as that server's failure, of the
        simulator as the route's, which is quarantined.
    """
    last = status.attempts[-1]
    match last.ending:
        case Ending.COMPLETED:
            return status.settled(RouteState.COMPLETED)
        case Ending.POLICY:
            return status.settled(RouteState.FAILED_BY_POLICY, last.reason)
        case Ending.ROUTE:
            return status.settled(RouteState.FAILED_BY_SIMULATOR, last.reason)
        case Ending.DISK:
            return status.settled(RouteState.QUEUED, last.reason)
        case Ending.MODEL_SERVER if status.crashes(Ending.MODEL_SERVER) >= budget:
            return status.settled(RouteState.FAILED_BY_MODEL_SERVER, last.reason)
        case Ending.SIMULATOR if status.crashes(Ending.SIMULATOR) >= budget:
            reason = f"{budget} crashes, the last: {last.reason}"
            return status.settled(RouteState.QUARANTINED, reason)
        case _:
            return status.settled(RouteState.QUEUED)


def read_status(folder: Path) -> RouteStatus:
    """The state of a route's folder; queued if nobody has begun it.

    Raises
    ------
    BadInput
        If the file is no state.
    """
    path = folder / STATE_FILE
    if not path.exists():
        return RouteStatus()
    content: Any = read_json(path)
    try:
        return RouteStatus.model_validate(content)
    except ValidationError as error:
        raise BadInput(f"not a route's state: {error.errors()[0]['msg']}", path=path) from None


def look_up(folder: Path) -> RouteStatus:
    """As :func:`read_status`; a route whose file is no state is queued with that as its reason.

    One broken file is one route's problem: it is driven again, and the others are not held up.
    """
    try:
        return read_status(folder)
    except BadInput as error:
        return RouteStatus(reason=f"driven again: {error}"[:500])


def write_status(folder: Path, status: RouteStatus) -> None:
    """Write the state, whole or not at all, also if the machine loses power."""
    write_json(folder / STATE_FILE, status.model_dump(mode="json"), durable=True)
