"""What an answer says in each slot of its question."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from driveproof.questions import terms as t
from driveproof.questions.answers import FactValue, Waypoints
from driveproof.questions.keys import ActionKeys, DirectionKey, SpeedKey, parse_keys
from driveproof.questions.question import Kind, Slot
from driveproof.questions.reading.numbers import find_numbers
from driveproof.questions.wording.vocabulary import Found, Vocabulary, negated
from driveproof.questions.wording.words import WORDS
from driveproof.questions.wording.words_action import DIRECTION_WORDS, SPEED_WORDS


class Unread(Exception):
    """The text says nothing readable in a slot."""


_YES = re.compile(r"(?<!\w)(?:yes|yeah|yep|indeed|affirmative|true)(?!\w)", re.IGNORECASE)
_NO = re.compile(r"(?<!\w)(?:no|nope|negative|false|none|nothing|neither)(?!\w)", re.IGNORECASE)
_DENIAL = re.compile(r"\b(?:not|never|n't|cannot)\b|n't\b", re.IGNORECASE)
_NOT_NOW = re.compile(r"(?:not|n't)(?: be)?(?: done)? (?:right )?(?:now|yet)|not at (?:this|the) moment|later|(?:must|should|has to|needs to) wait|wait (?:for|until)(?! help)|not possible", re.IGNORECASE)  # fmt: skip
_NOW = re.compile(r"(?:right |do so )?now|immediately|at once|at this moment", re.IGNORECASE)
_NONE_AT_ALL = re.compile(r"(?<!\w)(?:no|none|not|nothing|neither|without|nor|as usual|normally|cannot|isn't|aren't)(?!\w)", re.IGNORECASE)  # fmt: skip


def read_slots(text: str, slots: Sequence[Slot]) -> tuple[dict[str, FactValue], list[str]]:
    """The facts that ``text`` states, and the names of the slots in which it says nothing readable.

    Words are shared out among the slots: where "because the light is red" is a reason it is not also an order.
    """
    claimed = _share_out(text, slots)
    facts: dict[str, FactValue] = {}
    unread = []
    for slot in slots:
        try:
            facts[slot.name] = _read(text, slot, claimed)
        except Unread:
            if slot.optional:
                facts[slot.name] = frozenset() if slot.many else None
            else:
                unread.append(slot.name)
    return facts, _nothing_else(facts, slots, unread)


def _share_out(text: str, slots: Sequence[Slot]) -> Mapping[str, list[Found]]:
    """Terms by slot, longest first over all slots together; a needed slot left with nothing reads on its own."""
    own = {s.name: WORDS[s.type].find(text) for s in slots if not isinstance(s.type, Kind)}
    every = [(hit, name) for name, hits in own.items() for hit in hits]
    every.sort(key=lambda pair: (pair[0].start - pair[0].end, pair[0].start))
    chosen: list[tuple[Found, str]] = []
    for hit, name in every:
        if all(hit.end <= other.start or hit.start >= other.end for other, _ in chosen):
            chosen.append((hit, name))
    shares = {name: sorted(h for h, n in chosen if n == name) for name in own}
    for slot in slots:
        if slot.name in own and not (slot.many or slot.optional):
            shares[slot.name] = shares[slot.name] or own[slot.name]
    return shares


def _read(text: str, slot: Slot, claimed: Mapping[str, list[Found]]) -> FactValue:
    if slot.name in _SPECIAL:
        return _SPECIAL[slot.name](text)
    match slot.type:
        case Kind.FLAG:
            return _flag(text)
        case Kind.COUNT:
            return _count(text)
        case Kind.SPEED:
            return _speed(text)
        case Kind.LIMIT:
            return _limit(text)
        case Kind.KEYS:
            return _keys(text)
        case Kind.WAYPOINTS:
            return _waypoints(text)
    hits = claimed[slot.name]
    if slot.many:
        values = frozenset(hit.value for hit in hits)
        if not values and not _NONE_AT_ALL.search(text):
            raise Unread
        return values
    if not hits:
        raise Unread
    return hits[-1].value


_WITHOUT = {"braking": t.Braking.NONE, "maneuver": t.Maneuver.NONE, "crosses": False}
"""Where one of these is denied, its reason, cause and so on are none as well, and need not be said."""


def _nothing_else(
    facts: dict[str, FactValue], slots: Sequence[Slot], unread: list[str]
) -> list[str]:
    if facts.get("now") is True and "postponed" in facts:
        facts["postponed"] = None
    if not any(name in facts and facts[name] is none for name, none in _WITHOUT.items()):
        return unread
    for slot in slots:
        if isinstance(slot.type, type) and "NONE" in slot.type.__members__ and not slot.many:
            facts[slot.name] = None if slot.optional else slot.type["NONE"]
    return [name for name in unread if name not in facts]


def _flag(text: str) -> bool:
    """Yes or no: the word itself, else whether the sentence denies."""
    said = [(m.start(), True) for m in _YES.finditer(text)]
    said += [(m.start(), False) for m in _NO.finditer(text)]
    if said:
        return min(said)[1] if len(text) < 400 else max(said)[1]
    if not re.search(r"[A-Za-z]{2}", text):
        raise Unread
    return _DENIAL.search(text) is None


def _now(text: str) -> bool:
    if _NOT_NOW.search(text):
        return False
    if _NOW.search(text):
        return True
    maneuver = WORDS[t.Maneuver].last(text)
    if maneuver is None:
        return _flag(text)
    return maneuver is not t.Maneuver.NONE


def _count(text: str) -> int | None:
    if re.search(r"(?:cannot|can't|can not|impossible)[^.]{0,30}(?:told|tell|say|said|know|determine)|unclear|not applicable", text, re.IGNORECASE):  # fmt: skip
        return None
    numbers = [
        n
        for n in find_numbers(_without_distances(text))
        if n.to_mps is None and n.value == int(n.value)
    ]
    if numbers:
        return int(numbers[-1].value)
    if _NO.search(text) or _DENIAL.search(text):
        return 0
    if re.search(r"(?<!\w)(?:a|an|single)(?!\w)", text, re.IGNORECASE):
        return 1
    raise Unread


def _without_distances(text: str) -> str:
    return re.sub(
        r"(?:within|up to|next|at|in)?\s*-?\d+(?:\.\d+)?\s*(?:m|metres?|meters?)\b(?!\s*/)",
        " ",
        text,
    )


def _lanes_over(text: str) -> int | None:
    for number in find_numbers(text):
        if re.match(r"\W*lanes?(?!\w)", text[number.end :]):
            return int(number.value)
    beside = WORDS[t.Place].last(text)
    return 1 if beside in (t.Place.LEFT_LANE, t.Place.RIGHT_LANE) else None


def _speed(text: str) -> float:
    numbers = find_numbers(text)
    with_unit = [n for n in numbers if n.to_mps is not None]
    if with_unit or numbers:
        return (with_unit or numbers)[-1].mps
    if t.Motion.STOPPED in [hit.value for hit in WORDS[t.Motion].find(text)]:
        return 0.0
    raise Unread


_NO_LIMIT = re.compile(r"no (?:speed |passed |current |upcoming )?limit|(?:without|not|n't|unlimited)[^.;]{0,25}limit|unlimited|none", re.IGNORECASE)  # fmt: skip


def _limit(text: str) -> float | None:
    """The first limit that is named: what follows it is the change to come."""
    numbers = find_numbers(_without_distances(text))
    change = re.search(r"soon|will change|changes? to|upcoming|then|ahead", text, re.IGNORECASE)
    now = [n for n in numbers if change is None or n.start < change.start()]
    if now:
        return now[0].kmh
    if _NO_LIMIT.search(text):
        return None
    if numbers and change is not None and change.start() < 25:
        return numbers[0].kmh
    raise Unread


def _clause_limit(marker: str) -> Callable[[str], FactValue]:
    """Reader of the limit in the clause that ``marker`` names."""
    pattern = re.compile(marker, re.IGNORECASE)

    def read(text: str) -> float | None:
        for clause in re.split(r"[.;,]| and | but ", text):
            if pattern.search(clause):
                numbers = find_numbers(_without_distances(clause))
                if numbers and not negated(clause, numbers[0].start):
                    return numbers[0].kmh
                if _NO.search(clause) or _DENIAL.search(clause):
                    return None
        if pattern.search(text) is None and re.search(r"\bno\b[^.;]*\bsigns?\b|\bnone\b|^\W*no\W*$", text, re.IGNORECASE):  # fmt: skip
            return None
        if pattern.search(text) is None and find_numbers(text):
            return None
        raise Unread

    return read


def _clause_sides(marker: str, inside: bool) -> Callable[[str], FactValue]:
    """Reader of sides: of the clauses that ``marker`` names, or of all others."""
    pattern = re.compile(marker, re.IGNORECASE)

    def read(text: str) -> frozenset[Enum]:
        clauses = [
            c for c in re.split(r"[.;]|, but | but ", text) if bool(pattern.search(c)) is inside
        ]
        values = frozenset(hit.value for c in clauses for hit in WORDS[t.Side].find(c))
        both = re.search(r"both|either", " ".join(clauses), re.IGNORECASE)
        if both:
            return frozenset(t.Side)
        if not values and not inside and not any(_NONE_AT_ALL.search(c) for c in clauses):
            raise Unread
        return values

    return read


def _keys(text: str) -> ActionKeys:
    """Keys where the text has them, words where it has not: the last of each kind."""
    keys = parse_keys(text)
    if keys.direction is not None and keys.speed is not None:
        return keys
    spans = [h for e in (t.Reason, t.ManeuverCause, t.Postponement) for h in WORDS[e].find(text)]
    words = _masked(text, [h for h in spans if re.search(r"because|since|as |due to|reason", text[max(0, h.start - 60) : h.start], re.IGNORECASE)])  # fmt: skip
    direction = keys.direction or _said(DIRECTION_WORDS, words)
    speed = keys.speed or _said(SPEED_WORDS, words)
    if direction is None and speed is None:
        raise Unread
    return ActionKeys(
        direction if isinstance(direction, DirectionKey) else None,
        speed if isinstance(speed, SpeedKey) else None,
    )


def _said(words: Vocabulary, text: str) -> Enum | None:
    found = words.find(text)
    return found[-1].value if found else None


def _masked(text: str, hits: Sequence[Found]) -> str:
    for hit in hits:
        text = text[: hit.start] + "~" * (hit.end - hit.start) + text[hit.end :]
    return text


def _waypoints(text: str) -> Waypoints:
    """The last JSON object of eight points with the keys "0.5s" to "4.0s"."""
    for start in reversed([m.start() for m in re.finditer(r"\{", text)]):
        try:
            found, _ = json.JSONDecoder().raw_decode(text[start:])
            points = tuple((float(found[f"{0.5 * k:.1f}s"][0]), float(found[f"{0.5 * k:.1f}s"][1])) for k in range(1, 9))  # fmt: skip
        except (ValueError, KeyError, TypeError, IndexError, RecursionError):
            continue
        if all(math.isfinite(value) and abs(value) < 1e4 for point in points for value in point):
            return points
    raise Unread


_SPECIAL: dict[str, Callable[[str], FactValue]] = {
    "now": _now,
    "lanes_over": _lanes_over,
    "passed": _clause_limit(r"pass|current|holds|in force|behind"),
    "passed_limit": _clause_limit(r"passed"),
    "ahead": _clause_limit(r"ahead|upcoming|next|in front|soon|approach"),
    "upcoming": _clause_limit(r"change|upcoming|ahead|soon|next|then"),
    "parking": _clause_sides(r"park", True),
    "occupied": _clause_sides(r"occupied|taken|not free|blocked|not clear", True),
    "sides": _clause_sides(r"park|occupied|taken|not free|blocked|not clear", False),
}
