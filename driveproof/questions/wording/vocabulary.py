"""Words for the terms of a slot: how we say a term, and how others may say it.

Writing and reading share these tables, so that what we write can always be read back. Reading knows negation: a term
in "no stop sign" or "is not turning left" is not claimed, while "not moving" is a term of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

_NEGATORS = re.compile(
    r"\b(?:no|not|never|without|neither|nor|none of|free of|cannot|rather than|instead of|nothing|nobody|\w+n't)\b[^.;!?]*$",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[.;:!?\n]|,? (?:but|because|since|although|though)\b"
    r"|, (?:so|and|only|just|merely|instead|rather|it|they|this|that|he|she|there|which)\b",
    re.IGNORECASE,
)
_REACH = 45
"""A negation further back in the clause, in characters, is about something else."""


class Found(NamedTuple):
    """A term that a text claims: where it stands and which it is."""

    start: int
    end: int
    value: Enum


@dataclass(frozen=True)
class Term:
    """One value of an enumeration.

    ``says`` is our wording, a fragment that sentences are built from; ``means`` are further patterns (regular
    expressions without regard to case; a blank stands for any white space or hyphen).
    """

    value: Enum
    says: str
    means: tuple[str, ...] = ()


@dataclass(frozen=True)
class Vocabulary:
    """The terms of one enumeration."""

    terms: tuple[Term, ...]

    @classmethod
    def of(cls, entries: Iterable[Sequence[object]]) -> Vocabulary:
        """From rows ``(value, says, pattern, …)``."""
        return cls(tuple(Term(row[0], row[1], tuple(row[2:])) for row in entries))  # type: ignore[arg-type]

    def says(self, value: Enum) -> str:
        """Our wording of a value; KeyError for one of another vocabulary."""
        return self._says[value]

    @cached_property
    def _says(self) -> dict[Enum, str]:
        return {term.value: term.says for term in self.terms}

    @cached_property
    def _patterns(self) -> tuple[tuple[str, re.Pattern[str], Enum], ...]:
        # Our own wordings come first: of two readings of the same words they win.
        own = [(re.escape(term.says).replace(r"\ ", " "), term.value) for term in self.terms]
        others = [(pattern, term.value) for term in self.terms for pattern in term.means]
        rows = []
        for pattern, value in (*own, *others):
            flexible = pattern.replace(" ", r"(?:[\s\-_]+)")
            compiled = re.compile(rf"(?<!\w)(?:{flexible})(?!\w)", re.IGNORECASE)
            rows.append((needle(pattern), compiled, value))
        return tuple(rows)

    def find(self, text: str) -> list[Found]:
        """The terms that ``text`` claims, in their order. Of overlapping ones the longest counts."""
        chosen = self.spoken(text)
        return [hit for hit in chosen if not negated(text, hit.start, chosen)]

    def spoken(self, text: str) -> list[Found]:
        """The terms that ``text`` speaks of, claimed or denied, in their order."""
        low = text.lower()
        hits = [
            Found(match.start(), match.end(), value)
            for literal, pattern, value in self._patterns
            if literal in low
            for match in pattern.finditer(text)
        ]
        hits.sort(key=lambda hit: (hit.start - hit.end, hit.start))
        chosen: list[Found] = []
        for hit in hits:
            if all(hit.end <= other.start or hit.start >= other.end for other in chosen):
                chosen.append(hit)
        return sorted(chosen)

    def last(self, text: str) -> Enum | None:
        """The last term that ``text`` claims: whoever thinks aloud says the result at the end."""
        found = self.find(text)
        return found[-1].value if found else None


def needle(pattern: str) -> str:
    """A word in small letters that every match of ``pattern`` holds, "" if none is sure: most texts lack most words."""
    rest = None
    while rest != pattern:
        rest, pattern = pattern, _GROUP.sub(" ", pattern)
    pattern = _OPTIONAL.sub(" ", re.sub(r"\\.|\[[^\]]*\]", " ", pattern))
    words = [] if "|" in pattern else re.findall(r"[a-zA-Z]+", pattern)
    return max(words, key=len, default="").lower()


_GROUP = re.compile(r"\((?:[^()\\]|\\.)*\)")
_OPTIONAL = re.compile(r".(?:[?*]|\{[^}]*\})")


def negated(text: str, start: int, taken: Sequence[Found] = ()) -> bool:
    """Whether a negation in the same clause stands before position ``start``, outside terms already ``taken``."""
    begin = max(0, start - _REACH)
    clause = text[begin:start]
    for hit in taken:
        if hit.end <= start and hit.end > begin:
            low = max(hit.start - begin, 0)
            clause = clause[:low] + "~" * (hit.end - begin - low) + clause[hit.end - begin :]
    ends = list(_CLAUSE_END.finditer(clause))
    if ends:
        clause = clause[ends[-1].end() :]
    # "No, it is turning left": the answer's own yes or no negates nothing.
    clause = re.sub(r"^\W*(?:no|yes)\s*[,:.]", "", clause, flags=re.IGNORECASE)
    return _NEGATORS.search(clause) is not None
