"""Lateral and longitudinal control of the ego, as pure functions with explicit memory.

Source: Bench2Drive-VL, action module: a PID on the heading error to a point ahead whose distance grows with speed.
The longitudinal part is ours: a proportional law for the wanted acceleration and the pedals of
:mod:`driveproof.sim.drivers.control`, because the peers' regression was fitted to one vehicle of one simulator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from driveproof.sim.drivers.control import Plant, pedals

KP, KI, KD = 3.118357, 0.640607, 1.378251
WINDOW = 6
"""Errors remembered: the integral is their mean."""
QUARTER_TURN = math.pi / 2
MIN_TARGET_MPS = 0.278
"""A target below 1 km/h is a stand."""
SPEED_GAIN = 1.0
"""Wanted acceleration per missing speed, 1/s."""
MAX_ACCEL, MAX_BRAKE = 3.5, 6.0
HOLD_BRAKE = 0.6


def look_ahead_points(speed: float) -> int:
    """How many points of the way the aim lies ahead at ``speed`` (m/s): 2.4 m at a stand, 10.5 m from 106 km/h."""
    return round(min(max(0.97553 * 3.6 * speed + 1.91529, 24.0), 105.0))


def aim_error(dx: float, dy: float, heading: float) -> float:
    """Heading error to a point ``(dx, dy)`` metres from the ego, in quarter turns, positive if it lies to the left."""
    error = math.atan2(dy, dx) - heading
    return ((error + math.pi) % (2.0 * math.pi) - math.pi) / QUARTER_TURN


@dataclass(frozen=True)
class LateralMemory:
    """The last :data:`WINDOW` errors, the newest last."""

    errors: tuple[float, ...] = ()


def steer_for(error: float, memory: LateralMemory) -> tuple[float, LateralMemory]:
    """Steer (-1 to 1, positive to the right as CARLA's) against an error in quarter turns (positive to the left)."""
    errors = (*memory.errors, error)[-WINDOW:]
    slope = errors[-1] - errors[-2] if len(errors) > 1 else 0.0
    command = KP * error + KD * slope + KI * sum(errors) / len(errors)
    return min(max(-command, -1.0), 1.0), LateralMemory(errors)


def wanted_acceleration(target: float, speed: float) -> float:
    """m/s² for a target and a speed in m/s: the gap closes exponentially within a second, inside comfort."""
    return min(max(SPEED_GAIN * (target - speed), -MAX_BRAKE), MAX_ACCEL)


def pedals_for(target: float, speed: float, plant: Plant) -> tuple[float, float]:
    """Throttle and brake (0 to 1) for a target speed (m/s); a stand is held against rolling."""
    if target < MIN_TARGET_MPS:
        throttle, brake = pedals(-MAX_BRAKE, speed, plant)
        return throttle, max(brake, HOLD_BRAKE)
    return pedals(wanted_acceleration(target, speed), speed, plant)
