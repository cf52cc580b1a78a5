"""What only the driving side knows, and the one door through which it reaches a request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from driveproof.errors import BadInput
from driveproof.prompts.inputs import InputMode, Shown
from driveproof.questions import QuestionKey
from driveproof.reasoning.graph import ReasoningGraph
from driveproof.render.marks import Mark
from driveproof.scene.images import Pixels


@runtime_checkable
class Privileged(Protocol):
    """The truth about the present moment, for modes and questions that ask for it.

    It lives on the driving side and speaks of the moment of the last observation. A camera mode without references,
    with a graph without USE_GT, never calls it.
    """

    @property
    def name(self) -> str:
        """What it is, for the record of a run."""
        ...

    def marks(self) -> Sequence[Mark]:
        """Everybody around the ego, for the list of actors."""
        ...

    def bev(self, *, references: bool) -> Pixels:
        """The scene from above, RGB ``[H, W, 3]``, with the names of things written in where they have ``references``."""
        ...

    def marked(self, view: str, pictures: Sequence[Pixels]) -> Sequence[Pixels]:
        """A camera's pictures, the oldest first, with the names of things written in."""
        ...

    def answer(self, key: QuestionKey) -> str | None:
        """The expert's answer in words, with ids of things; None if the question cannot be answered now."""
        ...


def needs_privilege(mode: InputMode, graph: ReasoningGraph) -> str:
    """Why mode or graph show what only the driving side knows; "" if they do not."""
    if mode.shown is Shown.BEV:
        return "the picture from above"
    if mode.shown is Shown.TEXT:
        return "the list of actors"
    if mode.references:
        return "the ids of things"
    return "USE_GT" if graph.use_truth else ""


def require_privilege(
    mode: InputMode, graph: ReasoningGraph, privileged: Privileged | None
) -> None:
    """Refuse what cannot be shown.

    Raises
    ------
    BadInput
        If mode or graph need the truth and nobody gives it.
    """
    why = needs_privilege(mode, graph)
    if why and privileged is None:
        raise BadInput(
            f"{why}: known to the driving side alone, and it gives nothing away here",
            field="USE_GT" if why == "USE_GT" else "mode",
            hint="show cameras without references and leave USE_GT empty, or allow privileged input",
        )
