"""Policies that choose without words: the baselines against which a model is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.policy.seeds import derive_seed
from driveproof.scene import FUTURE_TIMES, Decision, Observation, decision_of


class Question(Protocol):
    """What a choice policy is given; :class:`driveproof.mcq.McqItem` is one.

    ``options`` is ``[M, 10, 2]`` and ``waypoints`` ``[10, 2]``, metres in the ego frame. Only the oracle
    looks at ``waypoints`` and ``oracle_index``.
    """

    @property
    def record_key(self) -> str: ...  # noqa: D102
    @property
    def variant(self) -> str: ...  # noqa: D102
    @property
    def observation(self) -> Observation: ...  # noqa: D102
    @property
    def options(self) -> Float: ...  # noqa: D102
    @property
    def waypoints(self) -> Float: ...  # noqa: D102
    @property
    def oracle_index(self) -> int: ...  # noqa: D102


@dataclass(frozen=True)
class Choice:
    """A chosen option (0-based) and decision; None with a ``reason`` if unreadable, ``error`` if lost."""

    index: int | None
    decision: Decision | None
    reason: str = ""
    error: str = ""


@runtime_checkable
class ChoicePolicy(Protocol):
    """A policy that picks an option of a question."""

    @property
    def name(self) -> str:
        """Short name for tables."""
        ...

    def identity(self) -> dict[str, Any]:
        """What makes the policy reproducible; JSON."""
        ...

    def choose(self, question: Question, repeat: int) -> Choice:
        """Choose for the given repeat of a question."""
        ...


@dataclass(frozen=True)
class RandomChoice:
    """Chance level: uniform over the options; the decision is the one its option induces."""

    seed: int = 0
    name: str = "random"

    def identity(self) -> dict[str, Any]:
        """Kind and seed."""
        return {"kind": "random", "seed": self.seed}

    def choose(self, question: Question, repeat: int) -> Choice:
        """The same option for the same seed, question and repeat."""
        key = derive_seed(self.seed, "random", question.record_key, question.variant, repeat)
        index = int(np.random.default_rng(key).integers(len(question.options)))
        return Choice(index, decision_of(question.options[index], question.observation.speed))


@dataclass(frozen=True)
class ConstantVelocity:
    """The option nearest (mean distance) to going on at the current velocity, v0 t."""

    name: str = "constant_velocity"

    def identity(self) -> dict[str, Any]:
        """Kind only: it has no parameters."""
        return {"kind": "constant_velocity"}

    def choose(self, question: Question, repeat: int) -> Choice:
        """The same option in every repeat."""
        path = FUTURE_TIMES[:, None] * question.observation.velocity
        distance = np.linalg.norm(question.options - path, axis=-1).mean(-1)
        decision = decision_of(path, question.observation.speed)
        return Choice(int(distance.argmin()), decision)


@dataclass(frozen=True)
class Oracle:
    """The ceiling, privileged: the oracle option and the decision of the logged future."""

    name: str = "oracle"

    def identity(self) -> dict[str, Any]:
        """Kind only: it has no parameters."""
        return {"kind": "oracle"}

    def choose(self, question: Question, repeat: int) -> Choice:
        """The truth in every repeat."""
        decision = decision_of(question.waypoints, question.observation.speed)
        return Choice(question.oracle_index, decision)
