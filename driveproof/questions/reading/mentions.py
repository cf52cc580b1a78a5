"""Which things an answer names, and where it speaks of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from driveproof.questions.objects import VEHICLES, Colour, ObjectKind, ObjectRef, Sector
from driveproof.questions.reading.numbers import find_numbers
from driveproof.questions.wording.vocabulary import Found, negated
from driveproof.questions.wording.words_objects import COLOUR, KIND, SECTOR, same_colour, same_kind

_TAG = re.compile(r"(?<![A-Za-z0-9_])([ce]\d+)(?![A-Za-z0-9_])")
_NO_THING = re.compile(
    r"(?:ego|our|my|own|other|others'|parked|important) (?:vehicle|car)s?|(?:bike|bicycle|parking|walk) (?:lane|path)s?"
    r"|(?:the|a|any|every|each|no) (?:vehicle|car) (?:in front|ahead|behind)"
    r"|(?:of|at|in|inside|through|beyond|across|into|before|crossing) (?:the|a) (?:junction|intersection|crossroads?)",
    re.IGNORECASE,
)
_COLOUR_GAP, _SECTOR_GAP, _TAG_GAP = 14, 12, 90
"""How far from its noun, in characters, a colour, a position and a tag may stand."""
_BREAK = re.compile(r"[.;:\n]")


@dataclass(frozen=True)
class Mention:
    """A place where a text names a thing.

    ``start`` and ``end`` bound the name; what was not said is None. ``count`` is how many it names: 2 for a bare plural,
    which is then ``vague``.
    """

    start: int
    end: int
    tag: str | None = None
    kind: ObjectKind | None = None
    colour: Colour | None = None
    sector: Sector | None = None
    count: int = 1
    vague: bool = False


def find_mentions(text: str, taken: Sequence[Found] = ()) -> list[Mention]:
    """The things that ``text`` names, in order; those it denies ("no cars") are left out.

    ``taken`` are stretches that are known to say something else, such as "in the bike lane".
    """
    masked = _mask(text, [(m.start(), m.end()) for m in _NO_THING.finditer(text)])
    masked = _mask(masked, [(hit.start, hit.end) for hit in taken])
    nouns = [hit for hit in KIND.find(masked) if not negated(text, hit.start)]
    colours, sectors = COLOUR.find(masked), SECTOR.find(text)
    tags = list(_TAG.finditer(text))
    used: set[int] = set()
    found = []
    for place, noun in enumerate(nouns):
        limit = nouns[place + 1].start if place + 1 < len(nouns) else len(text)
        colour = _before(colours, noun.start, masked)
        sector = _after(sectors, noun.end, limit, text)
        end = sector.end if sector else noun.end
        tag = next((m for m in tags if noun.start - 12 <= m.start() < min(limit, noun.end + _TAG_GAP)
                    and m.start() not in used and not _BREAK.search(text[min(noun.end, m.start()):m.start()])), None)  # fmt: skip
        if tag is not None:
            used.add(tag.start())
            closing = text.find(")", tag.end(), tag.end() + 80)
            opened = text.rfind("(", noun.start, tag.start())
            end = max(end, closing + 1 if closing >= 0 and opened >= 0 else tag.end())
        start = min(colour.start if colour else noun.start, tag.start() if tag else noun.start)
        count, vague = (1, False) if tag else _how_many(text, start, text[noun.start : noun.end])
        found.append(
            Mention(
                start,
                end,
                tag[1] if tag else None,
                noun.value,  # type: ignore[arg-type]
                colour.value if colour else None,  # type: ignore[arg-type]
                sector.value if sector else None,  # type: ignore[arg-type]
                count,
                vague,
            )
        )
    found += [
        Mention(m.start(), m.end(), m[1])
        for m in tags
        if m.start() not in used and not any(f.start <= m.start() < f.end for f in found)
    ]
    return sorted(found, key=lambda item: item.start)


_MANY = 20


def _how_many(text: str, start: int, noun: str) -> tuple[int, bool]:
    """How many things a noun names, and whether nobody said so: a bare plural is two, the least that it can be."""
    noun = noun.lower()
    if not (noun.endswith("s") and not noun.endswith(("us", "bris"))) and noun not in (
        "people",
        "children",
    ):
        return 1, False
    numbers = [n for n in find_numbers(text[max(0, start - 40) : start]) if n.to_mps is None]
    before = text[max(0, start - 40) : start]
    if numbers and re.fullmatch(
        r"\s*(?:[a-z-]+\s+){0,2}", before[numbers[-1].end :], re.IGNORECASE
    ):
        return min(max(int(numbers[-1].value), 1), _MANY), False
    return 2, True


def spread(
    mentions: Sequence[Mention], known: Sequence[ObjectRef]
) -> list[tuple[Mention, ObjectRef | None]]:
    """The things that mentions mean (:func:`match_mentions`), plurals as several.

    "Three cars" of which one is unknown names an unknown one, too; a bare plural names two where there are two.
    """
    single = [replace(item, count=1) for item in mentions for _ in range(item.count)]
    copy = [place > 0 for item in mentions for place in range(item.count)]
    pairs, seen = [], set()
    for item, again, ref in zip(single, copy, match_mentions(single, known), strict=True):
        repeated = again and ref is not None and ref.tag in seen
        if not (item.vague and again and (ref is None or repeated)):
            pairs.append((item, None if repeated else ref))
        if ref is not None:
            seen.add(ref.tag)
    return pairs


_PLAIN_WORD = r"(?:(?!and\b|so\b|but\b|for\b|the\b|as\b|then\b)\w+\s+)?"


def without_paint(text: str) -> str:
    """The text without the colours of vehicles: "the light is green and the red car waits"."""
    for colour in reversed(COLOUR.find(text)):
        for noun in KIND.find(text):
            between = text[colour.end : noun.start]
            if noun.value in VEHICLES and re.fullmatch(rf"\s+{_PLAIN_WORD}", between):
                text = _mask(text, [(colour.start, colour.end)])
                break
    return text


def _mask(text: str, spans: Iterable[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + "\x00" * (end - start) + text[end:]
    return text


def _before(hits: Sequence[Found], start: int, text: str) -> Found | None:
    near = [
        h
        for h in hits
        if 0 <= start - h.end <= _COLOUR_GAP and not re.search(r"[.,;:()]", text[h.end : start])
    ]
    return near[-1] if near else None


def _after(hits: Sequence[Found], end: int, limit: int, text: str) -> Found | None:
    for hit in hits:
        if end <= hit.start <= min(limit, end + _SECTOR_GAP):
            # "the car is on the left" and "the car (c12) to the left" place it; "the car turns to the left" does not.
            between = text[end : hit.start].strip(" ,").lower()
            if between in ("", "is", "located", "that is", "which is", "far", "directly", "right"):
                return hit
    return None


def match_mentions(
    mentions: Sequence[Mention], known: Sequence[ObjectRef]
) -> list[ObjectRef | None]:
    """Which known thing each mention means; None for a thing that is not there.

    A tag decides. Without one the best fit by kind, colour and position counts, each thing once, in the order of
    the text; when all that fit are taken the mention repeats the best of them.
    """
    by_tag = {ref.tag: ref for ref in known}
    used: set[str] = set()
    result: list[ObjectRef | None] = []
    for item in mentions:
        if item.tag is not None and item.tag in by_tag:
            chosen: ObjectRef | None = by_tag[item.tag]
        elif item.kind is None:
            chosen = None
        else:
            fits = sorted((cost, place) for place, ref in enumerate(known) if (cost := _misfit(item, ref)) is not None)  # fmt: skip
            fresh = [known[place] for _, place in fits if known[place].tag not in used]
            chosen = fresh[0] if fresh else (known[fits[0][1]] if fits else None)
        if chosen is not None:
            used.add(chosen.tag)
        result.append(chosen)
    return result


_SECTORS = tuple(Sector)


def _misfit(item: Mention, ref: ObjectRef) -> tuple[int, int, int] | None:
    """How badly a description fits a thing: steps of position, kind, colour; None if it cannot be meant."""
    assert item.kind is not None
    dark_police = ref.kind is ObjectKind.POLICE and item.colour is Colour.BLACK
    if not same_kind(item.kind, ref.kind) or not (
        dark_police or same_colour(item.colour, ref.colour)
    ):
        return None
    steps = 0
    if item.sector is not None:
        apart = abs(_SECTORS.index(item.sector) - _SECTORS.index(ref.sector))
        steps = min(apart, 8 - apart)
        if steps > 1:
            return None
    return steps, int(item.kind is not ref.kind), int(item.colour is not ref.colour)
