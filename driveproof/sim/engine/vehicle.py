"""Vehicles, as one handles them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.sim.blueprints import VehicleSpec
from driveproof.sim.engine.actor import Actor, Vector, finite
from driveproof.sim.engine.commands import (
    AckermannControl,
    AckermannSettings,
    LightState,
    VehicleControl,
)
from driveproof.sim.engine.powertrain import engine_speed
from driveproof.sim.engine.vehicle_physics import (
    bounded_physics,
    load_physics,
    standard_physics,
)
from driveproof.sim.engine.vehicle_table import VehiclePhysics

if TYPE_CHECKING:
    from driveproof.sim.engine.ackermann import AckermannState

#: CARLA numbers the doors 0 to 5 (front left to trunk); 6 means all of them.
ALL_DOORS = 6


class Vehicle(Actor):
    """A vehicle.

    Attributes
    ----------
    slot
        Row in ``Engine.vehicles``; changes when older vehicles are destroyed.
    spec
        The physical facts of its blueprint.
    ackermann_settings
        Gains of its Ackermann controller.
    autopilot
        A mark that clients set; the world does not drive.
    """

    slot: int
    spec: VehicleSpec

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._control = VehicleControl()
        self.ackermann_settings = AckermannSettings()
        self.ackermann_state: AckermannState | None = None
        self._physics: VehiclePhysics | None = None
        self.autopilot = False

    @property
    def control(self) -> VehicleControl:
        """The control in force, with the gear that is engaged; setting it ends Ackermann control."""
        gear = int(self._engine.vehicles.gear[self.slot])
        control = self._control
        return control if control.gear == gear else replace(control, gear=gear)

    @control.setter
    def control(self, control: VehicleControl) -> None:
        self.ackermann_state = None
        self._engine.ackermann.discard(self.id)
        self.set_pedals(control)

    def set_pedals(self, control: VehicleControl) -> None:
        """Write ``control`` into the table, numbers bounded and made finite."""
        control = VehicleControl(
            throttle=_bounded(control.throttle, 0.0),
            steer=_bounded(control.steer, -1.0),
            brake=_bounded(control.brake, 0.0),
            hand_brake=bool(control.hand_brake),
            reverse=bool(control.reverse),
            manual_gear_shift=bool(control.manual_gear_shift),
            gear=max(-1, min(int(control.gear), 8)),
        )
        self._control = control
        self._engine.vehicles.control[self.slot] = (
            control.throttle,
            control.steer,
            control.brake,
            control.hand_brake,
            control.reverse,
            control.manual_gear_shift,
            control.gear,
        )

    @property
    def ackermann(self) -> AckermannControl | None:
        """The Ackermann command in force, None while pedals are commanded."""
        return self.ackermann_state.command if self.ackermann_state else None

    @ackermann.setter
    def ackermann(self, command: AckermannControl) -> None:
        self._engine.start_ackermann(self, command)

    @property
    def constant_velocity(self) -> Float | None:
        """``[3]`` velocity in the vehicle's frame at which it is kept, or None."""
        vehicles = self._engine.vehicles
        return vehicles.cruise[self.slot].copy() if vehicles.cruising[self.slot] else None

    @constant_velocity.setter
    def constant_velocity(self, velocity: Vector | None) -> None:
        vehicles = self._engine.vehicles
        vehicles.cruising[self.slot] = velocity is not None
        vehicles.cruise[self.slot] = 0.0 if velocity is None else finite(velocity)

    @property
    def target_velocity(self) -> Float:
        """``[3]`` as ``velocity``: the vehicle moves so from the next step on, and is then free again."""
        return self.velocity

    @target_velocity.setter
    def target_velocity(self, velocity: Vector) -> None:
        self.velocity = finite(velocity)

    @property
    def light_flags(self) -> int:
        """CARLA's bits of the lamps that are on."""
        return int(self._engine.vehicles.lamps[self.slot])

    @light_flags.setter
    def light_flags(self, flags: int) -> None:
        self._engine.vehicles.lamps[self.slot] = int(flags) & 0xFFFFFFFF

    @property
    def doors(self) -> frozenset[int]:
        """Numbers of the open doors."""
        bits = int(self._engine.vehicles.doors[self.slot])
        return frozenset(door for door in range(ALL_DOORS) if bits >> door & 1)

    def set_door(self, door: int, is_open: bool) -> None:
        """Open or close a door (6: all of them)."""
        bits = (1 << ALL_DOORS) - 1 if door == ALL_DOORS else (1 << door if 0 <= door < 6 else 0)
        old = int(self._engine.vehicles.doors[self.slot])
        self._engine.vehicles.doors[self.slot] = old | bits if is_open else old & ~bits

    @property
    def speed_limit(self) -> float:
        """Metres a second, from the last speed sign or the lane."""
        return float(self._engine.vehicles.speed_limit[self.slot])

    @property
    def light_id(self) -> int | None:
        """The traffic light that governs it, or None."""
        return int(self._engine.vehicles.light_id[self.slot]) or None

    @property
    def light_state(self) -> LightState:
        """What that light shows; GREEN without one."""
        return LightState(int(self._engine.vehicles.light_state[self.slot]))

    @property
    def speed(self) -> float:
        """Metres a second along its heading, negative backwards."""
        return float(self.velocity @ self.forward())

    @property
    def engine_rpm(self) -> float:
        """Engine speed in revolutions a minute."""
        return (
            float(engine_speed(self._engine.table, self._engine.vehicles)[self.slot]) * 30 / np.pi
        )

    @property
    def wheel_angle(self) -> float:
        """Angle of the front wheels in radians, positive to the left."""
        return float(self._engine.vehicles.steer[self.slot])

    @property
    def physics(self) -> VehiclePhysics:
        """Its physical constants; setting them (nonsense is bounded) takes effect with the next step."""
        if self._physics is None:
            self._physics = standard_physics(self.spec)
        return self._physics

    @physics.setter
    def physics(self, physics: VehiclePhysics) -> None:
        physics = bounded_physics(physics)
        load_physics(self._engine.vehicles, self.slot, self.spec, physics)
        self._engine.table.mass[self.row] = physics.mass
        self._physics = physics

    def add_force(self, force: Vector, at: Vector | None = None) -> None:
        """Push with ``force`` ``[3]`` (N, world frame) during the next step, at the world point ``at`` or the centre."""
        self._engine.add_force(self, finite(force), None if at is None else finite(at))

    def add_torque(self, torque: Vector) -> None:
        """Twist with ``torque`` ``[3]`` (N m) during the next step."""
        self._engine.vehicles.twist[self.slot] += finite(torque)


def _bounded(value: float, low: float) -> float:
    value = float(value)
    return min(max(value, low), 1.0) if value == value else 0.0
