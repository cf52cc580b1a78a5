"""The thresholds of equation 10 by the sweep of equation 13, and whether they can matter at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driveproof.errors import BadInput
from driveproof.judge.clips import Clip
from driveproof.judge.criteria import CRITERIA
from driveproof.judge.gates import check_thresholds, gate_labels
from driveproof.judge.score import Reading, judge_score

GRID = tuple(round(0.1 * n, 1) for n in range(1, 11))


@dataclass(frozen=True)
class Sweep:
    """The thresholds that fit the labels best, and what each of them does.

    ``accuracy`` is that of the score with the gates that the thresholds imply, at ``cut``; ``curves`` holds it for every
    value of each threshold with the others at their best; ``levels`` are the values that a criterion takes in reasonable
    clips, apart from 1; ``matters`` whether any two thresholds of the grid give other gates.
    """

    thresholds: dict[str, float]
    accuracy: float
    cut: float
    clips: int
    curves: dict[str, dict[str, float]]
    levels: dict[str, tuple[float, ...]]
    matters: dict[str, bool]

    def to_json(self) -> dict[str, Any]:
        """Plain values; more than eight levels are given by number, least and greatest."""
        levels = {
            code: list(values)
            if len(values) <= 8
            else {"count": len(values), "least": values[0], "greatest": values[-1]}
            for code, values in self.levels.items()
        }
        return {**vars(self), "levels": levels}


def sweep_thresholds(
    clips: Sequence[Clip],
    start: Mapping[str, float],
    *,
    cut: float = 0.8,
    grid: Sequence[float] = GRID,
    rounds: int = 2,
    reading: Reading | None = None,
) -> Sweep:
    """Coordinate ascent of the accuracy over a grid from ``start``; of equal values the one nearest to the start wins.

    Raises
    ------
    BadInput
        If no clip is labelled.
    """
    check_thresholds(start)
    labelled = [clip for clip in clips if clip.label is not None]
    if not labelled:
        raise BadInput("no labelled clip to fit thresholds to")
    best = dict(start)
    curves: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        before = dict(best)
        for code in CRITERIA:
            values = {
                f"{value:g}": _accuracy(labelled, {**best, code: value}, cut, reading)
                for value in sorted({*grid, start[code]})
            }
            curves[code] = values
            top = max(values.values())
            best[code] = min(
                (float(text) for text, value in values.items() if value == top),
                key=lambda value: (abs(value - start[code]), value),
            )
        if best == before:
            break
    levels = {code: _levels(labelled, code) for code in CRITERIA}
    low, high = min(grid), max(grid)
    matters = {code: any(low <= level < high for level in levels[code]) for code in CRITERIA}
    accuracy = _accuracy(labelled, best, cut, reading)
    return Sweep(best, accuracy, cut, len(labelled), curves, levels, matters)


def _levels(clips: Sequence[Clip], code: str) -> tuple[float, ...]:
    found = {
        round(value, 4)
        for clip in clips
        if clip.label and (value := clip.criteria[code]) is not None
    }
    return tuple(sorted(found - {1.0}))


def _accuracy(
    clips: Sequence[Clip], thresholds: Mapping[str, float], cut: float, reading: Reading | None
) -> float:
    right = []
    for clip in clips:
        gates = gate_labels(clip.criteria, bool(clip.label), thresholds)
        score = judge_score(clip.rules, gates, reading).score
        if score is not None:
            right.append((score > cut) == clip.label)
    return float(np.mean(right)) if right else 0.0
