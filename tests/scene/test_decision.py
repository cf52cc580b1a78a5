"""The decision that waypoints induce, in driving terms."""

from __future__ import annotations

import numpy as np
import pytest

from driveproof.scene import FUTURE_TIMES, Decision, Direction, SpeedChange, decision_of
from driveproof.testing import motion


def decide(**kwargs: float) -> Decision:
    poses, _ = motion(FUTURE_TIMES, **kwargs)
    return decision_of(poses[:, :2], kwargs["speed"])


@pytest.mark.parametrize(
    ("kwargs", "direction", "speed"),
    [
        ({"speed": 8.0}, Direction.STRAIGHT, SpeedChange.KEEP),
        ({"speed": 8.0, "acceleration": -2.0}, Direction.STRAIGHT, SpeedChange.STOP),
        ({"speed": 8.0, "acceleration": -0.8}, Direction.STRAIGHT, SpeedChange.DECELERATE),
        ({"speed": 2.0, "acceleration": 1.0}, Direction.STRAIGHT, SpeedChange.ACCELERATE),
        ({"speed": 6.0, "yaw_rate": 0.25}, Direction.LEFT, SpeedChange.KEEP),
        ({"speed": 6.0, "yaw_rate": -0.25}, Direction.RIGHT, SpeedChange.KEEP),
        ({"speed": 0.0}, Direction.STRAIGHT, SpeedChange.STOP),
    ],
)
def test_textbook_motions(kwargs, direction, speed) -> None:
    assert decide(**kwargs) == Decision(direction, speed)


def test_a_lane_change_is_a_shift_and_not_a_turn() -> None:
    x = 8.0 * FUTURE_TIMES
    y = 3.5 / (1.0 + np.exp(-2.0 * (FUTURE_TIMES - 2.5)))
    assert decision_of(np.stack([x, y], -1), 8.0).direction is Direction.SHIFT_LEFT
    assert decision_of(np.stack([x, -y], -1), 8.0).direction is Direction.SHIFT_RIGHT


def test_ten_waypoints_are_asked_for() -> None:
    with pytest.raises(ValueError, match="10x2"):
        decision_of(np.zeros((8, 2)), 1.0)
