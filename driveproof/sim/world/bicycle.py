"""The kinematic bicycle model about the rear axle, integrated exactly along its arc.

Source: R. Rajamani, Vehicle Dynamics and Control, 2nd ed., section 2.2 (no slip at the rear axle).
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What actuators can do: steering angle (rad) and rate (rad/s), acceleration (m/s²), jerk (m/s³)."""

    steer: float = 0.75
    steer_rate: float = 1.0
    accel: float = 3.0
    brake: float = 8.0
    jerk_up: float = 5.0
    jerk_down: float = 12.0


@dataclass
class BicycleState:
    """Rear-axle position, heading, speed (m/s, never negative), acceleration and front wheel angle."""

    x: float
    y: float
    heading: float
    speed: float = 0.0
    accel: float = 0.0
    steer: float = 0.0

    def step(self, accel: float, steer: float, wheelbase: float, dt: float, limits: Limits) -> None:
        """Move for ``dt`` seconds towards the wanted acceleration and wheel angle, within ``limits``."""
        low = max(-limits.brake, self.accel - limits.jerk_down * dt)
        high = min(limits.accel, self.accel + limits.jerk_up * dt)
        if self.accel < 0.0 <= accel:
            high = min(
                limits.accel, max(high, limits.jerk_up * dt)
            )  # letting go of the brake is quick
        self.accel = min(max(accel, low), high)
        turn = limits.steer_rate * dt
        wanted = min(max(steer, -limits.steer), limits.steer)
        self.steer += min(max(wanted - self.steer, -turn), turn)
        speed = self.speed + self.accel * dt
        if speed < 0.0:  # it stands before the step ends
            travel = 0.5 * self.speed**2 / -self.accel
            speed, self.accel = 0.0, 0.0
        else:
            travel = 0.5 * (self.speed + speed) * dt
        self._advance(travel, wheelbase)
        self.speed = speed

    def _advance(self, travel: float, wheelbase: float) -> None:
        curvature = math.tan(self.steer) / wheelbase
        turned = travel * curvature
        if abs(turned) < 1e-9:
            self.x += travel * math.cos(self.heading)
            self.y += travel * math.sin(self.heading)
        else:
            end = self.heading + turned
            self.x += (math.sin(end) - math.sin(self.heading)) / curvature
            self.y -= (math.cos(end) - math.cos(self.heading)) / curvature
        self.heading = math.remainder(self.heading + turned, math.tau)
