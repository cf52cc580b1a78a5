"""Numbers in answers: digits and English number words, with their units."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORDS = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ]
    )
}
_TENS = {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
_VALUES = {**_WORDS, **_TENS, "hundred": 100}
_NUMBER = re.compile(
    rf"(?<![\w.])(?:(?P<digits>-?[0-9]+(?:\.[0-9]+)?)|(?P<word>{'|'.join(_VALUES)}))"
    r"[\s-]*(?P<unit>km\s?/\s?h\b|kmh\b|kph\b|kilomet(?:er|re)s? (?:per|an) hour|m\s?/\s?s\b|mps\b|met(?:er|re)s? (?:per|a) second|mph\b|miles? (?:per|an) hour)?(?![\w])",
    re.IGNORECASE,
)
_TO_MPS = {"k": 1 / 3.6, "me": 1.0, "m/": 1.0, "mps": 1.0, "mph": 0.44704, "mi": 0.44704}


class Number(NamedTuple):
    """A number in a text, with its unit in m/s per unit if it is a speed (None: no unit was said)."""

    start: int
    end: int
    value: float
    to_mps: float | None

    @property
    def mps(self) -> float:
        """As a speed; without a unit it is taken for m/s."""
        return self.value * (self.to_mps or 1.0)

    @property
    def kmh(self) -> float:
        """As a speed; without a unit it is taken for km/h."""
        return self.value if self.to_mps is None else round(self.value * self.to_mps * 3.6, 6)


def find_numbers(text: str) -> list[Number]:
    """All numbers of ``text`` in order: 0 to 20, the tens and a hundred also as English words."""
    found = []
    for match in _NUMBER.finditer(text):
        digits, word = match["digits"], match["word"]
        value = float(digits) if digits is not None else float(_VALUES[word.lower()])
        found.append(Number(match.start(), match.end(), value, _factor(match["unit"])))
    return found


def _factor(unit: str | None) -> float | None:
    if unit is None:
        return None
    text = re.sub(r"\s", "", unit.lower())
    return next(factor for prefix, factor in reversed(_TO_MPS.items()) if text.startswith(prefix))
