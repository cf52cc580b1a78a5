"""Typed answers: what an answer says, apart from how it is worded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from driveproof.questions.keys import ActionKeys
from driveproof.questions.objects import ObjectRef

Waypoints = tuple[tuple[float, float], ...]
"""Eight points (x forward, y left, metres), half a second apart."""

FactValue = Enum | frozenset[Enum] | bool | int | float | ActionKeys | Waypoints | None
"""What a slot holds: a term, a set of terms, a flag, a count, a number with the slot's unit, keys or waypoints.
``None`` says that there is none ("no speed limit"), which is an answer, too."""


@dataclass(frozen=True)
class ObjectFacts:
    """One named thing and what the answer says of it."""

    object: ObjectRef
    facts: Mapping[str, FactValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What is true (or claimed) about one question.

    Attributes
    ----------
    facts
        Slot name → value, for the slots of the question.
    objects
        The things it names, in order of importance where the question ranks; empty says "none".
    """

    facts: Mapping[str, FactValue] = field(default_factory=dict)
    objects: tuple[ObjectFacts, ...] = ()

    @property
    def refs(self) -> tuple[ObjectRef, ...]:
        """The things alone."""
        return tuple(item.object for item in self.objects)


@dataclass(frozen=True, order=True)
class QuestionKey:
    """Which question of a frame: its number, and its subject where it is asked once per thing or side.

    ``subject`` is the tag of an object, ``left``/``right``, ``same``/``opposite`` or "".
    """

    number: int
    subject: str = ""
