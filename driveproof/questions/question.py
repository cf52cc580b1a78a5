"""What a question is: what it asks, what its answer holds, how it is scored."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum


class Category(StrEnum):
    """The four kinds of questions of driving graphs."""

    PERCEPTION = "perception"
    PREDICTION = "prediction"
    PLANNING = "planning"
    BEHAVIOUR = "behaviour"


class Per(StrEnum):
    """What a question is asked once for."""

    FRAME = "frame"
    VEHICLE = "vehicle"
    SIGN_KIND = "sign_kind"
    SIDE = "side"
    SENSE = "sense"
    """Same and opposite direction."""


class Rule(StrEnum):
    """How answers are compared with the truth."""

    FACTS = "facts"
    """Weighted agreement of the slots."""
    RANKED = "ranked"
    """Weighted F1 of the named things times NDCG of their order (equations 1 to 8)."""
    LISTED = "listed"
    """Weighted F1 of the named things times what is said of each (equations 9 and 10)."""
    KEYS = "keys"
    """F1 of the two keys times the speed penalty (equation 11)."""
    WAYPOINTS = "waypoints"
    """Collisions with the others' logged motion, and progress."""


class Kind(StrEnum):
    """What a slot holds that is no enumeration."""

    FLAG = "flag"
    COUNT = "count"
    SPEED = "speed"
    """m/s."""
    LIMIT = "limit"
    """km/h."""
    KEYS = "keys"
    WAYPOINTS = "waypoints"


@dataclass(frozen=True)
class Slot:
    """One thing an answer says.

    ``type`` is an enumeration of :mod:`driveproof.questions.terms` or a :class:`Kind`; ``many`` says that it holds a
    set; ``weight`` its share of the score; ``optional`` that an answer may leave it out where the truth is None; ``about``
    is a pattern of the words that show that a text speaks of it at all: what a count counts, what a flag is about.
    """

    name: str
    type: type[Enum] | Kind
    weight: float = 1.0
    many: bool = False
    optional: bool = False
    about: str = ""


@dataclass(frozen=True)
class Question:
    """One kind of question.

    Attributes
    ----------
    number, category
        Its number and kind.
    chain, layer
        Coordinates in a DriveLM graph: cluster and depth.
    phrasings
        The same question in several wordings; ``{subject}`` is the thing, side or sense asked about.
    slots
        What the answer says about the frame or the subject.
    object_slots
        What it says about each thing it names; with ``names_objects`` it names things at all.
    per
        What it is asked once for.
    rule
        How it is scored; ``extra`` is the weight of a named thing that is not in the truth (equation 7, ``LISTED``).
    after
        Numbers of the questions whose answers help with this one.
    given_objects
        The question itself lists the things it asks about.
    ego_speed, command
        Whether the ego's speed and the navigation command stand before the question.
    needs_future
        Only answerable offline.
    """

    number: int
    category: Category
    chain: int
    layer: int
    phrasings: tuple[str, ...]
    slots: tuple[Slot, ...] = ()
    object_slots: tuple[Slot, ...] = ()
    names_objects: bool = False
    per: Per = Per.FRAME
    rule: Rule = Rule.FACTS
    extra: float = 0.25
    after: tuple[int, ...] = ()
    given_objects: bool = False
    ego_speed: bool = False
    command: bool = False
    needs_future: bool = False


HARMLESS, MISLEADING = 0.25, 1.5
"""Weights of things that an answer names and the truth does not: where it costs attention, where it is an error of
reasoning (Bench2Drive-VL, multi-object reasoning questions)."""
