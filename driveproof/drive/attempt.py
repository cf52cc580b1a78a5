"""One attempt at an episode, in a process of its own, watched from outside."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from driveproof.drive.episode import (
    EpisodeTask,
    Outcome,
    disk_trouble,
    drive_episode,
    record_broken,
)
from driveproof.drive.notes import HEARTBEAT_FILE, LOG_FILE
from driveproof.drive.results import read_result
from driveproof.drive.states import Ending
from driveproof.errors import BadInput
from driveproof.evaluation.driving.records import RouteState
from driveproof.sim.client import ServerLost, Session, SimulatorUnreachable
from driveproof.workers import end_with_parent

PATIENCE_S = 300.0
"""Seconds without a sign of life after which an episode stands still."""
_LAST_WORDS = 400


class Stopped(Exception):
    """The run is to stop."""


class StandsStill(Exception):
    """The policy has not come back for too long."""


class Simulator(Protocol):
    """Runs jobs with a session, each in a process of its own."""

    def run(
        self, job: Callable[..., Any], *args: Any, look: Callable[[], None] | None = None
    ) -> Any:
        """The result of ``job(session, *args)``; ServerLost or SimulatorUnreachable if the simulator fails."""


def attempt(
    simulator: Simulator,
    task: EpisodeTask,
    stop: threading.Event,
    patience_s: float = PATIENCE_S,
) -> Outcome:
    """Drive an episode and say how it ended; whatever dies is an outcome and no exception.

    Parameters
    ----------
    stop
        Ends the attempt when it is set.
    patience_s
        Seconds without a sign of life, counted from the begin of the attempt, after which the episode is given up. A
        tick that hangs is noticed earlier, so that it is the policy that does not answer, once the town is there.

    Raises
    ------
    CannotWrite
        If what is known of a policy that hangs cannot be written.
    """
    began = time.time()

    def look() -> None:
        if stop.is_set():
            raise Stopped
        if time.time() - max(began, _last_beat(task) or began) > patience_s:
            raise StandsStill

    try:
        outcome = simulator.run(_job, task, look=look)
    except (Stopped, KeyboardInterrupt):
        return Outcome(Ending.INTERRUPTED, "the run was stopped")
    except StandsStill:
        return _given_up(task, f"within {patience_s:g} s", time.time() - began)
    except SimulatorUnreachable as error:
        return Outcome(Ending.UNREACHABLE, str(error))
    except ServerLost as error:
        return Outcome(Ending.SIMULATOR, f"{error}{_last_words(task)}")
    except (
        Exception
    ) as error:  # the driving side itself: nobody else's fault, tried anew and then quarantined
        return Outcome(
            Ending.SIMULATOR, f"the driving side failed: {type(error).__name__}: {error}"
        )
    assert isinstance(outcome, Outcome)
    return outcome


def _job(session: Session, task: EpisodeTask) -> Outcome:
    """In the child: drive, with everything that is printed in a log, and end with the parent."""
    end_with_parent()
    try:
        log = os.open(task.folder / LOG_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        return Outcome(Ending.DISK, disk_trouble(error))
    os.dup2(log, 1)
    os.dup2(log, 2)
    return drive_episode(session, task)


def _given_up(task: EpisodeTask, when: str, system_s: float) -> Outcome:
    """Whose fault it is that nothing happens any more; a policy's is recorded with what it drove."""
    with suppress(BadInput):  # it was over, and only the policy did not let go
        found = read_result(task.folder, task.episode)
        broke = found.state is RouteState.FAILED_BY_POLICY
        return Outcome(Ending.POLICY, found.reason) if broke else Outcome(Ending.COMPLETED)
    if _last_beat(task) is None:
        return Outcome(Ending.SIMULATOR, f"the town was not there {when}")
    if task.plan.policy.served or "://" in task.plan.policy.spec:
        return Outcome(Ending.MODEL_SERVER, f"no decision {when}")
    reason = f"no decision {when}"
    record_broken(task, reason, system_s)
    return Outcome(Ending.POLICY, reason)


def _last_beat(task: EpisodeTask) -> float | None:
    """When the last sign of life was given, seconds since 1970; None before the first."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        beat = json.loads((task.folder / HEARTBEAT_FILE).read_text(encoding="utf-8"))
        return float(beat["time"])
    return None


def _last_words(task: EpisodeTask) -> str:
    """The end of what the child printed, in one line."""
    with suppress(OSError):
        text = (task.folder / LOG_FILE).read_text(encoding="utf-8", errors="replace")
        words = " ".join(text[-_LAST_WORDS:].split())
        return f"; last words: {words}" if words else ""
    return ""
