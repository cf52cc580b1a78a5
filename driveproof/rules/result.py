"""What a rule says about a batch of proposals: value, validity, reason and evidence, always together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.rules.states import DT

NONE = -1
"""No step, no agent."""


@dataclass(frozen=True)
class SubScore:
    """One rule's verdict on one proposal."""

    value: float | None
    """The score in [0, 1]; ``None`` where it could not be computed."""
    valid: bool
    reason: str
    """Why the value is what it is, in words."""
    step: int | None = None
    """First step (0.1 s each) at which the rule is broken."""
    agent: str | None = None
    """Token of the agent or signal concerned."""

    @property
    def time(self) -> float | None:
        """Seconds after the start at which the rule is first broken."""
        return None if self.step is None else self.step * DT


@dataclass(frozen=True)
class RuleResult:
    """One rule's verdicts on N proposals.

    ``values`` ``[N]`` are NaN where ``valid`` ``[N]`` is false; ``step`` ``[N]`` is the first broken step or -1;
    ``agents`` and ``reasons`` have N entries.
    """

    values: Float
    valid: Bool
    step: Int
    agents: tuple[str | None, ...]
    reasons: tuple[str, ...]

    def __getitem__(self, index: int) -> SubScore:
        """The verdict on one proposal."""
        step, value = int(self.step[index]), float(self.values[index])
        valid = bool(self.valid[index])
        return SubScore(
            value if valid else None,
            valid,
            self.reasons[index],
            None if step == NONE else step,
            self.agents[index],
        )


def judged(
    values: Float,
    reasons: list[str],
    *,
    step: Int | None = None,
    agents: list[str | None] | None = None,
) -> RuleResult:
    """A result in which every value is valid."""
    count = len(values)
    return RuleResult(
        np.asarray(values, np.float64),
        np.ones(count, dtype=bool),
        np.full(count, NONE) if step is None else np.asarray(step, np.int64),
        tuple(agents) if agents is not None else (None,) * count,
        tuple(reasons),
    )


def unjudged(count: int, reason: str) -> RuleResult:
    """A result in which no value could be computed, for one stated reason."""
    return RuleResult(
        np.full(count, np.nan),
        np.zeros(count, dtype=bool),
        np.full(count, NONE),
        (None,) * count,
        (reason,) * count,
    )


def first_step(broken: Bool) -> Int:
    """First true step ``[N]`` of ``broken`` ``[N, T]``, or -1."""
    return np.where(broken.any(-1), broken.argmax(-1), NONE).astype(np.int64)
