"""What a rollout is paid: one scalar for both turns, known while the trainer already works on something else."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Rollout:
    """One finished interaction about one question.

    Attributes
    ----------
    record_key, variant
        Which question.
    turn1, turn2
        The texts that the policy generated; a policy that is asked in one turn has no ``turn2``.
    choice
        0-based option in the order in which it was shown, None if the answer could not be read.
    correct
        Whether ``choice`` is the oracle option.
    n_options
        How many options were shown.
    """

    record_key: str
    variant: str
    turn1: str
    turn2: str | None
    choice: int | None
    correct: bool
    n_options: int

    @property
    def exact(self) -> float:
        """1 for the oracle option, 0 for any other and for what cannot be read (DEFT-RLVR, equation 7)."""
        readable = self.choice is not None and 0 <= self.choice < self.n_options
        return float(self.correct and readable)


@dataclass(frozen=True)
class Scored:
    """The reward of one rollout.

    Attributes
    ----------
    reward
        0 .. 1.
    graded
        Whether a grader judged the reasoning.
    fallback
        Whether a grader was asked and failed, so that ``reward`` is the exact one alone.
    detail
        JSON for tables of samples: exact reward, process score, criteria met, reason of a failure.
    """

    reward: float
    graded: bool = False
    fallback: bool = False
    detail: Mapping[str, Any] = field(default_factory=dict)


class Pending(Protocol):
    """Rewards that are being computed; both times are wall-clock and must not enter any stage's outs."""

    @property
    def grading_s(self) -> float:
        """Seconds from the start to the latest reward."""
        ...

    @property
    def waited_s(self) -> float:
        """Seconds that :meth:`result` has waited: what scoring costs of a step."""
        ...

    def result(self) -> list[Scored]:
        """The rewards in the order of the rollouts; waits for those that are not there yet."""
        ...


class Reward(Protocol):
    """A way to pay rollouts."""

    @property
    def name(self) -> str:
        """Short name for tables."""
        ...

    def start(self, rollouts: Sequence[Rollout]) -> Pending:
        """Begin to score; returns at once if scoring takes long."""
        ...


class Known:
    """Rewards that needed no waiting."""

    def __init__(self, scored: Sequence[Scored]) -> None:
        self._scored = list(scored)
        self.grading_s, self.waited_s = 0.0, 0.0

    def result(self) -> list[Scored]:
        """The rewards."""
        return self._scored


class Running:
    """Rewards that threads of ``pool`` compute, one call of ``score`` a rollout."""

    def __init__(
        self,
        pool: ThreadPoolExecutor,
        score: Callable[[Rollout], Scored],
        rollouts: Sequence[Rollout],
    ) -> None:
        self._start = self._end = time.monotonic()
        self._futures: list[Future[Scored]] = []
        for rollout in rollouts:
            future = pool.submit(score, rollout)
            future.add_done_callback(self._note_end)
            self._futures.append(future)
        self.waited_s = 0.0

    @property
    def grading_s(self) -> float:
        """Seconds from start to the latest reward."""
        return self._end - self._start

    def result(self) -> list[Scored]:
        """The rewards in the order of the rollouts."""
        start = time.monotonic()
        scored = [future.result() for future in self._futures]
        self.waited_s += time.monotonic() - start
        return scored

    def _note_end(self, future: Future[Scored]) -> None:
        self._end = max(self._end, time.monotonic())


class ExactReward:
    """The verifier alone (DEFT-RLVR, equation 7)."""

    name = "exact"

    def start(self, rollouts: Sequence[Rollout]) -> Pending:
        """Score at once."""
        return Known([Scored(r.exact, detail={"exact": r.exact}) for r in rollouts])


exact_reward = ExactReward()
"""The reward that needs nothing but the verifier."""
