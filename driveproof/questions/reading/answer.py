"""A whole answer, read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from driveproof.questions.answers import Answer, ObjectFacts
from driveproof.questions.objects import ObjectKind, ObjectRef
from driveproof.questions.question import MISLEADING, Kind, Question, Rule
from driveproof.questions.reading.mentions import (
    Mention,
    find_mentions,
    match_mentions,
    spread,
    without_paint,
)
from driveproof.questions.reading.slots import read_slots
from driveproof.questions.terms import ConflictReason, LightColour
from driveproof.questions.wording.vocabulary import Found
from driveproof.questions.wording.words import WORDS

MAX_CHARS = 20_000
"""A longer answer is cut at its front: what counts stands at the end."""


@dataclass(frozen=True)
class Reading:
    """What was read from a text.

    Attributes
    ----------
    answer
        The facts and things found. Things that are not in the scene have tags ``?1``, ``?2``, ...
    unread
        Slots in which the text says nothing readable; of a thing's slots as ``tag.slot``.
    """

    answer: Answer
    unread: tuple[str, ...] = ()


def read_answer(
    question: Question, text: str, known: Sequence[ObjectRef] = (), subject: ObjectRef | None = None
) -> Reading:
    """Read ``text`` as an answer to ``question``.

    Parameters
    ----------
    known
        Everything in the scene that may be named, whether or not it belongs into the answer.
    subject
        The thing that the question is about; naming it says nothing.
    """
    text = text[-MAX_CHARS:]
    if question.rule in (Rule.LISTED, Rule.RANKED):
        return _read_list(question, text, known)
    plain = _without_name(text, subject) if subject is not None else text
    plain = _without_list(plain) if question.names_objects else plain
    if any(slot.type is LightColour for slot in question.slots):
        plain = without_paint(plain)
    facts, unread = read_slots(plain, question.slots)
    return Reading(Answer(facts), tuple(unread))


def _without_name(text: str, subject: ObjectRef) -> str:
    """The text without the names of its subject: "the car to the front left is turning right"."""
    for item in reversed(find_mentions(text)):
        if match_mentions([item], [subject])[0] is subject:
            text = f"{text[: item.start]}it{text[item.end :]}"
    return text


def _without_list(text: str) -> str:
    """The text without a list of things behind its last colon: they are what it is about, not what it says."""
    head, colon, tail = text.rpartition(":")
    rest = tail
    for item in reversed(find_mentions(tail)):
        rest = rest[: item.start] + rest[item.end :]
    only_things = colon and not re.search(r"[A-Za-z]", re.sub(r"\b(?:the|a|an|and)\b", "", rest))
    return head if only_things and rest != tail else text


def _read_list(question: Question, text: str, known: Sequence[ObjectRef]) -> Reading:
    facts, unread = read_slots(text, question.slots)
    said = _phrases(question, text)
    mentions = find_mentions(text, said)
    if question.number not in (18, 19):
        mentions = [m for m in mentions if m.kind is not ObjectKind.JUNCTION]
    objects: dict[str, ObjectFacts] = {}
    missing = list(unread)
    for item, ref in spread(mentions, known):
        thing = ref or _unknown(item, len(objects) + 1)
        if thing.tag in objects:
            continue  # named again: the first naming gives the rank, and facts follow names
        end = min((m.start for m in mentions if m.start > item.start), default=len(text))
        about, lost = read_slots(text[item.end : end], question.object_slots)
        if about.get("reason") is ConflictReason.NONE or _denied(question, text[item.end : end]):
            continue
        objects[thing.tag] = ObjectFacts(thing, about)
        missing += [f"{thing.tag}.{name}" for name in lost]
    return Reading(Answer(facts, tuple(objects.values())), tuple(missing))


_DENIED = re.compile(
    r"^\W*(?:does|do|will|would|can|could|may|might|is|are)(?:\s+not|n't|not)\b"
    r"(?:\s+(?:be\s+)?(?:in\s+|on\s+)?(?:overlap|cross|meet|conflict|intersect|interfer|collid|collision)\w*|\s*(?:[.,;!]|$))",
    re.IGNORECASE,
)


def _denied(question: Question, said: str) -> bool:
    """Whether what is said of a thing is that it does not belong: "the blue van does not overlap"."""
    return question.extra == MISLEADING and _DENIED.search(said) is not None


def _phrases(question: Question, text: str) -> list[Found]:
    """Stretches that state facts and may hold nouns of their own: "in the bike lane"."""
    return [
        hit
        for slot in question.object_slots
        if not isinstance(slot.type, Kind)
        for hit in WORDS[slot.type].find(text)
    ]


def _unknown(item: Mention, number: int) -> ObjectRef:
    return ObjectRef(item.tag or f"?{number}", item.kind or ObjectKind.OBSTACLE, item.colour)
