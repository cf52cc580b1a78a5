"""The equations of scoring, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.evaluation.vqa import Replay, Truth, score_answer
from driveproof.evaluation.vqa.action import score_keys
from driveproof.evaluation.vqa.facts import limit_agreement, speed_agreement
from driveproof.evaluation.vqa.lists import importance_weights, ndcg, position_weights, weighted_f1
from driveproof.evaluation.vqa.waypoints import score_waypoints
from driveproof.questions import (
    QUESTIONS,
    ActionKeys,
    Answer,
    DirectionKey,
    ObjectFacts,
    ObjectKind,
    ObjectRef,
    SpeedKey,
)
from driveproof.questions.reading import Reading, read_answer
from driveproof.questions.wording import Sentences

D, S = DirectionKey, SpeedKey


def _ref(tag: str, *, role: bool = False) -> ObjectRef:
    return ObjectRef(tag, ObjectKind.CAR, is_role=role)


def _listed(*refs: ObjectRef) -> Answer:
    return Answer({}, tuple(ObjectFacts(ref) for ref in refs))


def _score(number: int, said: Answer, true: Answer) -> float:
    value = score_answer(QUESTIONS[number], Reading(said), Truth(true)).value
    assert value is not None
    return value


def test_weights_of_a_ranked_list() -> None:
    # N = 4, R = 5: p = 5 - i = 4, 3, 2, 1 (equation 1); the first is a role: w = 12, 3, 2, 1 (equations 2, 3)
    assert position_weights(4) == [4.0, 3.0, 2.0, 1.0]
    assert importance_weights([_ref("a", role=True), _ref("b"), _ref("c"), _ref("d")]) == [
        12,
        3,
        2,
        1,
    ]


def test_order_and_completeness_multiply() -> None:
    a, b, c, d = (_ref(t, role=t == "a") for t in "abcd")
    # said b, a: hits 3 + 12, missed 2 + 1: P = 1, R = 15 / 18, F1 = 2R / (1 + R) = 30 / 33
    f1 = 30 / 33
    # DCG = 3 / log2(2) + 12 / log2(3); ideal 12 / log2(2) + 3 / log2(3)
    order = (3 + 12 / math.log2(3)) / (12 + 3 / math.log2(3))
    assert _score(19, _listed(b, a), _listed(a, b, c, d)) == pytest.approx(
        100 * f1 * order, abs=0.01
    )


def test_an_extra_thing_weighs_half_the_least_position() -> None:
    a, b = _ref("a"), _ref("b")
    # N = 2: p = 1.5, 0.5; extra 0.25: P = 2 / 2.25, R = 1
    precision = 2 / 2.25
    expected = 100 * 2 * precision / (precision + 1)
    assert _score(19, _listed(a, b, _ref("x")), _listed(a, b)) == pytest.approx(expected, abs=0.01)


def test_naming_the_least_of_many_alone_is_not_ideal() -> None:
    weights = importance_weights([_ref(t) for t in "abcdefghij"])
    assert ndcg(weights, [9]) < 0.25
    assert ndcg(weights, list(range(10))) == 1.0


@pytest.mark.parametrize("number", [18, 19, 28, 29, 46, 47])
def test_nothing_where_nothing_is_gets_full_marks(number: int) -> None:
    assert _score(number, Answer(), Answer()) == 100.0
    assert _score(number, _listed(_ref("x")), Answer()) == 0.0
    assert _score(number, Answer(), _listed(_ref("x"))) == 0.0


def test_an_extra_conflict_costs_more_than_an_extra_vehicle() -> None:
    true, said = _listed(_ref("a"), _ref("b")), _listed(_ref("a"), _ref("b"), _ref("x"))
    # 29: extra 1.5: P = 2 / 3.5, R = 1, F1 = 4 / 5.5; 18: extra 0.25: F1 = 4 / 4.25
    assert _score(29, said, true) == pytest.approx(100 * 4 / 5.5, abs=0.01)
    assert _score(18, said, true) == pytest.approx(100 * 4 / 4.25, abs=0.01)


@pytest.mark.parametrize(
    ("said", "true", "score"),
    [
        ((D.FOLLOW_LANE, S.KEEP), (D.FOLLOW_LANE, S.KEEP), 1.0),
        ((D.FOLLOW_LANE, S.KEEP), (D.GO_STRAIGHT, S.KEEP), 1.0),  # the same way
        ((D.GO_STRAIGHT, S.KEEP), (D.FOLLOW_LANE, S.KEEP), 0.5),
        ((D.TURN_LEFT, S.STOP), (D.TURN_LEFT, S.STOP), 1.0),
        ((D.TURN_LEFT, S.ACCELERATE), (D.TURN_LEFT, S.STOP), 0.5 * 0.25),
        ((D.TURN_LEFT, S.KEEP), (D.TURN_LEFT, S.STOP), 0.5 * 0.5),
        ((D.TURN_LEFT, S.ACCELERATE), (D.TURN_LEFT, S.KEEP), 0.5 * 1.2),
        ((D.TURN_RIGHT, S.DECELERATE), (D.TURN_LEFT, S.DECELERATE), 0.5),
        ((D.TURN_LEFT, None), (D.TURN_LEFT, S.STOP), 2 / 3 * 0.5),  # driven as KEEP
        ((None, S.STOP), (D.TURN_LEFT, S.STOP), 2 / 3),
        ((None, None), (D.TURN_LEFT, S.STOP), 0.0),
    ],
)
def test_keys(said: tuple, true: tuple, score: float) -> None:
    assert score_keys(ActionKeys(*said), ActionKeys(*true)) == pytest.approx(score)


def test_only_the_executed_keys_count() -> None:
    truth = Answer({"keys": ActionKeys(D.FOLLOW_LANE, S.KEEP)})
    text = "I could STOP or CHANGE_LANE_LEFT, but ... FOLLOW_LANE, KEEP"
    reading = read_answer(QUESTIONS[50], text)
    assert score_answer(QUESTIONS[50], reading, Truth(truth)).value == 100.0


def _replay(poses: np.ndarray) -> Replay:
    expert = np.stack([np.arange(1, 9) * 2.0, np.zeros(8)], axis=1)  # 4 m/s straight on
    return Replay(expert, poses, np.tile([4.0, 2.0], (len(poses), 1)), (4.6, 2.0))


def test_waypoints_lose_half_of_safety_with_every_hit() -> None:
    ahead = np.tile([12.0, 0.0, 0.0], (8, 1))  # stands in the way
    beside = np.tile([12.0, 4.0, 0.0], (8, 1))
    straight = np.stack([np.arange(1, 9) * 2.0, np.zeros(8)], axis=1)
    assert score_waypoints(straight, _replay(np.stack([beside]))) == pytest.approx(1.0)
    assert score_waypoints(straight, _replay(np.stack([ahead]))) == pytest.approx(0.6 * 0.5 + 0.4)
    half = straight / 2  # half the way of the expert
    assert score_waypoints(half, _replay(np.stack([beside]))) == pytest.approx(0.6 + 0.4 * 0.5)


@given(st.floats(1.0, 130.0), st.floats(0.0, 60.0), st.floats(0.0, 60.0))
def test_a_limit_too_high_is_never_better_than_as_much_too_low(
    true: float, near: float, more: float
) -> None:
    low = max(true - near, 0.0)
    assert limit_agreement(true + (true - low), true) <= limit_agreement(low, true) + 1e-9
    assert limit_agreement(true + near + more, true) <= limit_agreement(true + near, true) + 1e-9


@given(st.floats(0.0, 40.0), st.floats(0.0, 10.0), st.floats(0.0, 10.0))
def test_a_speed_further_off_is_never_better(true: float, near: float, more: float) -> None:
    assert speed_agreement(true + near + more, true) <= speed_agreement(true + near, true) + 1e-9


@given(st.floats(0, 50), st.floats(0, 50), st.floats(0, 50), st.floats(0.01, 50))
def test_f1_falls_with_misses_and_extras(
    hit: float, missed: float, extra: float, more: float
) -> None:
    value = weighted_f1(hit, missed, extra)
    assert 0.0 <= value <= 1.0
    assert weighted_f1(hit, missed + more, extra) <= value + 1e-9
    assert weighted_f1(hit, missed, extra + more) <= value + 1e-9


def test_who_stands_need_not_say_that_it_brakes() -> None:
    from driveproof.questions import terms as t

    true = Answer({"braking": t.Braking.STOP, "reason": t.Reason.RED_LIGHT})
    reading = read_answer(QUESTIONS[8], "It should keep the current speed.")
    assert score_answer(QUESTIONS[8], reading, Truth(true, ego_speed=0.1)).value == 100.0
    assert score_answer(QUESTIONS[8], reading, Truth(true, ego_speed=8.0)).value == 0.0


def test_what_is_right_a_moment_later_is_nearly_right() -> None:
    now, later = Answer({"limit": None}), Answer({"limit": 60.0})
    reading = read_answer(QUESTIONS[7], "The speed limit is 60 km/h.")
    early = score_answer(QUESTIONS[7], reading, Truth(now, future=(later,)))
    assert early.value == 92.0
    assert early.why == "early"
    assert score_answer(QUESTIONS[7], reading, Truth(later)).value == 100.0


def test_without_a_log_of_the_future_waypoints_are_unscored() -> None:
    answer = Answer({"waypoints": tuple((float(k), 0.0) for k in range(8))})
    reading = read_answer(QUESTIONS[42], Sentences().write(42, answer))
    score = score_answer(QUESTIONS[42], reading, Truth(answer))
    assert score.value is None
    assert "no log" in score.why
