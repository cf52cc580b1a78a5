"""Controllers: from a wanted acceleration and wheel angle to throttle, brake and steer, as pure functions.

Lateral: pure pursuit on the rear axle (R. Coulter, CMU-RI-TR-92-01, 1992). Longitudinal: feed-forward from
a table of what pedals do, plus an integrator on the acceleration that was missed. The integrator makes the
same gains work on the embedded server and on CARLA, whose vehicles differ from one another.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from dataclasses import dataclass

TRIM_GAIN = 1.5
"""Of the missed acceleration, what is added to the command each second, 1/s."""
TRIM_LIMIT = 3.0
"""Bound of the integrator, m/s²."""
HOLD_BRAKE = 0.6
"""Pedal that keeps a vehicle at a stand."""
STEER_POINTS = ((0.0, 1.0), (20.0 / 3.6, 0.9), (60.0 / 3.6, 0.8), (120.0 / 3.6, 0.7))
"""CARLA's steering curve: share of the largest wheel angle that full steer gives at a speed (m/s)."""
SPEEDS = (0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0, 18.0, 20.0)
THROTTLES = (0.0, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
ACCELERATION = (
    (0.0, 0.1, 0.4, 0.75, 1.15, 2.1, 4.0),
    (-0.8, -0.3, 0.0, 0.5, 1.0, 2.2, 4.8),
    (-1.6, -1.0, -0.5, 0.1, 0.9, 2.9, 6.0),
    (-2.4, -1.4, -0.6, 0.5, 1.5, 3.8, 6.5),
    (-3.5, -2.2, -1.4, -0.3, 1.0, 3.9, 6.3),
    (-3.2, -2.0, -1.2, -0.2, 0.9, 3.4, 6.0),
    (-2.7, -1.6, -0.8, 0.1, 1.0, 3.1, 5.8),
    (-3.0, -1.9, -1.1, -0.3, 0.6, 2.7, 5.3),
    (-3.0, -2.0, -1.2, -0.4, 0.5, 2.6, 4.8),
    (-2.7, -1.8, -1.2, -0.5, 0.4, 2.1, 4.4),
    (-2.0, -1.4, -0.9, -0.3, 0.3, 1.7, 3.6),
    (-2.0, -1.4, -0.9, -0.4, 0.1, 1.3, 3.2),
)
"""Acceleration (m/s²) of a CARLA car by speed (rows, m/s) and throttle (columns), gears averaged.

Measured on the embedded engine, whose constants are fitted to a Lincoln MKZ 2020 in CARLA. Without
throttle the engine brakes strongly in low gears."""


@dataclass(frozen=True)
class Plant:
    """What pedals and wheel of a vehicle do.

    Attributes
    ----------
    strength
        Its engine relative to the car of :data:`ACCELERATION`, a kilogram.
    brake
        Deceleration that full brake adds to that of the engine, m/s².
    max_wheel
        Largest wheel angle, rad.
    """

    strength: float = 1.0
    brake: float = 6.0
    max_wheel: float = math.radians(70.0)


def throttle_curve(speed: float, plant: Plant) -> list[float]:
    """Acceleration (m/s²) at each of :data:`THROTTLES` at a speed (m/s), linear between the table's rows."""
    speed = min(max(speed, 0.0), SPEEDS[-1])
    row = min(bisect_right(SPEEDS, speed) - 1, len(SPEEDS) - 2)
    share = (speed - SPEEDS[row]) / (SPEEDS[row + 1] - SPEEDS[row])
    low, high = ACCELERATION[row], ACCELERATION[row + 1]
    return [plant.strength * (a + share * (b - a)) for a, b in zip(low, high, strict=True)]


def pedals(accel: float, speed: float, plant: Plant) -> tuple[float, float]:
    """Throttle and brake (0..1) that give an acceleration (m/s²) at a speed (m/s)."""
    curve = throttle_curve(speed, plant)
    if accel <= curve[0]:
        return 0.0, min((curve[0] - accel) / plant.brake, 1.0)
    for i in range(1, len(curve)):
        if accel <= curve[i]:
            share = (accel - curve[i - 1]) / (curve[i] - curve[i - 1])
            return THROTTLES[i - 1] + share * (THROTTLES[i] - THROTTLES[i - 1]), 0.0
    return 1.0, 0.0


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
