"""How well two graders agree: our scores, a judge's, people's.

A CSV with the columns ``item``, ``grader`` and ``score`` (0 to 100). Scores are compared as they are (Spearman's rank
correlation) and in five steps of twenty (quadratic kappa, share within one step).
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput

STEPS = 5
FEWEST = 3
"""Fewer common items say nothing about agreement."""


@dataclass(frozen=True)
class Agreement:
    """Agreement of two graders over their ``n`` common items; None where it is undefined (no spread)."""

    first: str
    second: str
    n: int
    spearman: float | None
    kappa: float | None
    within_one: float | None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def read_grades(path: str | Path) -> dict[str, dict[str, float]]:
    """Grader → item → score.

    Raises
    ------
    BadInput
        Naming the line and the field.
    """
    grades: dict[str, dict[str, float]] = defaultdict(dict)
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream)
            missing = {"item", "grader", "score"} - set(reader.fieldnames or ())
            if missing:
                raise BadInput(f"has no column {sorted(missing)[0]}", path=path)
            for row in reader:
                place = f"line {reader.line_num}"
                grader, item = row["grader"], row["item"]
                if not grader or not item:
                    raise BadInput("names no item or no grader", path=path, field=place)
                if item in grades[grader]:
                    raise BadInput(f"{grader} graded {item} twice", path=path, field=place)
                grades[grader][item] = _score(row["score"], path, place)
    except FileNotFoundError:
        raise BadInput("no such file", path=path) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"not a CSV file: {error}", path=path) from None
    return dict(grades)


def _score(text: str | None, path: str | Path, place: str) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= 100.0:
        raise BadInput(f"score {text!r} is not within 0 and 100", path=path, field=place)
    return value


def agreements(grades: dict[str, dict[str, float]]) -> list[Agreement]:
    """Agreement of every pair of graders, by name."""
    return [
        _agreement(first, second, grades[first], grades[second])
        for first, second in combinations(sorted(grades), 2)
    ]


def _agreement(first: str, second: str, a: dict[str, float], b: dict[str, float]) -> Agreement:
    from scipy.stats import spearmanr
    from sklearn.metrics import cohen_kappa_score

    common = sorted(a.keys() & b.keys())
    x, y = [a[item] for item in common], [b[item] for item in common]
    if len(common) < FEWEST:
        return Agreement(first, second, len(common), None, None, None)
    steps_x, steps_y = [_step(v) for v in x], [_step(v) for v in y]
    near = sum(abs(i - j) <= 1 for i, j in zip(steps_x, steps_y, strict=True)) / len(common)
    rank = float(spearmanr(x, y).statistic) if len(set(x)) > 1 and len(set(y)) > 1 else None
    spread = len(set(steps_x) | set(steps_y)) > 1
    kappa = (
        float(cohen_kappa_score(steps_x, steps_y, weights="quadratic", labels=list(range(STEPS))))
        if spread
        else None
    )
    return Agreement(first, second, len(common), rank, kappa, near)


def _step(score: float) -> int:
    return min(int(score / (100.0 / STEPS)), STEPS - 1)
