"""What the trainer needs to know of its subject: how a question is talked through, and what it pays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from driveproof.policy.chat import Message
from driveproof.rewards.reward import Pending
from driveproof.scene import ImageRef
from driveproof.scene.images import Pixels

Q = TypeVar("Q", contravariant=True)
"""A question."""
F = TypeVar("F", covariant=True)
"""A finished rollout, as its reward wants it."""


@dataclass(frozen=True)
class Opening:
    """What a policy is shown before it says anything; each image place stands for the next of ``images``."""

    messages: Sequence[Message]
    images: Sequence[ImageRef | Pixels] = ()


class Interaction(Protocol[Q, F]):
    """A conversation of a fixed number of turns about one question.

    ``turns`` is the number of answers of the policy, ``budget`` the most tokens of each.
    """

    @property
    def turns(self) -> int: ...  # noqa: D102
    @property
    def budget(self) -> int: ...  # noqa: D102

    def opening(self, question: Q) -> Opening:
        """The prompt of the first turn."""
        ...

    def reveal(self, question: Q, replies: Sequence[str]) -> str:
        """What the environment says after ``replies``, of which there are fewer than ``turns``."""
        ...

    def finish(self, question: Q, replies: Sequence[str]) -> F:
        """The rollout after its last turn."""
        ...


class Task(Protocol):
    """Something to practise. Questions go by number, so that every process finds the same ones."""

    @property
    def interaction(self) -> Interaction[Any, Any]: ...  # noqa: D102

    def schedule(self, count: int, seed: int) -> list[int]:
        """The numbers of ``count`` questions in the order in which they are practised."""
        ...

    def question(self, number: int) -> Any:
        """A question for the interaction."""
        ...

    def start_reward(self, finished: Sequence[Any]) -> Pending:
        """Begin to score rollouts; all of a question's come together."""
        ...

    def sample(self, number: int, finished: Any) -> Mapping[str, Any]:
        """A rollout as a flat row of JSON for the table of samples."""
        ...

    def valid(self, finished: Any) -> bool:
        """Whether the rollout ended in an answer that can be read."""
        ...

    def fingerprint(self, numbers: Sequence[int]) -> str:
        """Digest of all that these questions are and their reward knows; pictures apart, which openings show."""
        ...

    def identity(self) -> dict[str, Any]:
        """What the model folder says about how it must be asked, and what was practised; JSON."""
        ...
