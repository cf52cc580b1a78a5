"""Controllers: from a wanted acceleration and wheel angle to throttle, brake and steer, as pure functions.

Lateral: pure pursuit on the rear axle (R. Coulter, CMU-RI-TR-92-01, 1992). Longitudinal: feed-forward from
a model of engine and brake, plus an integrator on the acceleration that was missed. The integrator makes the
same gains work on the embedded server and on CARLA, whose vehicles differ from one another.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

TRIM_GAIN = 0.8
"""Of the missed acceleration, what is added to the command each second, 1/s."""
TRIM_LIMIT = 1.5
"""Bound of the integrator, m/s²."""
HOLD_BRAKE = 0.6
"""Pedal that keeps a vehicle at a stand."""
STEER_POINTS = ((0.0, 1.0), (20.0 / 3.6, 0.9), (60.0 / 3.6, 0.8), (120.0 / 3.6, 0.7))
"""CARLA's steering curve: share of the largest wheel angle that full steer gives at a speed (m/s)."""


@dataclass(frozen=True)
class Plant:
    """What pedals and wheel do.

    Attributes
    ----------
    accel
        Acceleration of full throttle at a stand, m/s².
    fade
        Speed at which full throttle gives no more acceleration, m/s.
    brake
        Deceleration of full brake, m/s².
    roll, drag
        Deceleration without pedals: ``roll + drag * speed²`` (m/s², 1/m).
    max_wheel
        Largest wheel angle, rad.
    """

    accel: float = 5.0
    fade: float = 45.0
    brake: float = 8.0
    roll: float = 0.15
    drag: float = 0.0006
    max_wheel: float = math.radians(70.0)


def resistance(speed: float, plant: Plant) -> float:
    """Deceleration without pedals, m/s²."""
    return plant.roll + plant.drag * speed * speed if speed > 0.0 else 0.0


def throttle_acceleration(speed: float, plant: Plant) -> float:
    """Acceleration that full throttle adds at a speed, m/s²."""
    return plant.accel * max(1.0 - speed / plant.fade, 0.05)


def pedals(accel: float, speed: float, plant: Plant) -> tuple[float, float]:
    """Throttle and brake (0..1) that give an acceleration (m/s²) at a speed (m/s)."""
    push = accel + resistance(speed, plant)
    if push >= 0.0:
        return min(push / throttle_acceleration(speed, plant), 1.0), 0.0
    return 0.0, min(-push / plant.brake, 1.0)


def trimmed(trim: float, wanted: float, reached: float, dt: float) -> float:
    """The integrator after ``dt`` seconds in which ``reached`` came of ``wanted`` (m/s²)."""
    return min(max(trim + TRIM_GAIN * dt * (wanted - reached), -TRIM_LIMIT), TRIM_LIMIT)


def pursuit_distance(speed: float) -> float:
    """How far ahead the point lies that is steered for, m."""
    return min(max(2.5 + 0.45 * speed, 3.5), 14.0)


def pursuit_angle(dx: float, dy: float, heading: float, wheelbase: float) -> float:
    """Wheel angle (rad, left positive) of the circle through a point at (dx, dy) from the rear axle."""
    bearing = math.atan2(dy, dx) - heading
    return math.atan(2.0 * wheelbase * math.sin(bearing) / max(math.hypot(dx, dy), 0.5))


def steering_share(speed: float) -> float:
    """CARLA's steering curve at a speed (m/s), by linear interpolation."""
    for (low, a), (high, b) in itertools.pairwise(STEER_POINTS):
        if speed <= high:
            return a + (b - a) * max(speed - low, 0.0) / (high - low)
    return STEER_POINTS[-1][1]


def steer_command(angle: float, speed: float, plant: Plant) -> float:
    """CARLA's steer (-1..1, right positive) for a wheel angle (rad, left positive)."""
    return min(max(-angle / (plant.max_wheel * steering_share(speed)), -1.0), 1.0)
