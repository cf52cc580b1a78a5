"""The ordered classes of driving scenes and their hardness (DEFT-RLVR, table 8 and appendix D.1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from driveproof.config.mcq import ClassParams
from driveproof.geometry.kinematics import constant_velocity, net_heading_change, path_length
from driveproof.scene import FUTURE_TIMES, Scene
from driveproof.scene.types import STEP_S


class DriveClass(StrEnum):
    """What the ego does; the first that applies."""

    LOW_SPEED = "low_speed"
    STOP_FROM_MOTION = "stop_from_motion"
    HARD_BRAKE = "hard_brake"
    SHARP_TURN = "sharp_turn"
    ROUTINE_STRAIGHT = "routine_straight"


HARD_CAUSAL = (DriveClass.STOP_FROM_MOTION, DriveClass.HARD_BRAKE, DriveClass.SHARP_TURN)
"""The classes that dev and test keep."""


@dataclass(frozen=True)
class Motion:
    """What the classes look at.

    Attributes
    ----------
    speed, final_speed
        Current speed and speed over the last 0.5 s of the logged future, m/s.
    braking_ratio
        Length of the logged path over that at constant velocity; 1 for a standing ego.
    turn
        Net heading change of the logged future, radians, left positive.
    gap
        Distance of the ends of the logged future and of constant velocity, metres: the rank.
    """

    speed: float
    final_speed: float
    braking_ratio: float
    turn: float
    gap: float


def motion_of(scene: Scene) -> Motion:
    """Measure the logged future of a scene."""
    waypoints = scene.waypoints
    going_on = constant_velocity(scene.velocity, FUTURE_TIMES)
    extrapolated = float(path_length(going_on, from_origin=True))
    driven = float(path_length(waypoints, from_origin=True))
    return Motion(
        speed=scene.speed,
        final_speed=float(np.hypot(*(waypoints[-1] - waypoints[-2]))) / STEP_S,
        braking_ratio=driven / extrapolated if extrapolated > 0 else 1.0,
        turn=float(net_heading_change(waypoints)),
        gap=float(np.hypot(*(waypoints[-1] - going_on[-1]))),
    )


def classify(motion: Motion, params: ClassParams, source: str = "") -> DriveClass:
    """The first class whose condition holds; ``source`` may have its own least speed."""
    if motion.speed < params.min_speed_by_source.get(source, params.min_speed):
        return DriveClass.LOW_SPEED
    if motion.speed >= params.stop_from_speed and motion.final_speed <= params.stop_speed:
        return DriveClass.STOP_FROM_MOTION
    if motion.speed >= params.brake_from_speed and motion.braking_ratio <= params.brake_ratio:
        return DriveClass.HARD_BRAKE
    if abs(motion.turn) >= params.turn_rad:
        return DriveClass.SHARP_TURN
    return DriveClass.ROUTINE_STRAIGHT


def heading_of(motion: Motion, params: ClassParams) -> str:
    """ "straight", "left" or "right": the directions that test has to cover."""
    if abs(motion.turn) < params.turn_rad:
        return "straight"
    return "left" if motion.turn > 0 else "right"
