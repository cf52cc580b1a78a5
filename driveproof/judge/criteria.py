"""The seven criteria in their fixed order, and what of the nine rules of EPDMS each of them stands for.

Source: DriveJudge, section 4.1 and appendix A.1. NC, DAC and DDC multiply, the others are averaged (equation 14).
"""

from __future__ import annotations

from collections.abc import Mapping

from driveproof.rules import RULES, WEIGHTS

CRITERIA = ("LK", "DDC", "DAC", "TTC", "NC", "EP", "COMFORT")
"""Codes in the order of the prompt and of every answer."""
HARD = ("NC", "DAC", "DDC")
"""Criteria that multiply."""
SOFT = ("EP", "TTC", "LK", "COMFORT")
"""Criteria that are averaged."""
COMFORT_RULES = ("HC", "EC")
"""COMFORT is one criterion for two rules: their gate is shared, their weights add."""
UNASKED = ("TLC",)
"""Multipliers of EPDMS that no criterion stands for; see ``JudgeReading.unasked``."""

PAPER_THRESHOLDS = {
    "LK": 0.7,
    "DDC": 0.7,
    "DAC": 0.4,
    "TTC": 0.9,
    "NC": 0.9,
    "EP": 0.5,
    "COMFORT": 0.6,
}
"""Violation thresholds that the paper found on its data (DriveJudge, appendix B.1)."""

Values = Mapping[str, float | None]
"""Rule or criterion -> value in [0, 1], None where it could not be judged."""


def criteria_of(rules: Values) -> dict[str, float | None]:
    """Values of the seven criteria from those of the rules; COMFORT is the weighted mean of what was judged of HC and EC."""
    values: dict[str, float | None] = {
        code: rules.get(code) for code in CRITERIA if code != "COMFORT"
    }
    judged = {code: rules.get(code) for code in COMFORT_RULES}
    total = sum(WEIGHTS[code] for code, value in judged.items() if value is not None)
    earned = sum(WEIGHTS[code] * value for code, value in judged.items() if value is not None)
    values["COMFORT"] = earned / total if total else None
    return {code: values[code] for code in CRITERIA}


def weight_of(criterion: str, rules: Values) -> float:
    """Weight of a soft criterion; that of COMFORT counts only the rules that were judged."""
    if criterion != "COMFORT":
        return WEIGHTS[criterion]
    return sum(WEIGHTS[code] for code in COMFORT_RULES if rules.get(code) is not None)


def broken(rules: Values) -> tuple[str, ...]:
    """Criteria and unasked rules that earn less than 1, in order."""
    values = {**criteria_of(rules), **{code: rules.get(code) for code in UNASKED}}
    return tuple(code for code, value in values.items() if value is not None and value < 1.0)


def check_rules(rules: Values) -> None:
    """ValueError if a value is outside [0, 1] or belongs to no rule."""
    for code, value in rules.items():
        if code not in RULES:
            raise ValueError(f"no such rule: {code}")
        if value is not None and not 0.0 <= value <= 1.0:
            raise ValueError(f"{code}: {value} is not within 0 .. 1")
