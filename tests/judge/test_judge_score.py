"""Equation 14: closed forms, every reading of what the paper leaves open, and what must hold whatever the values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from judge_examples import clip, rules

from driveproof.errors import BadInput
from driveproof.judge import (
    ALL_APPLY,
    CRITERIA,
    HARD,
    PAPER_THRESHOLDS,
    SOFT,
    Gates,
    Reading,
    criteria_of,
    gate_labels,
    judge_pair,
    judge_score,
    preference,
    sweep_thresholds,
)
from driveproof.rules import epdms

UNIT = st.floats(0.0, 1.0)
GATES = st.tuples(*[UNIT] * 7).map(Gates)
VALUES = st.fixed_dictionaries(
    dict.fromkeys(("NC", "DAC", "DDC", "TLC", "EP", "TTC", "LK", "HC"), UNIT)
).map(lambda values: {**values, "EC": None})


def waive(*codes: str) -> Gates:
    return Gates(tuple(float(code not in codes) for code in CRITERIA))


@given(VALUES)
def test_without_waiving_the_score_is_epdms(values) -> None:
    columns = {code: np.array([np.nan if v is None else v]) for code, v in values.items()}
    expected = float(epdms(columns, with_ec=False)[0])
    assert judge_score(values, ALL_APPLY).score == pytest.approx(expected, abs=1e-12)


def test_a_nudge_is_forgiven_and_drifting_is_not() -> None:
    nudge = rules(LK=0.0)
    assert judge_score(nudge, ALL_APPLY).score == pytest.approx(12 / 14)
    assert judge_score(nudge, waive("LK")).score == 1.0


def test_passing_on_the_wrong_side_is_worth_nothing_unless_waived() -> None:
    passing = rules(DDC=0.0, LK=0.0)
    assert judge_score(passing, waive("LK")).score == 0.0
    assert judge_score(passing, waive("LK", "DDC")).score == 1.0
    half = Gates(tuple(0.5 if code == "DDC" else 1.0 for code in CRITERIA))
    assert judge_score(rules(DDC=0.0), half).score == pytest.approx(0.5)


def test_soft_gates_can_be_rounded_first() -> None:
    soft = Gates((0.4, 0.6, 1.0, 1.0, 1.0, 1.0, 1.0))
    verdict = judge_score(rules(LK=0.0, DDC=0.0), soft, Reading(hard_gates=True))
    assert verdict.gates == Gates((0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0))
    assert verdict.score == 0.0


@pytest.mark.parametrize(
    ("empty", "expected"), [("one", 1.0), ("ungated", 9 / 14), ("unscored", None)]
)
def test_nothing_soft_applies(empty, expected) -> None:
    slow = rules(EP=0.0)
    verdict = judge_score(slow, waive(*SOFT), Reading(empty=empty))
    assert verdict.score == (None if expected is None else pytest.approx(expected))
    assert bool(verdict.why) == (expected is None)


def test_a_red_light_counts_though_no_criterion_asks_for_it() -> None:
    assert judge_score(rules(TLC=0.0), waive(*CRITERIA)).score == 0.0
    assert judge_score(rules(TLC=0.0), ALL_APPLY, Reading(unasked=False)).score == 1.0


def test_comfort_stands_for_two_rules() -> None:
    values = rules(HC=0.0, EC=1.0)
    assert criteria_of(values)["COMFORT"] == 0.5
    assert judge_score(values, ALL_APPLY).score == pytest.approx(14 / 16)
    assert judge_score(values, waive("COMFORT")).score == 1.0


def test_what_nobody_could_judge_is_named_and_left_out() -> None:
    verdict = judge_score(rules(LK=None, DAC=None), ALL_APPLY)
    assert verdict.unjudged == ("LK", "DAC")
    assert verdict.score == 1.0
    assert judge_score(rules(NC=None), ALL_APPLY).score is None


@given(VALUES, GATES)
def test_scores_stay_within_bounds_and_reasons_go_with_missing_ones(values, gates) -> None:
    verdict = judge_score(values, gates)
    assert verdict.score is not None
    assert 0.0 <= verdict.score <= 1.0 + 1e-12


@pytest.mark.slow
@given(VALUES, GATES, st.sampled_from(HARD))
def test_waiving_a_hard_criterion_never_costs(values, gates, code) -> None:
    waived = Gates(
        tuple(0.0 if c == code else g for c, g in zip(CRITERIA, gates.values, strict=True))
    )
    kept, forgiven = judge_score(values, gates).score, judge_score(values, waived).score
    assert forgiven >= kept - 1e-12


@given(VALUES, st.sampled_from(SOFT))
def test_waiving_the_worst_soft_criterion_never_costs(values, code) -> None:
    soft = {c: criteria_of(values)[c] for c in SOFT}
    assume(soft[code] == min(soft.values()))
    assert judge_score(values, waive(code)).score >= judge_score(values, ALL_APPLY).score - 1e-12


def test_gates_may_be_shared_by_a_pair() -> None:
    nudge, plain = rules(LK=0.0), rules(NC=0.0)
    own = judge_pair((nudge, plain), (waive("LK"), ALL_APPLY))
    shared = judge_pair((nudge, plain), (waive("LK"), ALL_APPLY), Reading(shared=True))
    assert own[0].score == 1.0
    assert shared[0].gates == shared[1].gates == Gates((0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0))
    assert shared[0].score == pytest.approx(12 / 13)


def test_ties_are_within_the_margin() -> None:
    assert preference(0.5, 0.5) == "tie"
    assert preference(0.5, 0.5 + 1e-12) == "tie"
    assert preference(0.5, 0.4) == "A"
    assert preference(0.5, 0.52, margin=0.05) == "tie"
    assert preference(None, 0.5) == ""


def test_labels_waive_only_what_reasonable_driving_breaks() -> None:
    values = criteria_of(rules(LK=0.0, EP=0.49, DDC=0.5))
    assert gate_labels(values, True, PAPER_THRESHOLDS).waived == ("LK", "DDC", "EP")
    assert gate_labels(values, False, PAPER_THRESHOLDS) == ALL_APPLY
    assert gate_labels({**values, "LK": None}, True, PAPER_THRESHOLDS).waived == ("DDC", "EP")


def test_thresholds_must_be_whole_and_within_bounds() -> None:
    for broken in ({}, {**PAPER_THRESHOLDS, "LK": 1.5}, {**PAPER_THRESHOLDS, "XX": 0.5}):
        with pytest.raises(BadInput):
            gate_labels(criteria_of(rules()), True, broken)


def test_the_sweep_finds_the_threshold_that_matters_and_says_which_cannot() -> None:
    clips = [clip(f"a/{n}/x", True, EP=0.55) for n in range(4)]
    clips += [clip(f"b/{n}/x", True, LK=0.0) for n in range(4)]
    clips += [clip(f"c/{n}/x", False, EP=0.55) for n in range(3)]
    found = sweep_thresholds(clips, PAPER_THRESHOLDS, cut=0.85)
    assert found.thresholds["EP"] == 0.6
    assert found.accuracy == 1.0
    assert found.matters == {code: code == "EP" for code in CRITERIA}
    assert found.thresholds["LK"] == PAPER_THRESHOLDS["LK"]  # any value does the same
    assert set(found.curves["LK"].values()) == {1.0}


def test_thresholds_cannot_be_fitted_to_nothing() -> None:
    with pytest.raises(BadInput):
        sweep_thresholds([clip()], PAPER_THRESHOLDS)


def test_gates_refuse_nonsense() -> None:
    for values in ((1.0,) * 6, (1.0,) * 6 + (2.0,), (1.0,) * 6 + (float("nan"),)):
        with pytest.raises(ValueError):
            Gates(values)
