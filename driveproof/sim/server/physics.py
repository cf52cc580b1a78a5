"""CARLA's vehicle constants and telemetry, from and to those of the engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from driveproof.sim.engine import Actor, Gear, Vehicle, VehiclePhysics, Wheel
from driveproof.sim.server.messages import VECTOR, VECTOR2, Vector
from driveproof.sim.server.wire import FLAG, I32, REAL, Codec, sequence, struct

_CM = 100.0
_GRAVITY = 9.81
_MAX_GEARS = 8


@dataclass(frozen=True, slots=True)
class WheelMessage:
    """A wheel: degrees, centimetres; its position lies in the world."""

    tire_friction: float = 2.0
    damping_rate: float = 0.25
    max_steer_angle: float = 70.0
    radius: float = 30.0
    max_brake_torque: float = 1500.0
    max_handbrake_torque: float = 3000.0
    lat_stiff_max_load: float = 2.0
    lat_stiff_value: float = 17.0
    long_stiff_value: float = 1000.0
    position: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class GearMessage:
    """A forward gear."""

    ratio: float = 1.0
    down_ratio: float = 0.5
    up_ratio: float = 0.65


@dataclass(frozen=True, slots=True)
class PhysicsMessage:
    """``carla.VehiclePhysicsControl`` field by field."""

    torque_curve: list[Sequence[float]]
    max_rpm: float
    moi: float
    damping_rate_full_throttle: float
    damping_rate_zero_throttle_clutch_engaged: float
    damping_rate_zero_throttle_clutch_disengaged: float
    use_gear_autobox: bool
    gear_switch_time: float
    clutch_strength: float
    final_ratio: float
    forward_gears: list[GearMessage]
    mass: float
    drag_coefficient: float
    center_of_mass: Vector
    steering_curve: list[Sequence[float]]
    wheels: list[WheelMessage]
    use_sweep_wheel_collision: bool = False


_WHEEL = struct(
    WheelMessage,
    tire_friction=REAL,
    damping_rate=REAL,
    max_steer_angle=REAL,
    radius=REAL,
    max_brake_torque=REAL,
    max_handbrake_torque=REAL,
    lat_stiff_max_load=REAL,
    lat_stiff_value=REAL,
    long_stiff_value=REAL,
    position=VECTOR,
)
PHYSICS: Codec[PhysicsMessage] = struct(
    PhysicsMessage,
    torque_curve=sequence(VECTOR2),
    max_rpm=REAL,
    moi=REAL,
    damping_rate_full_throttle=REAL,
    damping_rate_zero_throttle_clutch_engaged=REAL,
    damping_rate_zero_throttle_clutch_disengaged=REAL,
    use_gear_autobox=FLAG,
    gear_switch_time=REAL,
    clutch_strength=REAL,
    final_ratio=REAL,
    forward_gears=sequence(struct(GearMessage, ratio=REAL, down_ratio=REAL, up_ratio=REAL)),
    mass=REAL,
    drag_coefficient=REAL,
    center_of_mass=VECTOR,
    steering_curve=sequence(VECTOR2),
    wheels=sequence(_WHEEL),
    use_sweep_wheel_collision=FLAG,
)


class PhysicsBook:
    """What clients have set for vehicles: the engine has fewer constants, and reading back must give all of them."""

    def __init__(self) -> None:
        self._written: dict[int, PhysicsMessage] = {}

    def forget(self, actor_id: int) -> None:
        """The vehicle is gone."""
        self._written.pop(actor_id, None)

    def read(self, vehicle: Vehicle) -> PhysicsMessage:
        """The constants of a vehicle, with its wheels where they are now."""
        message = self._written.get(vehicle.id) or _message(vehicle)
        places = _wheel_places(vehicle)
        wheels = [
            replace(wheel, position=place, tire_friction=own.friction)
            for wheel, place, own in zip(
                message.wheels, places, vehicle.physics.wheels, strict=False
            )
        ]
        return replace(message, wheels=wheels)

    def write(self, vehicle: Vehicle, message: PhysicsMessage) -> None:
        """Change the constants of a vehicle; the places of its wheels and the centre of mass stay.

        Raises
        ------
        BadInput
            From the engine, if they make no vehicle.
        """
        old = vehicle.physics
        vehicle.physics = VehiclePhysics(
            torque_curve=tuple((rpm, torque) for rpm, torque in message.torque_curve),
            max_rpm=message.max_rpm,
            engine_inertia=message.moi,
            damping_full=message.damping_rate_full_throttle,
            damping_zero=message.damping_rate_zero_throttle_clutch_engaged,
            autobox=message.use_gear_autobox,
            switch_time=message.gear_switch_time,
            final_ratio=message.final_ratio,
            gears=tuple(
                Gear(gear.ratio, gear.down_ratio, gear.up_ratio)
                for gear in message.forward_gears[:_MAX_GEARS]
            ),
            mass=message.mass,
            drag_area=message.drag_coefficient * _front(vehicle),
            steering_curve=tuple((speed, share) for speed, share in message.steering_curve),
            wheels=tuple(
                Wheel(
                    max_steer=math.radians(wheel.max_steer_angle),
                    radius=wheel.radius / _CM,
                    max_brake_torque=wheel.max_brake_torque,
                    max_handbrake_torque=wheel.max_handbrake_torque,
                    friction=wheel.tire_friction,
                    position=before.position,
                )
                for wheel, before in zip(message.wheels, old.wheels, strict=False)
            ),
        )
        self._written[vehicle.id] = message


def _front(vehicle: Actor) -> float:
    """The area that a vehicle shows to the wind, m²: width times height, as PhysX takes it."""
    _, half_width, half_height = vehicle.bounding_box.half_extent
    return 4.0 * half_width * half_height


def _message(vehicle: Vehicle) -> PhysicsMessage:
    physics = vehicle.physics
    return PhysicsMessage(
        torque_curve=list(physics.torque_curve),
        max_rpm=physics.max_rpm,
        moi=physics.engine_inertia,
        damping_rate_full_throttle=physics.damping_full,
        damping_rate_zero_throttle_clutch_engaged=physics.damping_zero,
        damping_rate_zero_throttle_clutch_disengaged=physics.damping_zero,
        use_gear_autobox=physics.autobox,
        gear_switch_time=physics.switch_time,
        clutch_strength=10.0,
        final_ratio=physics.final_ratio,
        forward_gears=[GearMessage(gear.ratio, gear.down, gear.up) for gear in physics.gears],
        mass=physics.mass,
        drag_coefficient=physics.drag_area / _front(vehicle),
        center_of_mass=(0.0, 0.0, 0.0),
        steering_curve=list(physics.steering_curve),
        wheels=[
            WheelMessage(
                tire_friction=wheel.friction,
                max_steer_angle=math.degrees(wheel.max_steer),
                radius=wheel.radius * _CM,
                max_brake_torque=wheel.max_brake_torque,
                max_handbrake_torque=wheel.max_handbrake_torque,
            )
            for wheel in physics.wheels
        ],
    )


def _wheel_places(vehicle: Vehicle) -> list[Any]:
    matrix = vehicle.pose.matrix()
    local = np.array([wheel.position for wheel in vehicle.physics.wheels]).reshape(-1, 3)
    places: list[Any] = ((local @ matrix[:3, :3].T + matrix[:3, 3]) * _CM).tolist()
    return places


@dataclass(frozen=True, slots=True)
class WheelTelemetry:
    """One wheel of a vehicle that rolls without slip and carries its share of the weight."""

    tire_friction: float
    lat_slip: float
    long_slip: float
    omega: float
    tire_load: float
    normalized_tire_load: float
    torque: float
    long_force: float
    lat_force: float
    normalized_long_force: float
    normalized_lat_force: float


@dataclass(frozen=True, slots=True)
class Telemetry:
    """``carla.VehicleTelemetryData`` field by field; metres a second, newtons."""

    speed: float
    steer: float
    throttle: float
    brake: float
    engine_rpm: float
    gear: int
    drag: float
    wheels: list[WheelTelemetry]


TELEMETRY: Codec[Telemetry] = struct(
    Telemetry,
    speed=REAL,
    steer=REAL,
    throttle=REAL,
    brake=REAL,
    engine_rpm=REAL,
    gear=I32,
    drag=REAL,
    wheels=sequence(
        struct(
            WheelTelemetry,
            tire_friction=REAL,
            lat_slip=REAL,
            long_slip=REAL,
            omega=REAL,
            tire_load=REAL,
            normalized_tire_load=REAL,
            torque=REAL,
            long_force=REAL,
            lat_force=REAL,
            normalized_long_force=REAL,
            normalized_lat_force=REAL,
        )
    ),
)


def telemetry(vehicle: Vehicle) -> Telemetry:
    """The telemetry of a vehicle: forces are its mass times its acceleration, shared by the wheels."""
    physics, control, speed = vehicle.physics, vehicle.control, vehicle.speed
    axes = vehicle.pose.matrix()[:3, :3]
    share = physics.mass / max(len(physics.wheels), 1)
    ahead, left, _ = (axes.T @ vehicle.acceleration * share).tolist()
    load = share * _GRAVITY
    return Telemetry(
        speed=speed,
        steer=control.steer,
        throttle=control.throttle,
        brake=control.brake,
        engine_rpm=vehicle.engine_rpm,
        gear=control.gear,
        drag=0.5 * 1.2 * physics.drag_area * speed * speed,
        wheels=[
            WheelTelemetry(
                tire_friction=wheel.friction,
                lat_slip=0.0,
                long_slip=0.0,
                omega=speed / wheel.radius,
                tire_load=load,
                normalized_tire_load=1.0,
                torque=ahead * wheel.radius,
                long_force=ahead,
                lat_force=-left,
                normalized_long_force=ahead / load,
                normalized_lat_force=-left / load,
            )
            for wheel in physics.wheels
        ],
    )
