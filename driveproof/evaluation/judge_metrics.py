"""How good a driving metric is: classification of driving quality, and selection of the preferred trajectory.

DriveJudge, section 3. Intervals are percentile bootstraps over places with a fixed seed; what a metric left unscored is
left out and counted, and it counts as wrong in the strict reading of a preference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from driveproof.evaluation.statistics import CONFIDENCE, Estimate, bootstrap_mean
from driveproof.geometry.arrays import Bool, Float
from driveproof.judge.gates import Gates
from driveproof.judge.score import preference

RESAMPLES = 1000
Measure = Callable[[Float, Bool], float]
"""Scores ``[N]`` and labels ``[N]`` to a number; NaN where it is not defined."""


def auc(scores: Float, labels: Bool) -> float:
    """Area under the ROC curve; ties count half. NaN with one label only."""
    return float(roc_auc_score(labels, scores)) if len(np.unique(labels)) == 2 else float("nan")


def average_precision(scores: Float, labels: Bool) -> float:
    """AP+: average precision of finding reasonable driving by high scores; NaN without any."""
    return float(average_precision_score(labels, scores)) if labels.any() else float("nan")


def average_precision_of_failures(scores: Float, labels: Bool) -> float:
    """AP-: average precision of finding unreasonable driving by low scores."""
    return average_precision(1.0 - scores, ~labels)


def accuracy_at(cut: float) -> Measure:
    """Equation 2: the share of clips with score > ``cut`` just where driving is reasonable."""
    return lambda scores, labels: float(((scores > cut) == labels).mean())


def bootstrap(
    measure: Measure, scores: Float, labels: Bool, places: Sequence[str], seed: int
) -> Estimate:
    """A measure with its interval; NaN scores are lost. Whole places are drawn, since clips of one resemble each other."""
    kept = ~np.isnan(scores)
    lost = int((~kept).sum())
    value = measure(scores[kept], labels[kept]) if kept.any() else float("nan")
    if np.isnan(value):
        return Estimate(None, None, None, 0, lost)
    names = np.asarray(places, dtype=object)[kept]
    groups = [np.flatnonzero(names == name) for name in sorted(set(names))]
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(RESAMPLES):
        chosen = rng.integers(len(groups), size=len(groups))
        rows = np.flatnonzero(kept)[np.concatenate([groups[int(g)] for g in chosen])]
        drawn.append(measure(scores[rows], labels[rows]))
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.nanquantile(drawn, [tail, 1.0 - tail])
    return Estimate(value, float(low), float(high), int(kept.sum()), lost)


def quality(
    scores: Float, labels: Bool, places: Sequence[str], cuts: Sequence[float], seed: int
) -> dict[str, Estimate]:
    """Driving quality classification: ACC at each cut, AUC, AP-, AP+."""
    measures: dict[str, Measure] = {f"ACC@{cut:g}": accuracy_at(cut) for cut in cuts}
    measures |= {"AUC": auc, "AP-": average_precision_of_failures, "AP+": average_precision}
    return {
        name: bootstrap(measure, scores, labels, places, seed) for name, measure in measures.items()
    }


def perfect_match(
    predicted: Sequence[Gates | None], truth: Sequence[Gates], places: Sequence[str], seed: int
) -> Estimate:
    """Share of clips whose seven hard gates are all as the labels say; clips without an answer are lost."""
    values = [
        np.nan if gates is None else float(gates.hard == wanted)
        for gates, wanted in zip(predicted, truth, strict=True)
    ]
    return bootstrap_mean(values, seed, clusters=places)


def selection(
    firsts: Sequence[float | None],
    seconds: Sequence[float | None],
    preferred: Sequence[str],
    places: Sequence[str],
    seed: int,
    margin: float = 1e-9,
) -> dict[str, Estimate]:
    """Trajectory preference selection (equation 3).

    ``strict`` counts ties and pairs that could not be scored as wrong, ``half`` gives ties half credit and leaves
    unscored pairs out (lost), ``ties`` is their share.
    """
    chosen = [
        preference(first, second, margin) for first, second in zip(firsts, seconds, strict=True)
    ]
    right = np.array([choice == wanted for choice, wanted in zip(chosen, preferred, strict=True)])
    tie = np.array([choice == "tie" for choice in chosen])
    lost = np.array([choice == "" for choice in chosen])
    half = np.where(lost, np.nan, np.where(tie, 0.5, right))
    ties = np.where(lost, np.nan, tie)
    return {
        "strict": bootstrap_mean(right.astype(float), seed, clusters=places),
        "half": bootstrap_mean(half, seed, clusters=places),
        "ties": bootstrap_mean(ties, seed, clusters=places),
    }


def by_group(
    scores: Mapping[str, float | None],
    labels: Mapping[str, bool],
    groups: Mapping[str, str],
    cut: float,
) -> dict[str, dict[str, Any]]:
    """For each group of clips: how many there are, their mean score, the share classified right at ``cut``."""
    found: dict[str, dict[str, Any]] = {}
    for name in sorted(set(groups.values())):
        keys = [key for key, group in groups.items() if group == name]
        known = [(scores[key], labels[key]) for key in keys]
        values = [(score, label) for score, label in known if score is not None]
        found[name] = {
            "n": len(keys),
            "lost": len(keys) - len(values),
            "mean": float(np.mean([score for score, _ in values])) if values else None,
            "right": float(np.mean([(score > cut) == label for score, label in values]))
            if values
            else None,
        }
    return found
