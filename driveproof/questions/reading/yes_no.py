"""Yes, no, and sentences that deny."""

from __future__ import annotations

import re


class Unread(Exception):
    """The text says nothing readable in a slot."""


LONG = 400
"""In a longer text, in characters, the last yes or no is the result; in a shorter one the first is the answer."""
_YES = re.compile(
    r"(?<!\w)(?:yes|yeah|yep|indeed|affirmative)(?!\w)|(?:^|(?<=[.:;,!?\n]))\W*true(?!\w)",
    re.IGNORECASE,
)
_BARE_NO = re.compile(
    r"(?:^|(?<=[.:;,!?\n]))\W*(?:no|nope|negative|false|none|nothing|neither)(?!\w)(?! doubt| question)"
    r"|(?<!\w)(?:no|none|nothing|negative|false)(?=\s*(?:[.,:;!]|$))",
    re.IGNORECASE,
)
DENIAL = re.compile(
    r"(?<!\w)(?:not|never|cannot|no|none|nothing|neither|without|unlikely)(?!\w)(?! doubt| question)|n't\b|\b(?:is|are|looks) (?:clear|free|empty)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.;!?\n]|,? but |, ")


def bare(text: str) -> bool | None:
    """The answer's own yes or no, not a "no" before a noun further on; None without either."""
    said = [(match.start(), True) for match in _YES.finditer(text)]
    said += [(match.start(), False) for match in _BARE_NO.finditer(text)]
    if not said:
        return None
    return min(said)[1] if len(text) < LONG else max(said)[1]


def flag(text: str, about: str = "") -> bool:
    """Yes or no: the word itself, else whether a clause that speaks of the matter (``about``) states or denies it.

    Raises
    ------
    Unread
        If no clause speaks of it.
    """
    said = bare(text)
    if said is not None:
        return said
    spoken = re.compile(about or r"[A-Za-z]{2}", re.IGNORECASE)
    clauses = [clause for clause in _CLAUSE.split(text) if spoken.search(clause)]
    if not clauses:
        raise Unread
    return any(DENIAL.search(clause) is None for clause in clauses)
