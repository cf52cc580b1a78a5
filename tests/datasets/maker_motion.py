"""The motion of all made logs: a car at 8 m/s that turns left at 0.2 rad/s, another one ahead."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from driveproof.errors import BadInput
from driveproof.geometry import rotate
from driveproof.geometry.arrays import Float
from driveproof.scene import FUTURE_TIMES
from driveproof.testing import motion

SPEED, YAW_RATE = 8.0, 0.2
ORIGIN = (1000.0, -500.0, 2.0)
"""World pose at the start of every made log: far out and turned, so that mixed-up frames show."""
JPEG = b"\xff\xd8\xff\xe0 picture \xff\xd9"


def problem_of(call: Callable[[], object]) -> str:
    """The text of the BadInput that ``call`` raises, or nothing; anything else it raises is a failure."""
    try:
        call()
    except BadInput as error:
        return str(error)
    return ""


def expected_waypoints() -> Float:
    """``[10, 2]`` of every moment: on a circle all moments look alike."""
    return motion(FUTURE_TIMES, speed=SPEED, yaw_rate=YAW_RATE)[0][:, :2]


def world_motion(times: Float) -> tuple[Float, Float]:
    """Poses ``[T, 3]`` in the world and velocity ``[T, 2]`` in the world."""
    poses, body = motion(times, speed=SPEED, yaw_rate=YAW_RATE)
    world = np.concatenate(
        [rotate(poses[:, :2], ORIGIN[2]) + np.array(ORIGIN[:2]), poses[:, 2:] + ORIGIN[2]], axis=1
    )
    return world, rotate(body, world[:, 2])


def yaw_quaternion(heading: float) -> tuple[float, float, float, float]:
    """w, x, y, z of a turn about z."""
    return float(np.cos(heading / 2)), 0.0, 0.0, float(np.sin(heading / 2))


def lead_poses(times: Float, gap: float = 10.0) -> Float:
    """``[T, 3]`` of a car that drives ``gap`` metres of arc ahead on the same circle."""
    return world_motion(times + gap / SPEED)[0]


def times_of(seconds: float, rate: float) -> Float:
    return np.arange(round(seconds * rate) + 1) / rate


def states_of(times: Float, *, ahead: float = 0.0) -> Float:
    """``[T, 5]`` x, y, heading, vx, vy in the world, ``ahead`` seconds further on the circle."""
    poses, velocity = world_motion(times + ahead)
    return np.concatenate([poses, velocity], axis=1)
