"""Accuracy and consistency of hand-made answers."""

from __future__ import annotations

from typing import Any

import pytest

from driveproof.errors import BadInput
from driveproof.evaluation import report_mcq, score_choice, score_decision, true_decision
from driveproof.mcq.interaction import Answer
from driveproof.scene import Decision, Direction, SpeedChange

BRAKE = Decision(Direction.STRAIGHT, SpeedChange.STOP)


def say(item: Any, repeat: int, **values: Any) -> Answer:
    return Answer(item.record_key, repeat, "deft", variant=item.variant, **values)


def test_every_answer_is_right_wrong_invalid_or_lost(make_item) -> None:
    item = make_item(speed=8.0, acceleration=-4.0, oracle=2)
    answers = [
        say(item, 0, turn1="t", decision=BRAKE, choice=2),
        say(item, 1, turn1="t", decision=BRAKE, choice=3),
        say(item, 2, turn1="t", reason="malformed"),
        say(item, 3, error="Timeout"),
    ]
    report = report_mcq([item], answers, 0)
    assert (report.right, report.wrong, report.invalid, report.lost) == (1, 1, 1, 1)
    assert report.reasons == {"Timeout": 1, "malformed": 1}
    assert report.accuracy.mean == pytest.approx(1 / 3)  # the lost answer is not scored
    assert report.accuracy_valid.mean == pytest.approx(1 / 2)
    assert report.accuracy_by_repeat == [1.0, 0.0, 0.0, None]
    assert report.chance == pytest.approx(1 / 6)
    # stopping from 8 m/s: the truth is "straight, stop"
    assert report.hld.mean == pytest.approx(2 / 3)
    assert (report.decisions_invalid, report.decisions_lost) == (1, 1)


def test_scores_carry_why(make_item) -> None:
    item = make_item(oracle=1)
    assert score_choice(say(item, 0, choice=1), item).value == 1.0
    unread = score_choice(say(item, 0, turn1="?", reason="no_choice"), item)
    assert (unread.value, unread.valid, unread.why) == (0.0, False, "no_choice")
    dead = score_choice(say(item, 0, error="500"), item)
    assert (dead.value, dead.valid, dead.why) == (None, False, "500")
    # turn 1 was answered and only turn 2 failed: the decision still counts
    half = say(item, 0, turn1="t", decision=true_decision(item), error="500")
    assert score_decision(half, item).value == 1.0
    assert score_choice(half, item).value is None


@pytest.mark.parametrize(
    ("said", "hld", "direction", "speed"),
    [
        (Decision(Direction.LEFT, SpeedChange.KEEP), 1.0, 1.0, 1.0),
        (Decision(Direction.RIGHT, SpeedChange.KEEP), 0.0, 0.0, 1.0),
        (Decision(Direction.LEFT, SpeedChange.STOP), 0.0, 1.0, 0.0),
        (None, 0.0, 0.0, 0.0),
    ],
)
def test_direction_and_speed_must_both_match(make_item, said, hld, direction, speed) -> None:
    turn = make_item(speed=6.0, yaw_rate=0.3)
    report = report_mcq([turn], [say(turn, 0, turn1="t", decision=said, choice=0)], 0)
    assert report.hld.mean == hld
    assert report.hld_direction.mean == direction
    assert report.hld_speed.mean == speed
    assert list(report.by_direction) == ["left"]
    assert list(report.by_speed) == ["keep"]


def test_groups_and_positions(make_item) -> None:
    first = make_item(0, scene="a", oracle=0, drive_class="sharp_turn", variant="x")
    second = make_item(1, scene="b", oracle=1, drive_class="hard_brake", options=2)
    answers = [say(first, 0, choice=0), say(second, 0, choice=0)]
    report = report_mcq([first, second], answers, 0)
    assert report.by_class["sharp_turn"]["accuracy"].mean == 1.0
    assert report.by_class["hard_brake"]["accuracy"].mean == 0.0
    assert set(report.by_variant) == {"", "x"}
    assert report.chance == pytest.approx((1 / 6 + 1 / 2) / 2)
    a, b = report.positions[:2]
    assert (a.letter, a.chosen, a.oracle, a.accuracy.mean) == ("A", 1.0, 0.5, 1.0)
    assert (b.letter, b.chosen, b.oracle, b.accuracy.mean) == ("B", 0.0, 0.5, 0.0)


def test_answers_that_do_not_belong_are_refused(make_item) -> None:
    item = make_item()
    with pytest.raises(BadInput, match="no question"):
        report_mcq([item], [Answer("other", 0, "deft", choice=0)], 0)
    with pytest.raises(BadInput, match="twice"):
        report_mcq([item], [say(item, 0, choice=0), say(item, 0, choice=1)], 0)


def test_a_question_that_was_not_asked_is_lost_not_wrong(make_item) -> None:
    items = [make_item(0), make_item(1)]
    report = report_mcq(items, [say(items[0], 0, choice=0)], 0)
    assert (report.lost, report.accuracy.mean, report.accuracy.lost) == (1, 1.0, 1)
    assert report.reasons == {"not asked": 1}
