"""Means with intervals. Every interval comes from a fixed seed, so that it is part of the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Float, as_float

RESAMPLES = 2000
CONFIDENCE = 0.95
FEWEST_CLUSTERS = 2
"""With fewer there is no spread to see, and so no interval."""


@dataclass(frozen=True)
class Estimate:
    """A mean and its interval.

    ``n`` values went into it, ``lost`` could not be scored; without any value mean and bounds are None. A mean of
    one cluster has no bounds either: one drive tells nothing about the spread between drives.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    lost: int = 0

    def __str__(self) -> str:
        if self.mean is None:
            return f"unscored (lost {self.lost})"
        lost = f", lost {self.lost}" if self.lost else ""
        return f"{self.mean:.3f} [{bounds_text(self.low, self.high)}] (n {self.n}{lost})"


def bounds_text(low: float | None, high: float | None, digits: int = 3, joint: str = ", ") -> str:
    """Both bounds for people, or that there are none."""
    if low is None or high is None:
        return "no interval"
    return f"{low:.{digits}f}{joint}{high:.{digits}f}"


def bootstrap_mean(
    values: ArrayLike,
    seed: int,
    *,
    clusters: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Mean and percentile bootstrap interval.

    Parameters
    ----------
    values
        ``[N]``; NaN marks a lost value.
    seed
        Of the resampling.
    clusters
        N names. Values of one cluster (drive) depend on each other, so whole clusters are drawn; None draws
        single values.

    Notes
    -----
    The resampled mean is the ratio of sums, so clusters count by their number of values. With fewer than two
    clusters nothing is known about the spread, and there are no bounds.
    """
    array = as_float(values, (None,), "values")
    kept = ~np.isnan(array)
    lost = int((~kept).sum())
    if not kept.any():
        return Estimate(None, None, None, 0, lost)
    names = np.arange(len(array)) if clusters is None else np.asarray(clusters)
    if len(names) != len(array):
        raise ValueError(f"clusters: {len(names)} names for {len(array)} values")
    _, code = np.unique(names[kept], return_inverse=True)
    totals, counts = np.bincount(code, array[kept]), np.bincount(code)
    low, high = cluster_interval(totals, counts, seed, resamples=resamples, confidence=confidence)
    return Estimate(float(array[kept].mean()), low, high, int(kept.sum()), lost)


def cluster_interval(
    totals: ArrayLike,
    counts: ArrayLike,
    seed: int,
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> tuple[float, float] | tuple[None, None]:
    """Percentile bootstrap interval of a mean from the sums and numbers ``[G]`` of its clusters, none empty.

    Without a second cluster there is none: every draw would be the mean itself.
    """
    totals, counts = np.asarray(totals), np.asarray(counts)
    groups = len(counts)
    if groups < FEWEST_CLUSTERS:
        return None, None
    rng = np.random.default_rng(seed)
    # drawing G clusters with replacement is drawing how often each is drawn
    draws = rng.multinomial(groups, np.full(groups, 1 / groups), size=resamples)
    means = (draws @ totals) / (draws @ counts)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def paired_difference(
    first: ArrayLike, second: ArrayLike, seed: int, *, clusters: Sequence[str] | None = None
) -> Estimate:
    """Mean of ``first - second`` ``[N]`` with its interval; a pair with a lost half is lost."""
    a, b = as_float(first, (None,), "first"), as_float(second, (None,), "second")
    if len(a) != len(b):
        raise ValueError(f"pairs: {len(a)} and {len(b)} values")
    return bootstrap_mean(a - b, seed, clusters=clusters)


def mean_over_repeats(values: Float) -> Float:
    """Means ``[N]`` of ``values`` ``[N, R]`` over the repeats that were scored; NaN where none was."""
    scored = ~np.isnan(values)
    count = scored.sum(1)
    total = np.where(scored, values, 0.0).sum(1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
