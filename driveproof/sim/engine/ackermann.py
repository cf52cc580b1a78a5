"""Ackermann control: wanted speed, acceleration and wheel angle turned into pedals, with CARLA's two loops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from driveproof.sim.engine.commands import AckermannControl, AckermannSettings, VehicleControl

if TYPE_CHECKING:
    from driveproof.sim.engine.vehicle import Vehicle

#: Below this wanted speed (m/s) the vehicle is braked to a stand.
_STOP = 0.1
#: Largest accelerations asked of the pedals where the command names none, m/s².
_MOST_ACCEL, _MOST_BRAKE = 3.0, 8.0

#: How much the latest acceleration counts in the smoothed one.
_NEW_SHARE = 0.2


@dataclass
class _Loop:
    """A PID loop."""

    integral: float = 0.0
    last: float = 0.0

    def step(self, error: float, gains: tuple[float, float, float], dt: float) -> float:
        kp, ki, kd = gains
        self.integral = min(max(self.integral + error * dt, -10.0), 10.0)
        rate, self.last = (error - self.last) / dt, error
        return kp * error + ki * self.integral + kd * rate


class AckermannState:
    """The controller of one vehicle, called once a step."""

    def __init__(self, command: AckermannControl) -> None:
        self.command = command
        self._speed, self._accel = _Loop(), _Loop()
        self._pedal = self._smooth = 0.0
        self._last_speed: float | None = None
        self._steer: float | None = None

    def control(self, vehicle: Vehicle, settings: AckermannSettings, dt: float) -> VehicleControl:
        """Pedals and steering for the next ``dt`` seconds."""
        command, speed = self.command, vehicle.speed
        now = 0.0 if self._last_speed is None else (speed - self._last_speed) / dt
        self._last_speed = speed
        # pedals act within a step: without smoothing the second loop would swing between them
        self._smooth += _NEW_SHARE * (now - self._smooth)
        accel = self._smooth
        steer = self._steering(vehicle, dt)
        if abs(command.speed) < _STOP and abs(speed) < 0.5:
            self._pedal = 0.0
            return VehicleControl(0.0, steer, 1.0, reverse=command.speed < 0.0)
        way = -1.0 if command.speed < 0.0 else 1.0
        gains = (settings.speed_kp, settings.speed_ki, settings.speed_kd)
        target = self._speed.step((command.speed - speed) * way, gains, dt)
        top = command.acceleration if command.acceleration > 0.0 else _MOST_ACCEL
        low = -command.acceleration if command.acceleration > 0.0 else -_MOST_BRAKE
        target = min(max(target, low), top)
        gains = (settings.accel_kp, settings.accel_ki, settings.accel_kd)
        self._pedal += self._accel.step(target - accel * way, gains, dt)
        self._pedal = min(max(self._pedal, -1.0), 1.0)
        throttle, brake = max(self._pedal, 0.0), max(-self._pedal, 0.0)
        return VehicleControl(throttle, steer, brake, reverse=way < 0.0)

    def _steering(self, vehicle: Vehicle, dt: float) -> float:
        """The pedal-like steering value -1 to 1, moving at the wanted rate."""
        limit = max((wheel.max_steer for wheel in vehicle.physics.wheels), default=1.0) or 1.0
        wanted = min(max(self.command.steer / limit, -1.0), 1.0)
        now = vehicle.control.steer if self._steer is None else self._steer
        if self.command.steer_speed > 0.0 and math.isfinite(self.command.steer_speed):
            most = self.command.steer_speed / limit * dt
            wanted = now + min(max(wanted - now, -most), most)
        self._steer = wanted
        return wanted
