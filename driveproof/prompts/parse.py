"""Reading a policy's answer. One parser serves training, evaluation and action.

The last field counts (DEFT-RLVR, appendices D.3 and F.1), also when it is malformed: a policy that takes
back its choice and then says nothing readable has made no choice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import ascii_uppercase

from driveproof.scene import Decision, Direction, SpeedChange

MAX_OPTIONS = 10
"""Letters A .. J: the largest candidate set of DEFT-RLVR, appendix D.7."""

_CHOICE_FIELD = re.compile(r"FINAL_CHOICE[ \t]*:")
_CHOICE_VALUE = re.compile(r"[ \t]*([A-Z])(?![A-Za-z0-9_])")
_DECISION_FIELD = re.compile(r"HIGH_LEVEL_DECISION[ \t]*:")
_DECISION_VALUE = re.compile(
    r"[ \t]*direction[ \t]*=[ \t]*([a-z_]+)[ \t]*;[ \t]*speed[ \t]*=[ \t]*([a-z_]+)(?![A-Za-z0-9_])"
)


@dataclass(frozen=True)
class ParsedChoice:
    """A choice, or why there is none.

    ``index`` is 0-based, or None; ``reason`` is "" for a valid choice, else "no_answer" (no text),
    "no_choice" (no FINAL_CHOICE field), "malformed" (the last field holds no single capital letter) or
    "out_of_range" (a letter that was not offered).
    """

    index: int | None
    reason: str = ""


def option_letters(n_options: int) -> str:
    """The letters of ``n_options`` candidates, "ABCDEF" for six; ValueError outside 1 .. 10."""
    if not 1 <= n_options <= MAX_OPTIONS:
        raise ValueError(f"options: {n_options} is not within 1 .. {MAX_OPTIONS}")
    return ascii_uppercase[:n_options]


def choice_line(index: int) -> str:
    """The line that chooses candidate ``index``; inverse of :func:`parse_choice`."""
    return f"FINAL_CHOICE: {option_letters(MAX_OPTIONS)[index]}"


def decision_line(decision: Decision) -> str:
    """The line that commits to ``decision``; inverse of :func:`parse_decision`."""
    return (
        f"HIGH_LEVEL_DECISION: direction={decision.direction.value}; speed={decision.speed.value}"
    )


def parse_choice(text: str | None, n_options: int) -> ParsedChoice:
    """The choice in the last ``FINAL_CHOICE`` field of ``text``, exact and without a judge.

    Never raises for any text.
    """
    letters = option_letters(n_options)
    if not text or not text.strip():
        return ParsedChoice(None, "no_answer")
    value = _last_value(text, _CHOICE_FIELD, _CHOICE_VALUE)
    if value is None:
        return ParsedChoice(None, "malformed" if _CHOICE_FIELD.search(text) else "no_choice")
    index = letters.find(value[1])
    return ParsedChoice(index) if index >= 0 else ParsedChoice(None, "out_of_range")


def parse_decision(text: str | None) -> Decision | None:
    """The decision in the last ``HIGH_LEVEL_DECISION`` field of ``text``; None if malformed or absent."""
    value = _last_value(text or "", _DECISION_FIELD, _DECISION_VALUE)
    if value is None:
        return None
    try:
        return Decision(Direction(value[1]), SpeedChange(value[2]))
    except ValueError:
        return None


def _last_value(text: str, field: re.Pattern[str], value: re.Pattern[str]) -> re.Match[str] | None:
    end = -1
    for match in field.finditer(text):
        end = match.end()
    return value.match(text, end) if end >= 0 else None
