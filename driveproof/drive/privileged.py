"""The expert beside a policy, with its failures told from the policy's: it speaks while the policy decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from driveproof.questions import QuestionKey
from driveproof.reasoning import Privileged
from driveproof.render.marks import Mark
from driveproof.scene.images import Pixels

T = TypeVar("T")


class PrivilegedFailed(Exception):
    """The driving side could not tell what only it knows; ``__cause__`` says why. No failure of the policy."""


class Vouched:
    """A :class:`driveproof.reasoning.Privileged` whose every exception is a :class:`PrivilegedFailed`."""

    def __init__(self, told: Privileged) -> None:
        self._told = told

    @property
    def name(self) -> str:
        """Of who tells."""
        return self._told.name

    def marks(self) -> Sequence[Mark]:
        """See :class:`driveproof.reasoning.Privileged`."""
        return _vouch(self._told.marks)

    def bev(self, *, references: bool) -> Pixels:
        """See :class:`driveproof.reasoning.Privileged`."""
        return _vouch(lambda: self._told.bev(references=references))

    def marked(self, view: str, pictures: Sequence[Pixels]) -> Sequence[Pixels]:
        """See :class:`driveproof.reasoning.Privileged`."""
        return _vouch(lambda: self._told.marked(view, pictures))

    def answer(self, key: QuestionKey) -> str | None:
        """See :class:`driveproof.reasoning.Privileged`."""
        return _vouch(lambda: self._told.answer(key))


def _vouch(call: Callable[[], T]) -> T:
    try:
        return call()
    except Exception as error:
        text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise PrivilegedFailed(text) from error
