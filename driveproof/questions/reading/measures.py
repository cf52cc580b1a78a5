"""Counts, speeds and limits in words."""

from __future__ import annotations

import re

from driveproof.questions import terms as t
from driveproof.questions.reading.numbers import Number, find_numbers
from driveproof.questions.reading.yes_no import DENIAL, Unread
from driveproof.questions.wording.words import WORDS
from driveproof.questions.wording.words_objects import KIND

_UNKNOWN = re.compile(
    r"(?:cannot|can't|can not|impossible)[^.]{0,30}(?:told|tell|say|said|know|determine)|unclear|not applicable",
    re.IGNORECASE,
)
_DISTANCE = re.compile(
    r"(?:within|up to|next|at|in)?\s*-?[0-9]+(?:\.[0-9]+)?\s*(?:m|metres?|meters?)\b(?!\s*/)"
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def without_distances(text: str) -> str:
    """The text without "within 30 m"; as long as before."""
    return _DISTANCE.sub(lambda match: " " * len(match[0]), text)


def count(text: str, about: str = "") -> int | None:
    """How many things there are of the kind ``about`` (a pattern); None if that cannot be told.

    Numbers before such a noun win over others, and numbers of other things ("two cars") count nothing.
    """
    if _UNKNOWN.search(text):
        return None
    numbers = [n for n in find_numbers(without_distances(text)) if n.to_mps is None]
    noun = re.compile(rf"(?:\s+(?!of\b)[a-z-]+){{0,2}}\s*(?:{about})\b", re.IGNORECASE)
    if about:
        own = [n for n in numbers if noun.match(text[n.end :])]
        if not own and re.search(rf"\b(?:no|nor|any|without){noun.pattern}", text, re.IGNORECASE):
            return 0
        numbers = own or [n for n in numbers if not _of_other(text, n)]
    if numbers:
        return _whole(numbers[-1].value)
    if DENIAL.search(text) or re.search(r"\bnobody\b", text, re.IGNORECASE):
        return 0
    if re.search(rf"(?<!\w)(?:a|an|single)(?!\w)(?:{noun.pattern})", text, re.IGNORECASE):
        return 1
    raise Unread


def _whole(value: float) -> int:
    if value != int(value) or value < 0:
        raise Unread
    return int(value)


def _of_other(text: str, number: Number) -> bool:
    after = text[number.end : number.end + 30]
    return any(
        re.fullmatch(r"\s*(?:[a-z-]+\s+){0,2}", after[: hit.start]) for hit in KIND.find(after)
    )


def index(text: str) -> int | None:
    """The index of a lane from the left, 0 the leftmost; None if that cannot be told."""
    if _UNKNOWN.search(text):
        return None
    numbers = [
        n
        for n in find_numbers(without_distances(text))
        if n.to_mps is None
        and not re.search(r"\bof (?:the )?$", text[: n.start], re.IGNORECASE)
        and not re.match(r"\s+lanes\b", text[n.end :])
    ]
    if numbers:
        return _whole(numbers[-1].value)
    if re.search(r"\b(?:left ?most|(?:far|very) left)\b", text, re.IGNORECASE):
        return 0
    for place, word in enumerate(_ORDINALS):
        if re.search(rf"\b{word} (?:lane )?(?:counted )?from the left", text, re.IGNORECASE):
            return place
    raise Unread


def lanes_over(text: str) -> int | None:
    """How many lanes beside; a neighbouring lane is one over."""
    for number in find_numbers(text):
        if re.match(r"\W*lanes?(?!\w)", text[number.end :]):
            return int(number.value)
    beside = WORDS[t.Place].last(text)
    return 1 if beside in (t.Place.LEFT_LANE, t.Place.RIGHT_LANE) else None


_EGO_SPEED = re.compile(
    r"\bego(?: vehicle| car)?(?:'s)? (?:speed|drives?|is (?:driving|moving)|moves?|travels?)[^.;]*",
    re.IGNORECASE,
)


def speed(text: str) -> float:
    """The last speed, m/s; of the ego's own speed it says nothing. Who stands has none."""
    text = _EGO_SPEED.sub(" ", text)
    numbers = find_numbers(text)
    with_unit = [n for n in numbers if n.to_mps is not None]
    if with_unit or numbers:
        return (with_unit or numbers)[-1].mps
    if t.Motion.STOPPED in [hit.value for hit in WORDS[t.Motion].find(text)]:
        return 0.0
    raise Unread


_NO_LIMIT = re.compile(r"no (?:speed |passed |current |upcoming )?limit|(?:without|not|n't|unlimited)[^.;]{0,25}limit|unlimited|none", re.IGNORECASE)  # fmt: skip
_LIMIT = re.compile(r"limit|allowed|permitted|maximum|may drive|sign", re.IGNORECASE)
_CHANGE = re.compile(r"soon|will change|changes? to|upcoming|then|ahead", re.IGNORECASE)
_LIMIT_CLAUSE = re.compile(r"[.;!?\n]|, (?:so|thus|it|and)\b| so ")
_TERSE = 4
"""A text of so few words that is a number needs not say what it is."""


def limit(text: str) -> float | None:
    """The limit in force, km/h: the first that is called one; what follows "soon" or "ahead" is the change to come."""
    change = _CHANGE.search(text)
    numbers = find_numbers(without_distances(text))
    now = [n for n in numbers if change is None or n.start < change.start()]
    called = [n for n in now if _LIMIT.search(_clause(text, n.start))]
    meant = called or [n for n in now if n.to_mps is not None or len(text.split()) <= _TERSE]
    if meant:
        return meant[-1].kmh if called and change is None else meant[0].kmh
    if _NO_LIMIT.search(text):
        return None
    if numbers and change is not None and change.start() < 25:
        return numbers[0].kmh
    raise Unread


def _clause(text: str, place: int) -> str:
    """The clause that a place stands in."""
    starts = [m.end() for m in _LIMIT_CLAUSE.finditer(text) if m.end() <= place]
    end = _LIMIT_CLAUSE.search(text, place)
    # a point within a number ends no clause
    while end is not None and re.match(r"\.[0-9]", text[end.start() :]):
        end = _LIMIT_CLAUSE.search(text, end.end())
    return text[starts[-1] if starts else 0 : end.start() if end else len(text)]
