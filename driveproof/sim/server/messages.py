"""The message tables of the protocol, which are also the door between CARLA's frame and the world's.

Outside: left-handed (y right), degrees. Inside: right-handed (y left), radians. Every codec below turns one into
the other, exactly to float32 both ways; angles leave in (-180, 180].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from driveproof.sim.engine import (
    AckermannControl,
    AckermannSettings,
    Pose3,
    VehicleControl,
    WalkerControl,
    Weather,
)
from driveproof.sim.server.wire import (
    ANY,
    BLOB,
    FLAG,
    I32,
    REAL,
    TEXT,
    U8,
    U32,
    U64,
    Codec,
    Wire,
    mapped,
    optional,
    row,
    sequence,
    struct,
)

Vector = tuple[float, float, float]
#: The attitude of what is not turned.
LEVEL = Pose3()


@dataclass(frozen=True, slots=True)
class Description:
    """What a client asks to spawn, or what an actor is: blueprint number and id, and its attributes."""

    uid: int
    type_id: str
    attributes: dict[str, tuple[int, str]]

    @property
    def values(self) -> dict[str, str]:
        """Attribute texts by their ids."""
        return {key: value for key, (_, value) in self.attributes.items()}


@dataclass(frozen=True, slots=True)
class BoxMessage:
    """A box: centre and half sizes in metres, attitude in a pose without place, and whose it is (0 nobody's)."""

    offset: Vector
    half_extent: Vector
    rotation: Pose3 = LEVEL
    actor_id: int = 0


@dataclass(frozen=True, slots=True)
class ActorMessage:
    """An actor as a client learns of it once; ``token`` is empty unless it is a sensor with a stream."""

    actor_id: int
    parent_id: int
    description: Description
    box: BoxMessage
    tags: bytes
    token: bytes


@dataclass(frozen=True, slots=True)
class Settings:
    """Episode settings with CARLA's defaults; a delta of None is variable."""

    synchronous_mode: bool = False
    no_rendering_mode: bool = False
    fixed_delta_seconds: float | None = None
    substepping: bool = True
    max_substep_delta_time: float = 0.01
    max_substeps: int = 10
    max_culling_distance: float = 0.0
    deterministic_ragdolls: bool = True
    tile_stream_distance: float = 3000.0
    actor_active_distance: float = 2000.0
    spectator_as_ego: bool = True


@dataclass(frozen=True, slots=True)
class EnvironmentObject:
    """A part of the town: pose, box in the world, number, name and semantic tag."""

    pose: Pose3
    box: BoxMessage
    key: int
    name: str
    label: int


def _degrees(radians: float) -> float:
    degrees = math.degrees(radians)
    # Angles that are within bounds already are left alone, to the last bit.
    return degrees if -180.0 < degrees <= 180.0 else 180.0 - (180.0 - degrees) % 360.0


def _flip(wire: Sequence[float]) -> Vector:
    x, y, z = wire
    return float(x), 0.0 - float(y), float(z)


def _flip_axis(wire: Sequence[float]) -> Vector:
    # A vector about which something turns is a pseudo-vector: a mirror turns its other two components.
    x, y, z = wire
    return 0.0 - float(x), float(y), 0.0 - float(z)


def _axis_in(wire: Sequence[float]) -> Vector:
    x, y, z = _flip_axis(wire)
    return math.radians(x), math.radians(y), math.radians(z)


def _axis_out(value: Sequence[float]) -> Vector:
    x, y, z = _flip_axis(value)
    return math.degrees(x), math.degrees(y), math.degrees(z)


def _rotation_in(wire: Sequence[float]) -> Pose3:
    pitch, yaw, roll = wire
    return Pose3(roll=math.radians(roll), pitch=math.radians(pitch), yaw=0.0 - math.radians(yaw))


def _rotation_out(pose: Pose3) -> Vector:
    return _degrees(pose.pitch), _degrees(0.0 - pose.yaw), _degrees(pose.roll)


def _pose_in(parts: Sequence[Any]) -> Pose3:
    (x, y, z), (pitch, yaw, roll) = parts
    return Pose3(x, 0.0 - y, z, math.radians(roll), math.radians(pitch), 0.0 - math.radians(yaw))


def _pose_out(pose: Pose3) -> tuple[Vector, Vector]:
    return (pose.x, 0.0 - pose.y, pose.z), _rotation_out(pose)


def _triple(values: Sequence[float]) -> Vector:
    x, y, z = values
    return float(x), float(y), float(z)


_REALS3 = row(REAL, REAL, REAL)

#: Sizes, which have no handedness.
EXTENT: Codec[Vector] = mapped(_REALS3, _triple, _triple)
#: Places, directions, velocities, forces.
VECTOR: Codec[Vector] = mapped(_REALS3, _flip, _flip)
#: Torques and the like.
AXIS: Codec[Vector] = mapped(_REALS3, _flip_axis, _flip_axis)
#: Angular velocities, degrees a second outside.
SPIN: Codec[Vector] = mapped(_REALS3, _axis_in, _axis_out)
#: A rotation alone.
ROTATION: Codec[Pose3] = mapped(_REALS3, _rotation_in, _rotation_out)
#: A transform.
POSE: Codec[Pose3] = mapped(row(_REALS3, _REALS3), _pose_in, _pose_out)
VECTOR2: Codec[tuple[Any, ...]] = row(REAL, REAL)
BOX: Codec[BoxMessage] = struct(
    BoxMessage, offset=VECTOR, half_extent=EXTENT, rotation=ROTATION, actor_id=U32
)

SETTINGS: Codec[Settings] = struct(
    Settings,
    synchronous_mode=FLAG,
    no_rendering_mode=FLAG,
    fixed_delta_seconds=optional(REAL),
    substepping=FLAG,
    max_substep_delta_time=REAL,
    max_substeps=I32,
    max_culling_distance=REAL,
    deterministic_ragdolls=FLAG,
    tile_stream_distance=REAL,
    actor_active_distance=REAL,
    spectator_as_ego=FLAG,
)

WEATHER: Codec[Weather] = struct(
    Weather,
    cloudiness=REAL,
    precipitation=REAL,
    precipitation_deposits=REAL,
    wind_intensity=REAL,
    sun_azimuth_angle=REAL,
    sun_altitude_angle=REAL,
    fog_density=REAL,
    fog_distance=REAL,
    fog_falloff=REAL,
    wetness=REAL,
    scattering_intensity=REAL,
    mie_scattering_scale=REAL,
    rayleigh_scattering_scale=REAL,
    dust_storm=REAL,
)

_ATTRIBUTES: Codec[dict[str, tuple[int, str]]] = mapped(
    sequence(row(TEXT, U8, TEXT)),
    lambda rows: {key: (kind, value) for key, kind, value in rows},
    lambda values: [(key, kind, value) for key, (kind, value) in values.items()],
)
DESCRIPTION: Codec[Description] = struct(Description, uid=U32, type_id=TEXT, attributes=_ATTRIBUTES)
ACTOR: Codec[ActorMessage] = struct(
    ActorMessage,
    actor_id=U32,
    parent_id=U32,
    description=DESCRIPTION,
    box=BOX,
    tags=BLOB,
    token=BLOB,
)
TOKEN: Codec[tuple[Any, ...]] = row(BLOB)
EPISODE: Codec[tuple[Any, ...]] = row(U64, TOKEN)
MAP: Codec[tuple[Any, ...]] = row(TEXT, sequence(POSE))

CONTROL: Codec[VehicleControl] = struct(
    VehicleControl,
    throttle=REAL,
    steer=REAL,
    brake=REAL,
    hand_brake=FLAG,
    reverse=FLAG,
    manual_gear_shift=FLAG,
    gear=I32,
)
ACKERMANN: Codec[AckermannControl] = struct(
    AckermannControl, steer=REAL, steer_speed=REAL, speed=REAL, acceleration=REAL, jerk=REAL
)
ACKERMANN_SETTINGS: Codec[AckermannSettings] = struct(
    AckermannSettings,
    speed_kp=REAL,
    speed_ki=REAL,
    speed_kd=REAL,
    accel_kp=REAL,
    accel_ki=REAL,
    accel_kd=REAL,
)
WALKER_CONTROL: Codec[WalkerControl] = struct(
    WalkerControl, direction=VECTOR, speed=REAL, jump=FLAG
)


def _flags_in(wire: Wire) -> int:
    # A struct of one field as an argument of its own, a bare number inside a batch.
    return U32.decode(wire[0] if type(wire) is list and wire else wire)


#: Which lamps of a vehicle are on.
LAMPS: Codec[int] = Codec(_flags_in, lambda flags: [flags])

LABELLED_POINT: Codec[tuple[Any, ...]] = row(VECTOR, U8)
ENVIRONMENT_OBJECT: Codec[EnvironmentObject] = struct(
    EnvironmentObject, pose=POSE, box=BOX, key=U64, name=TEXT, label=U8
)
#: A street lamp: id, place, intensity, group, colour, whether it is on.
STREET_LIGHT: Codec[tuple[Any, ...]] = row(I32, VECTOR, REAL, U8, row(U8, U8, U8), FLAG)
TRAFFIC_MANAGER: Codec[tuple[Any, ...]] = row(TEXT, U32)
#: Bones of a walker: name, pose in the world, in the walker's frame, and in its parent bone's.
BONES: Codec[tuple[Any, ...]] = row(sequence(row(TEXT, POSE, POSE, POSE)))
#: Parameters of a world made from OpenDRIVE, of which none is used here.
OPENDRIVE_PARAMETERS: Codec[Any] = ANY
