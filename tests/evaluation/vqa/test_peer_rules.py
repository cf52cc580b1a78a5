"""The published arithmetic, and where ours differs from it: one test a difference."""

from __future__ import annotations

import pytest

from driveproof.evaluation.vqa import Truth, VqaScore, score_answer
from driveproof.evaluation.vqa.peer import counted, score_as_peer
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

KEEP = ActionKeys(DirectionKey.FOLLOW_LANE, SpeedKey.KEEP)
ALL_KEYS = ", ".join([*DirectionKey, *SpeedKey])


def _both(number: int, said: Reading, true: Truth, text: str = "") -> tuple[float, float]:
    """(the peer's, ours)."""
    question = QUESTIONS[number]
    peer, ours = score_as_peer(question, said, true, text), score_answer(question, said, true)
    assert peer.value is not None
    assert ours.value is not None
    return peer.value, ours.value


def _things(*tags: str) -> Answer:
    return Answer({}, tuple(ObjectFacts(ObjectRef(tag, ObjectKind.CAR)) for tag in tags))


@pytest.mark.parametrize("number", [19, 28, 29, 46, 47])
def test_nothing_where_nothing_is_gets_nothing(number: int) -> None:
    assert _both(number, Reading(Answer()), Truth(Answer())) == (0.0, 100.0)


def test_the_order_of_the_overlap_alone_counts() -> None:
    tags = [f"c{n}" for n in range(10)]
    said, true = Reading(_things("c9")), Truth(_things(*tags))
    peer, ours = _both(19, said, true)
    # N = 10: p = 11.5 ... 2.5, sum 70; R = 2.5/70, F1 = 2R/(1 + R) = 5/72.5, order 1; ours: order 2.5/11.5
    assert peer == pytest.approx(100 * 5 / 72.5, abs=0.01)
    assert ours == pytest.approx(peer * 2.5 / 11.5, abs=0.01)


@pytest.mark.parametrize(
    ("text", "peer", "ours"),
    [
        ("FOLLOW_LANE, KEEP", 100.0, 100.0),
        # four keys of which two are right: P 1/2, R 1, F1 2/3
        ("I could STOP or CHANGE_LANE_LEFT, but ... FOLLOW_LANE, KEEP", 66.67, 100.0),
        # twelve keys: F1 2 * 2 / 14, penalties 1.2 * 1.1; what is executed are the last ones
        (ALL_KEYS, 37.71, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_keys_are_a_set(text: str, peer: float, ours: float) -> None:
    reading = read_answer(QUESTIONS[50], text)
    got = _both(50, reading, Truth(Answer({"keys": KEEP})), text)
    assert got == pytest.approx((peer, ours), abs=0.01)


def test_words_are_scored_like_keys() -> None:
    reading = read_answer(QUESTIONS[43], "Follow the lane and accelerate.")
    assert _both(43, reading, Truth(Answer({"keys": KEEP}))) == (60.0, 60.0)


def test_a_right_answer_too_early_gets_nothing() -> None:
    now, later = Answer({"limit": 30.0}), Answer({"limit": 60.0})
    reading = read_answer(QUESTIONS[7], "60 km/h")
    assert _both(7, reading, Truth(now, future=(later,))) == (0.0, 92.0)


def test_a_dead_judge_is_a_zero() -> None:
    assert counted(VqaScore.unscored("judge: gone")) == VqaScore(0.0, "judge: gone")
    assert counted(VqaScore(40.0)) == VqaScore(40.0)
