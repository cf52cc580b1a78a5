"""A driving policy whose mistakes cost a decision, not the run."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from driveproof.errors import Unreachable
from driveproof.policy.driving import DriveDecision, DriveObservation, DrivingPolicy
from driveproof.policy.wire.translate import decision_from_wire, decision_to_wire


class Guarded:
    """Wraps a policy of a stranger: what it raises, or gives instead of a decision, becomes ``error``.

    A ``begin`` that fails makes an error of every decision of its episode. The time that a decision took is filled in
    where the policy does not tell it. Only an :class:`~driveproof.errors.Unreachable` is the failure of a server.
    """

    def __init__(self, policy: DrivingPolicy) -> None:
        self._policy = policy
        self._failed: DriveDecision | None = None

    @property
    def name(self) -> str:
        """The policy's."""
        return self._policy.name

    @property
    def views(self) -> tuple[str, ...]:
        """The policy's."""
        return tuple(self._policy.views)

    @property
    def history(self) -> int:
        """The policy's."""
        return self._policy.history

    def identity(self) -> dict[str, Any]:
        """The policy's."""
        return self._policy.identity()

    def begin(self, episode: str, seed: int) -> None:
        """A new episode."""
        self._failed = None
        try:
            self._policy.begin(episode, seed)
        except Exception as error:  # the policy's own code
            self._failed = _error(error)

    def decide(self, observation: DriveObservation) -> DriveDecision:
        """The policy's decision, or why there is none."""
        if self._failed is not None:
            return self._failed
        start = time.monotonic()
        try:
            decision = self._policy.decide(observation)
        except Exception as error:  # the policy's own code
            return replace(_error(error), latency_s=time.monotonic() - start)
        if not isinstance(decision, DriveDecision):
            return DriveDecision(error=f"decide gave a {type(decision).__name__}, no DriveDecision")
        try:  # as over the wire: plain values, or a reason
            decision = decision_from_wire(decision_to_wire(decision))
        except Exception as error:  # whatever stands in place of keys, pedals, trace or counts
            taken = time.monotonic() - start
            return DriveDecision(error=f"no decision: {_error(error).error}"[:300], latency_s=taken)
        taken = decision.latency_s or time.monotonic() - start
        return replace(decision, latency_s=taken)

    def end(self) -> None:
        """The episode is over: the policy's ``end``, if it has one."""
        self._leave("end")

    def close(self) -> None:
        """Nothing more is asked: the policy's ``close``, if it has one."""
        self._leave("close")

    def _leave(self, name: str) -> None:
        leave = getattr(self._policy, name, None)
        if callable(leave):
            leave()


def _error(error: Exception) -> DriveDecision:
    line = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return DriveDecision(error=line, outage=isinstance(error, Unreachable))
