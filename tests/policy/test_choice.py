"""Baselines in driving terms."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from driveproof.policy import ConstantVelocity, Oracle, RandomChoice
from driveproof.scene import FUTURE_TIMES, Decision, Direction, SpeedChange
from driveproof.testing import make_scene


def question(speed: float = 8.0, acceleration: float = 0.0, key: str = "k") -> Any:
    """Six straight options at 0.2 .. 1.2 times the current speed; number 4 keeps it."""
    scene = make_scene(speed=speed, acceleration=acceleration)
    pace = np.array([0.2, 0.4, 0.6, 0.8, 1.0, 1.2]) * speed
    straight = np.stack([FUTURE_TIMES, np.zeros(10)], -1)
    return SimpleNamespace(
        record_key=key,
        variant="",
        observation=scene.observe(),
        options=pace[:, None, None] * straight,
        waypoints=scene.waypoints,
        oracle_index=2,
    )


def test_constant_velocity_takes_the_option_that_keeps_the_speed() -> None:
    steady = question(acceleration=0.0)
    choice = ConstantVelocity().choose(steady, 0)
    assert (choice.index, choice.decision) == (4, Decision(Direction.STRAIGHT, SpeedChange.KEEP))


def test_constant_velocity_does_not_look_at_the_truth() -> None:
    braking = question(acceleration=-4.0)
    braking.waypoints, braking.oracle_index = None, None
    assert ConstantVelocity().choose(braking, 0).index is not None
    assert RandomChoice(0).choose(braking, 0).index is not None


def test_the_oracle_knows_the_option_and_the_logged_decision() -> None:
    choice = Oracle().choose(question(acceleration=-4.0), 5)
    assert (choice.index, choice.decision) == (2, Decision(Direction.STRAIGHT, SpeedChange.STOP))


@pytest.mark.slow
def test_random_is_uniform_seeded_and_differs_by_repeat_and_question() -> None:
    policy = RandomChoice(7)
    asked = question()
    drawn = [policy.choose(asked, repeat).index for repeat in range(3000)]
    assert drawn == [RandomChoice(7).choose(asked, repeat).index for repeat in range(3000)]
    assert np.bincount(drawn, minlength=6) / 3000 == pytest.approx(1 / 6, abs=0.03)
    other = [policy.choose(question(key="l"), repeat).index for repeat in range(50)]
    assert other != drawn[:50]
    assert [RandomChoice(8).choose(asked, r).index for r in range(50)] != drawn[:50]
