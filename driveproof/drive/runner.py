"""Workers take routes from a run's queue, each with a simulator of its own, until every route has ended."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

from driveproof.drive.attempt import PATIENCE_S, Simulator, attempt
from driveproof.drive.episode import EpisodeTask, Outcome
from driveproof.drive.kinds import SERVED
from driveproof.drive.models import READY_S, ModelServer
from driveproof.drive.openers import answers
from driveproof.drive.rundir import Claim, RunDirectory
from driveproof.drive.simulators import HANG_S, Where, open_simulator
from driveproof.drive.states import Ending, RouteStatus, verdict
from driveproof.errors import Unreachable, UserError
from driveproof.evaluation.driving.records import RouteState
from driveproof.sim.client import SimulatorUnreachable
from driveproof.sim.client.isolated import preload

POLL_S = 0.5
"""Seconds between two looks at a queue whose last routes others drive."""
PAUSE_S, LONGEST_PAUSE_S, LONGEST_LOOK_S = 1.0, 60.0, 15.0
"""Seconds after a server that others run did not answer, and between two looks whether it is back."""


@dataclass(frozen=True)
class Care:
    """How much trouble a run takes; none of it changes a result.

    Attributes
    ----------
    budget
        Crashes after which a route is given up.
    recycle_after
        Episodes after which a server of our own is started anew; None for never.
    hang_s, patience_s
        Seconds of a tick, and without a sign of life, after which an attempt is given up.
    model_wait_s
        Seconds in which a model's server that others run must come back.
    """

    budget: int = 3
    recycle_after: int | None = 25
    hang_s: float = HANG_S
    patience_s: float = PATIENCE_S
    model_wait_s: float = READY_S


Report = Callable[[str, RouteStatus], None]
"""Called with a route's key and its state whenever that changes; from any thread."""


class Worker:
    """Takes routes until none is left.

    Parameters
    ----------
    simulator
        Its own.
    model
        The server of the policy's model, shared with others; None if there is none of ours.
    stop
        Makes it stop.
    """

    def __init__(
        self,
        run: RunDirectory,
        simulator: Simulator,
        model: ModelServer | None,
        stop: threading.Event,
        care: Care,
        report: Report,
    ) -> None:
        self._run, self._simulator, self._model = run, simulator, model
        self._stop, self._care, self._report = stop, care, report
        self._name = f"{socket.gethostname()}:{os.getpid()}"
        self._unreachable = 0

    def work(self) -> None:
        """Until every route has ended, or the run is stopped. What others drive is waited for: they may die.

        Raises
        ------
        SimulatorUnreachable
            If the simulator cannot be reached however often it is tried.
        Unreachable
            If the model's server, which others run, does not come back; the routes that are left stay queued.
        UserError
            If files cannot be written: every other route would fail likewise.
        """
        while not self._stop.is_set():
            claim = self._run.claim_next()
            if claim is not None:
                with claim:
                    self._drive(claim)
            elif self._run.over:
                return
            else:
                self._stop.wait(POLL_S)

    def _drive(self, claim: Claim) -> None:
        status = claim.status
        if status.state is RouteState.RUNNING:  # whoever drove it is gone: nobody holds the claim
            reason = "the process that drove it died"
            status = status.ended(time.time(), Ending.INTERRUPTED, reason)
        while not (status.state.ended or self._stop.is_set()):
            status = self._attempt(claim, status)

    def _attempt(self, claim: Claim, status: RouteStatus) -> RouteStatus:
        status = self._note(claim, status.begun(time.time(), self._name))
        outcome = self._try(claim)
        status = status.ended(time.time(), outcome.ending, outcome.reason)
        status = verdict(status, self._care.budget)
        if outcome.ending in (Ending.COMPLETED, Ending.POLICY):
            claim.publish()
        else:
            claim.discard(len(status.attempts))
        status = self._note(claim, status)
        if outcome.ending is Ending.DISK:
            raise UserError(
                outcome.reason, hint="the route stays queued; begin the run again to go on"
            )
        self._pause(outcome, status)
        return status

    def _pause(self, outcome: Outcome, status: RouteStatus) -> None:
        """Give servers that others run time to come back; without a simulator there is no worker."""
        self._unreachable = self._unreachable + 1 if outcome.ending is Ending.UNREACHABLE else 0
        if self._unreachable >= max(self._care.budget, 2):
            raise SimulatorUnreachable(outcome.reason)
        crashes = status.crashes(Ending.MODEL_SERVER)
        if self._unreachable:
            self._stop.wait(PAUSE_S)
        elif outcome.ending is Ending.MODEL_SERVER and self._model is None:
            self._stop.wait(min(PAUSE_S * 2**crashes, LONGEST_PAUSE_S))
            self._await_model()

    def _await_model(self) -> None:
        """Wait until the server that others run answers again: no attempt is spent on who is not there."""
        spec, pause = self._run.plan.policy.spec, PAUSE_S
        deadline = time.monotonic() + self._care.model_wait_s
        while spec.startswith(SERVED) and not (self._stop.is_set() or answers(spec)):
            left = deadline - time.monotonic()
            if left <= 0.0:
                raise Unreachable(
                    f"the policy's server did not come back within {self._care.model_wait_s:g} s: {spec}",
                    hint="routes that are left stay queued; begin the run again to go on",
                )
            self._stop.wait(min(pause, left))
            pause = min(2.0 * pause, LONGEST_LOOK_S)

    def _try(self, claim: Claim) -> Outcome:
        folder = claim.fresh()
        try:
            address = "" if self._model is None else self._model.address(self._stop)
        except Unreachable as error:
            return Outcome(Ending.MODEL_SERVER, str(error))
        spec = self._run.spec(claim.episode.route)
        task = EpisodeTask(self._run.plan, claim.episode, spec, folder, address)
        return attempt(self._simulator, task, self._stop, self._care.patience_s)

    def _note(self, claim: Claim, status: RouteStatus) -> RouteStatus:
        claim.write(status)
        self._report(claim.episode.key, status)
        return status


def drive(
    run: RunDirectory,
    simulators: Sequence[Where],
    care: Care,
    report: Report = lambda key, status: None,
    model: ModelServer | None = None,
) -> None:
    """Drive what is left of a run, one worker a simulator; returns when every route has ended.

    An interrupt stops the workers, puts what they drove back into the queue, and is raised again.

    Raises
    ------
    SimulatorUnreachable
        If routes are left because simulators could not be reached; those that could have driven what they could.
    Unreachable
        If routes are left because the model's server did not come back.
    UserError
        If files cannot be written; the routes under way stay queued.
    """
    preload("driveproof.drive.attempt")
    stop = threading.Event()

    def work(where: Where) -> None:
        try:
            with open_simulator(where, care.hang_s, care.recycle_after) as simulator:
                Worker(run, simulator, model, stop, care, report).work()
        except SimulatorUnreachable:  # the others go on
            raise
        except BaseException:
            stop.set()
            raise

    with ThreadPoolExecutor(len(simulators), thread_name_prefix="worker") as pool:
        futures = [pool.submit(work, where) for where in simulators]
        try:
            while wait(futures, POLL_S).not_done:  # in pieces, so that an interrupt is heard
                continue
        finally:
            stop.set()
    for future in futures:
        error = future.exception()
        if error is not None and not (isinstance(error, SimulatorUnreachable) and run.over):
            raise error
