"""Gates: for each criterion, how much it counts. Read from an answer, or made from a label (equation 10)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from driveproof.errors import BadInput
from driveproof.judge.criteria import CRITERIA, Values
from driveproof.judge.prompt import APPLY, WAIVE

_LABELS = {APPLY: 1.0, WAIVE: 0.0}
_SCORE = re.compile(r"SCORE[ \t]*:[ \t]*([^\s]+)")
_NUMBER = re.compile(r"\d(?:\.\d+)?|\.\d+")


@dataclass(frozen=True)
class Gates:
    """Seven numbers in [0, 1] in the order of ``CRITERIA``: 1 applies, 0 is waived; between them, soft."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.values) != len(CRITERIA):
            raise ValueError(f"Gates: {len(self.values)} values, {len(CRITERIA)} are needed")
        if not all(0.0 <= value <= 1.0 for value in self.values):
            raise ValueError(f"Gates: {self.values} are not all within 0 .. 1")

    def __getitem__(self, code: str) -> float:
        """The gate of a criterion."""
        return self.values[CRITERIA.index(code)]

    @property
    def hard(self) -> Gates:
        """Each gate rounded to 0 or 1; a half applies."""
        return Gates(tuple(float(value >= 0.5) for value in self.values))

    @property
    def waived(self) -> tuple[str, ...]:
        """Criteria that do not wholly apply."""
        return tuple(code for code in CRITERIA if self[code] < 1.0)

    def __str__(self) -> str:
        """The answer line of hard gates."""
        return ", ".join(WAIVE if value < 0.5 else APPLY for value in self.values)


ALL_APPLY = Gates((1.0,) * len(CRITERIA))


@dataclass(frozen=True)
class ParsedGates:
    """Gates, or None and why: "no_answer", "more_text", "count", or "label"."""

    gates: Gates | None
    reason: str = ""


@dataclass(frozen=True)
class ParsedScore:
    """A score in [0, 1], or None and why: "no_answer", "no_score", "malformed" or "out_of_range"."""

    score: float | None
    reason: str = ""


def parse_gates(text: str | None) -> ParsedGates:
    """Read the one line of an answer: exactly seven labels, nothing else; never raises.

    Case, spaces around labels, a full stop at the end and code fences do not matter.
    """
    lines = [line.strip() for line in (text or "").splitlines()]
    lines = [line for line in lines if line and not line.startswith("```")]
    if not lines:
        return ParsedGates(None, "no_answer")
    if len(lines) > 1:
        return ParsedGates(None, "more_text")
    labels = [label.strip().lower() for label in lines[0].removesuffix(".").split(",")]
    if len(labels) != len(CRITERIA):
        return ParsedGates(None, "count")
    if any(label not in _LABELS for label in labels):
        return ParsedGates(None, "label")
    return ParsedGates(Gates(tuple(_LABELS[label] for label in labels)))


def parse_score(text: str | None) -> ParsedScore:
    """Read the number in the last SCORE field; never raises."""
    if not text or not text.strip():
        return ParsedScore(None, "no_answer")
    found = _SCORE.findall(text)
    if not found:
        return ParsedScore(None, "no_score")
    if not _NUMBER.fullmatch(found[-1]):
        return ParsedScore(None, "malformed")
    score = float(found[-1])
    return ParsedScore(score) if score <= 1.0 else ParsedScore(None, "out_of_range")


def score_line(score: float) -> str:
    """The line that :func:`parse_score` reads, with two decimals."""
    return f"SCORE: {score:.2f}"


def gate_labels(criteria: Values, reasonable: bool, thresholds: Mapping[str, float]) -> Gates:
    """Equation 10: a criterion is waived where reasonable driving scores below its threshold; unjudged ones apply.

    Raises
    ------
    BadInput
        If a criterion has no threshold, or one outside [0, 1].
    """
    check_thresholds(thresholds)
    low = {
        code
        for code in CRITERIA
        if (value := criteria.get(code)) is not None and value < thresholds[code]
    }
    return Gates(tuple(float(not (reasonable and code in low)) for code in CRITERIA))


def check_thresholds(thresholds: Mapping[str, float]) -> None:
    """BadInput unless there is one threshold in [0, 1] for each criterion."""
    for code in CRITERIA:
        if code not in thresholds:
            raise BadInput("no threshold", field=f"thresholds.{code}")
        if not 0.0 <= thresholds[code] <= 1.0:
            raise BadInput(f"{thresholds[code]} is not within 0 .. 1", field=f"thresholds.{code}")
    unknown = sorted(set(thresholds) - set(CRITERIA))
    if unknown:
        raise BadInput("no such criterion", field=f"thresholds.{unknown[0]}")


def mean_gates(several: Sequence[Gates]) -> Gates:
    """The mean of answers to one question, which makes hard gates soft; ValueError if there is none."""
    if not several:
        raise ValueError("mean_gates: no gates")
    return Gates(tuple(np.mean([gates.values for gates in several], axis=0).tolist()))
