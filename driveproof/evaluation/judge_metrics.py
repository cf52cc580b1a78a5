"""How good a driving metric is: classification of driving quality, and selection of the preferred trajectory.

DriveJudge, section 3. Intervals are percentile bootstraps over places with a fixed seed; what a metric left unscored is
left out and counted, and it counts as wrong in the strict reading of a preference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driveproof.evaluation.statistics import (
    CONFIDENCE,
    FEWEST_CLUSTERS,
    RESAMPLES,
    Estimate,
    bootstrap_mean,
)
from driveproof.geometry.arrays import Bool, Float
from driveproof.judge.gates import Gates
from driveproof.judge.score import preference


@dataclass(frozen=True)
class Levels:
    """Scores as their distinct values in ascending order, and what weighs at each of them.

    ``values`` ``[L]``; ``good`` and ``bad`` ``[B, L]`` are the weights of reasonable and unreasonable clips in each of B
    resamples, so that ties are one level and a resample costs no sorting.
    """

    values: Float
    good: Float
    bad: Float

    @classmethod
    def of(cls, scores: Float, labels: Bool, weights: Float | None = None) -> Levels:
        """Levels of scores ``[N]`` with labels ``[N]`` and weights ``[B, N]`` (one for all if not given)."""
        weights = np.ones((1, len(scores))) if weights is None else weights
        values, code = np.unique(scores, return_inverse=True)
        member = np.zeros((len(scores), len(values)))
        member[np.arange(len(scores)), code] = 1.0
        good, bad = weights @ (member * labels[:, None]), weights @ (member * ~labels[:, None])
        return cls(np.asarray(values, np.float64), good, bad)


Measure = Callable[[Levels], Float]
"""Levels with B resamples to B numbers; NaN where the measure is not defined."""


def auc(levels: Levels) -> Float:
    """Area under the ROC curve ``[B]``; ties count half. NaN with one label only."""
    below = np.cumsum(levels.bad, axis=1) - levels.bad
    won = (levels.good * (below + levels.bad / 2.0)).sum(1)
    return _ratio(won, levels.good.sum(1) * levels.bad.sum(1))


def average_precision(levels: Levels) -> Float:
    """AP+ ``[B]``: average precision of finding reasonable driving by high scores; NaN without any."""
    return _average_precision(levels.good[:, ::-1], levels.bad[:, ::-1])


def average_precision_of_failures(levels: Levels) -> Float:
    """AP- ``[B]``: average precision of finding unreasonable driving by low scores."""
    return _average_precision(levels.bad, levels.good)


def _average_precision(wanted: Float, others: Float) -> Float:
    """Σ (R_k - R_{k-1}) P_k over levels, the best first."""
    found = np.cumsum(wanted, axis=1)
    precision = _ratio(found, found + np.cumsum(others, axis=1))
    return _ratio((wanted * np.nan_to_num(precision)).sum(1), wanted.sum(1))


def accuracy_at(cut: float) -> Measure:
    """Equation 2: the share of clips with score > ``cut`` just where driving is reasonable."""

    def measure(levels: Levels) -> Float:
        above = levels.values > cut
        right = levels.good[:, above].sum(1) + levels.bad[:, ~above].sum(1)
        return _ratio(right, levels.good.sum(1) + levels.bad.sum(1))

    return measure


def _ratio(part: Float, whole: Float) -> Float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0.0, part / whole, np.nan)


def bootstrap(
    measures: Mapping[str, Measure], scores: Float, labels: Bool, places: Sequence[str], seed: int
) -> dict[str, Estimate]:
    """Measures with their intervals; NaN scores are lost. Whole places are drawn, since clips of one resemble each other."""
    kept = ~np.isnan(scores)
    lost = int((~kept).sum())
    if not kept.any():
        return {name: Estimate(None, None, None, 0, lost) for name in measures}
    scores, labels = scores[kept], labels[kept]
    names = np.asarray(places, dtype=str)[kept]
    groups = len(np.unique(names))
    drawn = Levels.of(scores, labels, _draws(names, seed))
    whole = Levels.of(scores, labels)
    found = {}
    for name, measure in measures.items():
        value = float(measure(whole)[0])
        if np.isnan(value):
            found[name] = Estimate(None, None, None, 0, lost)
            continue
        low, high = _bounds(measure(drawn), groups)
        found[name] = Estimate(value, low, high, len(scores), lost)
    return found


def paired_gain(
    measure: Measure, before: Float, after: Float, labels: Bool, places: Sequence[str], seed: int
) -> Estimate:
    """How much a measure grows from the scores ``before`` to those ``after``, with its interval.

    Both are measured on the same resamples, and on the clips alone that both have scored; the others are lost.
    """
    kept = ~(np.isnan(before) | np.isnan(after))
    lost = int((~kept).sum())
    if len(np.unique(labels[kept])) < 2:
        return Estimate(None, None, None, 0, lost)
    names = np.asarray(places, dtype=str)[kept]
    weights = _draws(names, seed)
    whole, drawn = (
        measure(Levels.of(after[kept], labels[kept], w)) - measure(Levels.of(before[kept], labels[kept], w))
        for w in (None, weights)
    )  # fmt: skip
    low, high = _bounds(drawn, len(np.unique(names)))
    return Estimate(float(whole[0]), low, high, int(kept.sum()), lost)


def _bounds(drawn: Float, groups: int) -> tuple[float, float] | tuple[None, None]:
    """Of resamples of that many places; one place has no spread to show."""
    if groups < FEWEST_CLUSTERS:
        return None, None
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.nanquantile(drawn, [tail, 1.0 - tail])
    return float(low), float(high)


def _draws(places: Sequence[str] | Any, seed: int) -> Float:
    """Weights ``[RESAMPLES, N]`` of resamples of whole places."""
    _, place = np.unique(np.asarray(places, dtype=str), return_inverse=True)
    count = int(place.max()) + 1
    rng = np.random.default_rng(seed)
    # drawing G places with replacement is drawing how often each is drawn
    draws = rng.multinomial(count, np.full(count, 1.0 / count), size=RESAMPLES)
    return np.asarray(draws[:, place], dtype=np.float64)


def quality(
    scores: Float, labels: Bool, places: Sequence[str], cuts: Sequence[float], seed: int
) -> dict[str, Estimate]:
    """Driving quality classification: ACC at each cut, AUC, AP-, AP+."""
    measures: dict[str, Measure] = {f"ACC@{cut:g}": accuracy_at(cut) for cut in cuts}
    measures |= {"AUC": auc, "AP-": average_precision_of_failures, "AP+": average_precision}
    return bootstrap(measures, scores, labels, places, seed)


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
