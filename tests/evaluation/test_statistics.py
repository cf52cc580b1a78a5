"""Intervals: known answers, coverage, and what a lost value does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driveproof.evaluation import bootstrap_mean, mean_over_repeats, paired_difference

_VALUES = st.lists(st.floats(0, 1), min_size=2, max_size=30)


@given(_VALUES, st.integers(0, 5))
@settings(max_examples=50)
def test_the_interval_is_fixed_by_the_seed_and_lies_within_the_values(
    values: list[float], seed: int
) -> None:
    estimate = bootstrap_mean(values, seed, resamples=200)
    assert estimate == bootstrap_mean(values, seed, resamples=200)
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.mean == pytest.approx(np.mean(values))
    assert min(values) - 1e-9 <= estimate.low <= estimate.high <= max(values) + 1e-9


def test_lost_values_are_counted_and_not_averaged() -> None:
    estimate = bootstrap_mean([1.0, float("nan"), 0.0, float("nan")], 0)
    assert (estimate.mean, estimate.n, estimate.lost) == (0.5, 2, 2)
    nothing = bootstrap_mean([float("nan")], 0)
    assert (nothing.mean, nothing.low, nothing.high, nothing.n, nothing.lost) == (None,) * 3 + (
        0,
        1,
    )
    assert bootstrap_mean([], 0).mean is None


def test_constant_values_have_no_spread() -> None:
    estimate = bootstrap_mean([0.3] * 20, 1)
    assert estimate.low == pytest.approx(0.3)
    assert estimate.high == pytest.approx(0.3)


def test_a_drive_with_equal_values_counts_as_one() -> None:
    """Twenty equal answers of one drive are one observation: the interval over drives must be wider."""
    values = np.repeat([0.0, 1.0, 1.0, 0.0], 20)
    drives = np.repeat(["a", "b", "c", "d"], 20).tolist()
    single = bootstrap_mean(values, 0)
    clustered = bootstrap_mean(values, 0, clusters=drives)
    assert single.high is not None
    assert clustered.high is not None
    assert clustered.mean == single.mean == 0.5
    assert (single.low, single.high) == pytest.approx((0.39, 0.61), abs=0.03)
    # drawing 4 of 4 drives: the 2.5 % quantile of a binomial(4, 1/2) / 4 is 0
    assert (clustered.low, clustered.high) == (0.0, 1.0)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    hits = 0
    for trial in range(300):
        estimate = bootstrap_mean(rng.random(60) < 0.3, trial, resamples=400)
        assert estimate.low is not None
        assert estimate.high is not None
        hits += estimate.low <= 0.3 <= estimate.high
    assert 0.90 <= hits / 300 <= 0.99


def test_pairs_remove_what_both_share() -> None:
    rng = np.random.default_rng(0)
    difficulty = rng.random(50)
    drop = paired_difference(difficulty + 0.1, difficulty, 0)
    assert drop.mean == pytest.approx(0.1)
    assert drop.high == pytest.approx(0.1)
    assert paired_difference([1.0, float("nan")], [0.0, 0.0], 0).lost == 1
    with pytest.raises(ValueError, match="pairs"):
        paired_difference([1.0], [1.0, 2.0], 0)


def test_means_over_repeats_skip_lost_ones() -> None:
    nan = float("nan")
    means = mean_over_repeats(np.array([[1.0, 0.0], [1.0, nan], [nan, nan]]))
    np.testing.assert_array_equal(means, [0.5, 1.0, nan])


def test_one_cluster_has_a_mean_and_no_interval() -> None:
    one = bootstrap_mean([-10.0, 70.0, -80.0, 69.0, -40.0], 0, clusters=["route"] * 5)
    assert (one.mean, one.low, one.high, one.n) == (pytest.approx(1.8), None, None, 5)
    assert str(one) == "1.800 [no interval] (n 5)"
    two = bootstrap_mean([1.0, 2.0, float("nan")], 0, clusters=["a", "a", "b"])
    assert two.low is None
