"""The high-level decision: a direction and a speed class, said by a policy or induced by waypoints.

The deterministic classes stand in for the paper's judge of HLD consistency (DEFT-RLVR, appendix D.2), which
requires direction and speed to match the action that the logged waypoints induce.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Float, as_float
from driveproof.geometry.kinematics import net_heading_change
from driveproof.scene.types import FUTURE_TIMES, STEP_S

TURN_RAD = 0.35
"""Net heading change (20 degrees) from which a trajectory counts as a turn."""
SHIFT_M = 1.75
"""Lateral displacement, half a lane, from which a trajectory without a turn counts as a shift."""
STOP_SPEED = 0.5
"""Speed in m/s below which the ego stands."""
SPEED_CHANGE = (1.0, 0.15)
"""A change of speed counts from 1 m/s or 15 % of the current speed, whichever is more."""


class Direction(StrEnum):
    """Where the ego goes within the horizon."""

    STRAIGHT = "straight"
    LEFT = "left"
    RIGHT = "right"
    SHIFT_LEFT = "shift_left"
    SHIFT_RIGHT = "shift_right"


class SpeedChange(StrEnum):
    """What the ego does to its speed within the horizon."""

    STOP = "stop"
    DECELERATE = "decelerate"
    KEEP = "keep"
    ACCELERATE = "accelerate"


@dataclass(frozen=True)
class Decision:
    """A complete high-level decision."""

    direction: Direction
    speed: SpeedChange

    def __str__(self) -> str:
        return f"{self.direction.value}, {self.speed.value}"


def decision_of(waypoints: ArrayLike, speed: float) -> Decision:
    """The decision that waypoints induce.

    Parameters
    ----------
    waypoints
        ``[10, 2]`` ego-frame positions at 0.5 .. 5.0 s.
    speed
        Current speed, m/s.
    """
    waypoints = as_float(waypoints, (len(FUTURE_TIMES), 2), "waypoints")
    return Decision(_direction(waypoints), _speed_change(waypoints, speed))


def _direction(waypoints: Float) -> Direction:
    turn = float(net_heading_change(waypoints))
    if abs(turn) >= TURN_RAD:
        return Direction.LEFT if turn > 0 else Direction.RIGHT
    lateral = float(waypoints[-1, 1])
    if abs(lateral) >= SHIFT_M:
        return Direction.SHIFT_LEFT if lateral > 0 else Direction.SHIFT_RIGHT
    return Direction.STRAIGHT


def _speed_change(waypoints: Float, speed: float) -> SpeedChange:
    final = float(np.hypot(*(waypoints[-1] - waypoints[-2]))) / STEP_S
    if final < STOP_SPEED:
        return SpeedChange.STOP
    margin = max(SPEED_CHANGE[0], SPEED_CHANGE[1] * speed)
    if final > speed + margin:
        return SpeedChange.ACCELERATE
    return SpeedChange.DECELERATE if final < speed - margin else SpeedChange.KEEP
