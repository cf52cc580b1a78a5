"""Driving, physics constants, lamps and doors of vehicles."""

from __future__ import annotations

import math

from driveproof.sim.engine import (
    AckermannControl,
    AckermannSettings,
    Vehicle,
    VehicleControl,
)
from driveproof.sim.server.messages import (
    ACKERMANN,
    ACKERMANN_SETTINGS,
    CONTROL,
    LAMPS,
    VECTOR,
    Vector,
)
from driveproof.sim.server.physics import PHYSICS, TELEMETRY, PhysicsMessage, Telemetry, telemetry
from driveproof.sim.server.registry import Refused, rpc
from driveproof.sim.server.rpc import Client
from driveproof.sim.server.wire import FLAG, REAL, U8, U32, row, sequence

#: The number that means every door.
ALL_DOORS = 6


def _vehicle(client: Client, key: int) -> Vehicle:
    return client.world.episode.vehicle(key)


@rpc(U32, CONTROL)
def apply_control_to_vehicle(client: Client, key: int, control: VehicleControl) -> None:
    """Set pedals, wheel and gear; they hold until the next control."""
    _vehicle(client, key).control = control


@rpc(U32, ACKERMANN)
def apply_ackermann_control_to_vehicle(client: Client, key: int, control: AckermannControl) -> None:
    """Drive by wheel angle, speed and acceleration."""
    _vehicle(client, key).ackermann = control


@rpc(U32, returns=ACKERMANN_SETTINGS)
def get_ackermann_controller_settings(client: Client, key: int) -> AckermannSettings:
    """Gains of the Ackermann controller."""
    return _vehicle(client, key).ackermann_settings


@rpc(U32, ACKERMANN_SETTINGS)
def apply_ackermann_controller_settings(
    client: Client, key: int, settings: AckermannSettings
) -> None:
    """Change the gains of the Ackermann controller."""
    _vehicle(client, key).ackermann_settings = settings


@rpc(U32, VECTOR)
def enable_actor_constant_velocity(client: Client, key: int, velocity: Vector) -> None:
    """Keep this velocity in the vehicle's own frame whatever the control says."""
    _vehicle(client, key).constant_velocity = velocity


@rpc(U32)
def disable_actor_constant_velocity(client: Client, key: int) -> None:
    """Obey the control again."""
    _vehicle(client, key).constant_velocity = None


@rpc(U32, FLAG)
def set_actor_autopilot(client: Client, key: int, enabled: bool) -> None:
    """Nothing: the autopilot is the client's traffic manager."""


@rpc(U32, FLAG)
def show_vehicle_debug_telemetry(client: Client, key: int, enabled: bool) -> None:
    """Nothing: there is no screen."""


@rpc(U32, returns=PHYSICS)
def get_physics_control(client: Client, key: int) -> PhysicsMessage:
    """The physics constants of a vehicle."""
    return client.world.episode.physics.read(_vehicle(client, key))


@rpc(U32, PHYSICS)
def apply_physics_control(client: Client, key: int, message: PhysicsMessage) -> None:
    """Change the physics constants of a vehicle."""
    client.world.episode.physics.write(_vehicle(client, key), message)


@rpc(U32, returns=TELEMETRY)
def get_telemetry_data(client: Client, key: int) -> Telemetry:
    """Speed, pedals, engine and wheels of a vehicle, computed from its motion."""
    return telemetry(_vehicle(client, key))


@rpc(U32, returns=LAMPS)
def get_vehicle_light_state(client: Client, key: int) -> int:
    """Which lamps are on."""
    return _vehicle(client, key).light_flags


@rpc(U32, LAMPS)
def set_vehicle_light_state(client: Client, key: int, flags: int) -> None:
    """Switch lamps."""
    _vehicle(client, key).light_flags = flags


@rpc(returns=sequence(row(U32, U32)))
def get_vehicle_light_states(client: Client) -> list[tuple[int, int]]:
    """The lamps of all vehicles."""
    actors = client.world.episode.engine.actors.values()
    return [(actor.id, actor.light_flags) for actor in actors if isinstance(actor, Vehicle)]


def _set_door(client: Client, key: int, door: int, is_open: bool) -> None:
    vehicle = _vehicle(client, key)
    if door > ALL_DOORS:
        raise Refused(f"no door {door}")
    vehicle.set_door(door, is_open)


@rpc(U32, U8)
def open_vehicle_door(client: Client, key: int, door: int) -> None:
    """Open a door, or all."""
    _set_door(client, key, door, True)


@rpc(U32, U8)
def close_vehicle_door(client: Client, key: int, door: int) -> None:
    """Close a door, or all."""
    _set_door(client, key, door, False)


@rpc(U32, U8, REAL)
def set_wheel_steer_direction(client: Client, key: int, wheel: int, degrees: float) -> None:
    """Turn the picture of a wheel; it steers nothing."""
    vehicle = _vehicle(client, key)
    if wheel >= len(vehicle.physics.wheels):
        raise Refused(f"no wheel {wheel}")
    client.world.episode.wheel_angles.setdefault(vehicle.id, {})[wheel] = degrees


@rpc(U32, U8, returns=REAL)
def get_wheel_steer_angle(client: Client, key: int, wheel: int) -> float:
    """The angle of a wheel in degrees, positive to the right."""
    vehicle = _vehicle(client, key)
    wheels = vehicle.physics.wheels
    if wheel >= len(wheels):
        raise Refused(f"no wheel {wheel}")
    shown = client.world.episode.wheel_angles.get(vehicle.id, {})
    if wheel in shown:
        return shown[wheel]
    return float(vehicle.control.steer * math.degrees(wheels[wheel].max_steer))
