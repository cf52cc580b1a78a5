"""What an answer says in each slot of its question."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import lru_cache

from driveproof.questions import terms as t
from driveproof.questions.answers import FactValue, Waypoints
from driveproof.questions.keys import ActionKeys, DirectionKey, SpeedKey, parse_keys
from driveproof.questions.question import Kind, Slot
from driveproof.questions.reading import measures
from driveproof.questions.reading.numbers import find_numbers
from driveproof.questions.reading.yes_no import DENIAL, Unread, bare, flag
from driveproof.questions.wording.vocabulary import Found, Vocabulary, negated
from driveproof.questions.wording.words import WORDS
from driveproof.questions.wording.words_action import DIRECTION_WORDS, SPEED_WORDS

_NOT_NOW = re.compile(r"(?:not|n't)(?: be)?(?: done)? (?:right )?(?:now|yet)|not at (?:this|the) moment|later|(?:must|should|has to|needs to) wait|wait (?:for|until)(?! help)|not possible", re.IGNORECASE)  # fmt: skip
_NONE_AT_ALL = re.compile(r"(?<!\w)(?:no|none|not|nothing|neither|without|nor|as usual|normally|cannot|isn't|aren't)(?!\w)", re.IGNORECASE)  # fmt: skip


def read_slots(text: str, slots: Sequence[Slot]) -> tuple[dict[str, FactValue], list[str]]:
    """The facts that ``text`` states, and the names of the slots in which it says nothing readable.

    Words are shared out among the slots: where "because the light is red" is a reason it is not also an order.
    """
    facts, unread = _read_slots(text, tuple(slots))
    return dict(facts), list(unread)


@lru_cache(maxsize=1 << 14)
def _read_slots(text: str, slots: tuple[Slot, ...]) -> tuple[dict[str, FactValue], list[str]]:
    # The same short answers come again and again in a dataset, and patterns are slow.
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
    spoken = {s.name: WORDS[s.type].spoken(text) for s in slots if not isinstance(s.type, Kind)}
    taken = [hit for hits in spoken.values() for hit in hits]
    own = {
        name: [hit for hit in hits if not negated(text, hit.start, taken)]
        for name, hits in spoken.items()
    }
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
            return flag(text, slot.about)
        case Kind.COUNT:
            return measures.count(text, slot.about)
        case Kind.SPEED:
            return measures.speed(text)
        case Kind.LIMIT:
            return measures.limit(text)
        case Kind.KEYS:
            return _keys(text)
        case Kind.WAYPOINTS:
            return _waypoints(text)
    hits = claimed[slot.name]
    if slot.many:
        values = frozenset(hit.value for hit in hits) | _on_both_sides(text, slot.type)
        if not values and not _NONE_AT_ALL.search(text):
            raise Unread
        return values
    return hits[-1].value if hits else _yes_or_no(text, slot)


_SIDES = r"(?:both|either) (?:sides?|directions?)|left and (?:from )?(?:the )?right|right and (?:from )?(?:the )?left"
_BOTH: Mapping[object, tuple[re.Pattern[str], frozenset[Enum]]] = {
    t.Watch: (
        re.compile(rf"from (?:the )?(?:{_SIDES})", re.IGNORECASE),
        frozenset({t.Watch.FROM_LEFT, t.Watch.FROM_RIGHT}),
    ),
    t.Hazard: (
        re.compile(rf"parked[^.;]{{0,40}}(?:{_SIDES})", re.IGNORECASE),
        frozenset({t.Hazard.PARKED_LEFT, t.Hazard.PARKED_RIGHT}),
    ),
}
"""One phrase for two terms."""


def _on_both_sides(text: str, kind: object) -> frozenset[Enum]:
    pattern, values = _BOTH.get(kind, (None, frozenset()))
    hit = pattern.search(text) if pattern is not None else None
    return values if hit is not None and not negated(text, hit.start()) else frozenset()


_YES_MEANS: Mapping[type, Enum] = {
    t.SignState: t.SignState.PENDING,
    t.Braking: t.Braking.SLOW_DOWN,
}
"""What a mere "yes" says of a slot that is no flag."""


def _yes_or_no(text: str, slot: Slot) -> Enum:
    """What a mere yes or no says: no is the term "none" of a slot that has it."""
    said = bare(text)
    if said is None and re.search(r"(?<!\w)(?:none|there is nothing)(?!\w)", text, re.IGNORECASE):
        said = False
    assert isinstance(slot.type, type)
    meant = _YES_MEANS.get(slot.type) if said else slot.type.__members__.get("NONE")
    if said is None or meant is None or slot.optional:
        raise Unread
    return meant


_WITHOUT = (
    ("braking", t.Braking.NONE),
    ("braking", t.Braking.SPEED_UP),
    ("maneuver", t.Maneuver.NONE),
    ("crosses", False),
)
"""Where one of these is denied, its reason, cause and so on are none as well, and need not be said."""


def _nothing_else(
    facts: dict[str, FactValue], slots: Sequence[Slot], unread: list[str]
) -> list[str]:
    if facts.get("now") is True and "postponed" in facts:
        facts["postponed"] = None
    if not any(name in facts and facts[name] is none for name, none in _WITHOUT):
        return unread
    for slot in slots:
        depends = slot.name not in ("braking", "maneuver")
        if (
            isinstance(slot.type, type)
            and "NONE" in slot.type.__members__
            and not slot.many
            and depends
        ):
            facts[slot.name] = None if slot.optional else slot.type["NONE"]
    return [name for name in unread if name not in facts]


def _now(text: str) -> bool:
    """Whether a move is to begin now: who names one without "not yet" means now."""
    if _NOT_NOW.search(text):
        return False
    maneuver = WORDS[t.Maneuver].last(text)
    said = bare(text) if maneuver is None else maneuver is not t.Maneuver.NONE
    if said is None:
        raise Unread
    return said


def _clause_limit(marker: str) -> Callable[[str], FactValue]:
    """Reader of the limit in the clause that ``marker`` names."""
    pattern = re.compile(marker, re.IGNORECASE)

    def read(text: str) -> float | None:
        for clause in re.split(r"[.;,]| and | but ", text):
            if pattern.search(clause):
                numbers = find_numbers(measures.without_distances(clause))
                if numbers and not negated(clause, numbers[0].start):
                    return numbers[0].kmh
                if DENIAL.search(clause):
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
        both = re.search(r"\b(?:both|either)\b", " ".join(clauses), re.IGNORECASE)
        if both:
            return frozenset(t.Side)
        if not values and not inside and not any(_NONE_AT_ALL.search(c) for c in clauses):
            raise Unread
        return values

    return read


_BECAUSE = re.compile(r"\b(?:because|since|due to|in order to|so that)\b[^.;,!?\n]*", re.IGNORECASE)
"""A reason: what it speaks of is no order."""
_BEFORE_REASON = re.compile(
    r"(?:\b(?:because|since|as|due to)\b|\breasons?\b)[^.;!?\n]*$", re.IGNORECASE
)
"""What follows in the same sentence, after commas, may be a further reason."""


def _keys(text: str) -> ActionKeys:
    """Keys where the text has them, words where it has not: the last of each kind."""
    keys = parse_keys(text)
    if keys.direction is not None and keys.speed is not None:
        return keys
    plain = _BECAUSE.sub(lambda match: "~" * len(match[0]), text)
    spans = [h for e in (t.Reason, t.ManeuverCause, t.Postponement) for h in WORDS[e].find(text)]
    words = _masked(plain, [hit for hit in spans if _BEFORE_REASON.search(text[: hit.start])])
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
    "lanes_over": measures.lanes_over,
    "index": measures.index,
    "passed": _clause_limit(r"pass|current|holds|in force|behind"),
    "passed_limit": _clause_limit(r"passed"),
    "ahead": _clause_limit(r"ahead|upcoming|next|in front|soon|approach"),
    "upcoming": _clause_limit(r"change|upcoming|ahead|soon|next|then"),
    "parking": _clause_sides(r"park", True),
    "occupied": _clause_sides(r"occupied|taken|not free|blocked|not clear", True),
    "sides": _clause_sides(r"park|occupied|taken|not free|blocked|not clear", False),
}
