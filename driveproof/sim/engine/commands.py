"""What actors can be told, in CARLA's fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum


@dataclass(frozen=True, slots=True)
class VehicleControl:
    """Pedals 0 to 1, steering -1 to 1 (positive to the right, as CARLA has it), gear (-1 reverse, 0 neutral)."""

    throttle: float = 0.0
    steer: float = 0.0
    brake: float = 0.0
    hand_brake: bool = False
    reverse: bool = False
    manual_gear_shift: bool = False
    gear: int = 0


@dataclass(frozen=True, slots=True)
class AckermannControl:
    """Wheel angle (rad, positive to the right), its rate (rad/s, 0 = at once), speed (m/s), acceleration (m/s²), jerk (m/s³)."""

    steer: float = 0.0
    steer_speed: float = 0.0
    speed: float = 0.0
    acceleration: float = 0.0
    jerk: float = 0.0


@dataclass(frozen=True, slots=True)
class AckermannSettings:
    """Gains of the speed loop (m/s to m/s²) and of the acceleration loop (m/s² to pedal); CARLA's defaults."""

    speed_kp: float = 0.15
    speed_ki: float = 0.0
    speed_kd: float = 0.25
    accel_kp: float = 0.01
    accel_ki: float = 0.0
    accel_kd: float = 0.01


@dataclass(frozen=True, slots=True)
class WalkerControl:
    """World direction (x, y, z; its length does not matter), speed in m/s, and whether to jump."""

    direction: tuple[float, float, float] = (1.0, 0.0, 0.0)
    speed: float = 0.0
    jump: bool = False


class LightState(IntEnum):
    """State of a traffic light, with CARLA's numbers."""

    RED = 0
    YELLOW = 1
    GREEN = 2
    OFF = 3
    UNKNOWN = 4


class Attachment(IntEnum):
    """How a child follows its parent, with CARLA's numbers."""

    RIGID = 0
    SPRING_ARM = 1
    SPRING_ARM_GHOST = 2


class ActorKind(IntEnum):
    """What an actor is, to the world."""

    SPECTATOR = 0
    VEHICLE = 1
    WALKER = 2
    PROP = 3
    SENSOR = 4
    CONTROLLER = 5
    TRAFFIC_LIGHT = 6
    TRAFFIC_SIGN = 7
    OTHER = 8


@dataclass
class Weather:
    """CARLA's fourteen weather parameters (percent, degrees, metres); plain state that the physics ignores."""

    cloudiness: float = 10.0
    precipitation: float = 0.0
    precipitation_deposits: float = 0.0
    wind_intensity: float = 10.0
    sun_azimuth_angle: float = 300.0
    sun_altitude_angle: float = 45.0
    fog_density: float = 2.0
    fog_distance: float = 0.75
    fog_falloff: float = 0.1
    wetness: float = 0.0
    scattering_intensity: float = 1.0
    mie_scattering_scale: float = 0.03
    rayleigh_scattering_scale: float = 0.0331
    dust_storm: float = 0.0


@dataclass(frozen=True, slots=True)
class Box:
    """A box in its actor's frame: centre, half sizes (metres) and attitude (roll, pitch, yaw)."""

    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    half_extent: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass
class LightTiming:
    """A traffic light's state and times in seconds.

    Parameters
    ----------
    state
        What it shows.
    green, yellow, red
        How long it is green and yellow; red is how long the whole group stays red after its yellow.
    elapsed
        Seconds in the present state.
    frozen
        Whether time stands still for it.
    pole_index
        Its number within its group.
    group
        Number of its group: the lights of one junction.
    signal_id
        OpenDRIVE id.
    trigger
        The volume in the light's frame in which a vehicle is governed by it.
    """

    state: LightState = LightState.RED
    green: float = 10.0
    yellow: float = 3.0
    red: float = 2.0
    elapsed: float = 0.0
    frozen: bool = False
    pole_index: int = 0
    group: int = 0
    signal_id: str = ""
    trigger: Box = field(default_factory=Box)
