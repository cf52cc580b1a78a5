"""Equation 12 by hand: who is ranked against whom, and what ties, unreadable and unscored answers are paid."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.errors import BadInput
from driveproof.judge import ALL_APPLY, Gates, Reading, judge_pair, parse_gates, preference
from driveproof.rewards.preference import (
    Contest,
    GateRollout,
    Pairing,
    PreferenceReward,
    pay_pair,
)
from tests.judge.judge_examples import rules

NO_LK = Gates((0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0))
NO_EP = Gates((1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0))
# A passes a stopped car and leaves its lane: 12/14 as it is, 1 where LK is waived. B crawls behind it at a tenth of the
# way: 9.5/14 as it is, 1 where EP is waived. People prefer A.
NUDGE = Contest(rules(LK=0.0), rules(EP=0.1), "A")
PAIRINGS = get_args(Pairing)


def pay(first, second, pairing="all", contest=NUDGE, reading=None, tie=0.0):
    paid = pay_pair(contest, first, second, pairing, reading or Reading(), tie)
    return [[one.reward for one in side] for side in paid]


def whys(first, second, pairing="all", contest=NUDGE, reading=None):
    paid = pay_pair(contest, first, second, pairing, reading or Reading())
    return [[one.detail["why"] for one in side] for side in paid]


def test_scores_by_hand() -> None:
    a, b = judge_pair((NUDGE.first, NUDGE.second), (ALL_APPLY, ALL_APPLY))
    assert a.score == pytest.approx(12 / 14)
    assert b.score == pytest.approx(9.5 / 14)


def test_each_meets_the_one_of_its_number() -> None:
    # A: 1, 12/14, 12/14; B: 9.5/14, 1, 9.5/14
    first, second = [NO_LK, ALL_APPLY, ALL_APPLY], [ALL_APPLY, NO_EP, ALL_APPLY]
    assert pay(first, second, "index") == [[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]
    with pytest.raises(ValueError, match="3 rollouts of A, 2 of B"):
        pay(first, second[:2], "index")


def test_each_meets_all_of_the_other_side() -> None:
    # A: 1, 12/14; B: 9.5/14, 1, 9.5/14. A's first ties with B's second.
    first, second = [NO_LK, ALL_APPLY], [ALL_APPLY, NO_EP, ALL_APPLY]
    assert pay(first, second) == [[2 / 3, 2 / 3], [1.0, 0.0, 1.0]]
    assert pay(first, second, tie=0.5) == [[2.5 / 3, 2 / 3], [1.0, 0.25, 1.0]]


def test_each_meets_the_mean_gates_of_the_other_side() -> None:
    # B's mean waives EP by a third: (9 + 2/3 * 0.5) / (9 + 2/3 * 5) = 9.333 / 12.333 = 0.757; A's mean waives LK by half:
    # 12 / 13 = 0.923.
    first, second = [NO_LK, ALL_APPLY], [ALL_APPLY, NO_EP, ALL_APPLY]
    assert pay(first, second, "mean") == [[1.0, 1.0], [1.0, 0.0, 1.0]]


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_the_preference_decides_not_the_side(pairing) -> None:
    first, second = [NO_LK, ALL_APPLY, None], [ALL_APPLY, NO_EP, ALL_APPLY]
    turned = Contest(NUDGE.second, NUDGE.first, "B")
    assert pay(second, first, pairing, turned) == pay(first, second, pairing)[::-1]


def test_unreadable_gates_are_paid_nothing_and_left_out_as_opponents() -> None:
    first, second = [None, ALL_APPLY], [ALL_APPLY, None]
    assert pay(first, second) == [[0.0, 1.0], [1.0, 0.0]]
    assert whys(first, second) == [["malformed", ""], ["", "malformed"]]
    assert pay(first, second, "mean") == [[0.0, 1.0], [1.0, 0.0]]
    # by number, one answer and an unreadable one are no ranking
    assert pay(first, second, "index") == [[0.0, 0.0], [0.0, 0.0]]
    assert whys(first, second, "index") == [
        ["malformed", "no_opponent"],
        ["no_opponent", "malformed"],
    ]


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_where_nothing_can_be_ranked_all_are_paid_alike(pairing) -> None:
    assert pay([ALL_APPLY, NO_LK], [None, None], pairing) == [[0.0, 0.0], [0.0, 0.0]]
    assert whys([ALL_APPLY, NO_LK], [None, None], pairing)[0] == ["no_opponent", "no_opponent"]
    unjudged = Contest(rules(NC=None), rules(), "A")
    assert pay([ALL_APPLY], [ALL_APPLY], pairing, unjudged, tie=1.0) == [[0.0], [0.0]]
    assert whys([ALL_APPLY], [ALL_APPLY], pairing, unjudged) == [["unscored"], ["unscored"]]


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_equal_criteria_tie_under_equal_gates(pairing) -> None:
    same = Contest(rules(LK=0.0), rules(LK=0.0), "A")
    assert pay([ALL_APPLY], [ALL_APPLY], pairing, same) == [[0.0], [0.0]]
    assert pay([ALL_APPLY], [ALL_APPLY], pairing, same, tie=0.5) == [[0.5], [0.5]]
    # each has its own gates, so that these can tell apart what the rules cannot
    assert pay([NO_LK], [ALL_APPLY], pairing, same) == [[1.0], [1.0]]
    # gates that are shared cannot
    assert pay([NO_LK], [ALL_APPLY], pairing, same, Reading(shared=True)) == [[0.0], [0.0]]


GATES = st.none() | st.tuples(*[st.sampled_from([0.0, 1.0])] * 7).map(Gates)


@given(
    st.lists(GATES, min_size=2, max_size=4), st.lists(GATES, min_size=2, max_size=4), st.booleans()
)
def test_meeting_all_is_the_mean_of_meeting_each(first, second, shared) -> None:
    reading = Reading(shared=shared)
    paid = pay(first, second, reading=reading)
    for gates, reward in zip(first, paid[0], strict=True):
        others = [other for other in second if other is not None]
        if gates is None or not others:
            assert reward == 0.0
            continue
        verdicts = [
            judge_pair((NUDGE.first, NUDGE.second), (gates, other), reading) for other in others
        ]
        won = [preference(a.score, b.score) == "A" for a, b in verdicts]
        assert reward == pytest.approx(sum(won) / len(won))
    for side in paid:
        assert all(0.0 <= reward <= 1.0 for reward in side)


def rollout(side: str, text: str, pair: str = "p") -> GateRollout:
    return GateRollout(pair, side, f"{pair}{side}", text, parse_gates(text))  # type: ignore[arg-type]


def test_a_batch_is_sorted_into_pairs_and_back() -> None:
    apply, no_ep = str(ALL_APPLY), str(NO_EP)
    reward = PreferenceReward({"p": NUDGE, "q": Contest(NUDGE.first, NUDGE.second, "B")})
    batch = [
        rollout("A", apply), rollout("A", "apply, apply"), rollout("B", apply), rollout("B", no_ep),
        rollout("A", apply, "q"), rollout("A", apply, "q"), rollout("B", apply, "q"), rollout("B", no_ep, "q"),
    ]  # fmt: skip
    scored = reward.start(batch).result()
    assert [one.reward for one in scored] == [0.5, 0.0, 1.0, 0.0, 0.5, 0.5, 0.0, 1.0]
    assert scored[1].detail["why"] == "malformed"
    assert not any(one.fallback or one.graded for one in scored)
    assert reward.start([]).result() == []


def test_a_clip_without_its_pair_is_refused() -> None:
    reward = PreferenceReward({"p": NUDGE})
    with pytest.raises(BadInput, match="2 rollouts of the first clip and 0 of the second"):
        reward.start([rollout("A", str(ALL_APPLY))] * 2)
    with pytest.raises(BadInput, match="no such pair"):
        reward.start([rollout("A", "", "other"), rollout("B", "", "other")])
