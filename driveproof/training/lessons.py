"""What a supervised training needs to know of its subject: examples by number and step, and every word of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from driveproof.policy.chat import Message
from driveproof.scene import ImageRef


@dataclass(frozen=True)
class Example:
    """A conversation that ends with the teacher's answer.

    Attributes
    ----------
    messages
        User and assistant messages; the assistant's are supervised.
    images
        What the image placeholders stand for, in order.
    """

    messages: Sequence[Message]
    images: Sequence[ImageRef]


class Lessons(Protocol):
    """A source of examples: the same number and step give the same example.

    ``steps`` is the number of batches, ``phrases`` are texts that become single tokens of the tiny model.
    """

    @property
    def steps(self) -> int: ...  # noqa: D102
    @property
    def phrases(self) -> tuple[str, ...]: ...  # noqa: D102

    def lesson(self, index: int, step: int) -> Example:
        """Example ``index`` of the whole course, which falls into batch ``step``."""
        ...

    def images(self) -> list[ImageRef]:
        """Every picture that examples show, archive by archive."""
        ...

    def corpus(self) -> list[str]:
        """Every word that examples can contain."""
        ...

    def identity(self) -> dict[str, Any]:
        """What the model folder says about how it must be asked; JSON."""
        ...
