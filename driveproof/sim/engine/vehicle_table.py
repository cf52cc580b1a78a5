"""All vehicles as columns, and the physical constants that one can read and change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.sim.engine.table import Column, Columns

#: Torque is tabled at this many equally spaced engine speeds from 0 to the highest.
TORQUE_SAMPLES = 43
#: Reverse, neutral and up to eight forward gears.
GEARS = 10

#: CARLA's tyre friction of an ordinary wheel.
STANDARD_FRICTION = 3.5


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel: steering limit (rad), radius (m), torques (N m) and its place in the vehicle's frame (m)."""

    max_steer: float = 0.0
    radius: float = 0.355
    max_brake_torque: float = 1500.0
    max_handbrake_torque: float = 3000.0
    friction: float = STANDARD_FRICTION
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Gear:
    """A forward gear: ratio, and the shares of the highest engine speed at which one shifts down and up."""

    ratio: float
    down: float
    up: float


@dataclass(frozen=True, slots=True)
class VehiclePhysics:
    """Constants of a vehicle, in the manner of CARLA's VehiclePhysicsControl but in SI units.

    Parameters
    ----------
    torque_curve
        Pairs (engine speed in rpm, torque in N m) at full throttle.
    max_rpm
        Highest engine speed.
    engine_inertia
        kg m², felt at the wheels times the square of the ratio.
    damping_full, damping_zero
        Engine drag, N m per rad/s, at full and at no throttle.
    autobox, switch_time, final_ratio, gears
        The gearbox; seconds without drive while it shifts.
    mass
        kg.
    drag_area
        Air drag coefficient times frontal area, m².
    steering_curve
        Pairs (speed in km/h, share of the steering limit).
    wheels
        Front left, front right, rear left, rear right; two-wheelers have pairs side by side, as in CARLA.
    """

    torque_curve: tuple[tuple[float, float], ...]
    max_rpm: float
    engine_inertia: float
    damping_full: float
    damping_zero: float
    autobox: bool
    switch_time: float
    final_ratio: float
    gears: tuple[Gear, ...]
    mass: float
    drag_area: float
    steering_curve: tuple[tuple[float, float], ...]
    wheels: tuple[Wheel, ...]


class VehicleTable(Columns):
    """All living vehicles in the order of their birth; ``row`` says where they are in the actor table.

    Attributes
    ----------
    row
        ``[V]`` row in the actor table.
    control
        ``[V, 7]`` as :class:`~driveproof.sim.engine.commands.VehicleControl` orders it.
    gear
        ``[V]`` gear in use.
    steer
        ``[V]`` angle of the front wheels, radians, positive to the left.
    light_id
        ``[V]`` actor id of the traffic light that governs it, 0 for none.
    light_state
        ``[V]`` what that light shows, GREEN where there is none.
    speed_limit
        ``[V]`` metres a second.
    lamps, doors
        ``[V]`` CARLA's light flags, and a bit for each open door.
    cruising, cruise
        ``[V]`` whether, ``[V, 3]`` the velocity (vehicle frame) at which it is kept.
    shifting
        ``[V]`` seconds left of a change of gear.
    push, twist
        ``[V, 3]`` force (N) and torque (N m) for the next step, world frame.
    wheelbase, max_steer, steer_speeds, steer_gaps, steer_slopes, grip, traction, brake, hand_brake, drag_area, yaw_inertia
        Metres, radians (at no speed), parts ``[V, 3]`` of the steering curve (begin and length in m/s, change a m/s), shares of the weight sideways and lengthwise, forces (N), m², kg m².
    torque, fastest, top_speed, ratio, up, down, top_gear, autobox, switch_time, damping_full, damping_zero,
    engine_inertia, radius
        The drive train: torque ``[V, samples]`` (N m) at engine speeds from 0 to ``fastest`` (rad/s), the speed (m/s)
        that it never exceeds, per gear (reverse first) the total ratio and the engine speeds of shifting.
    """

    row: Int
    control: Float
    gear: Int
    shifting: Float
    steer: Float
    light_id: Int
    light_state: Int
    speed_limit: Float
    lamps: Int
    doors: Int
    cruising: Bool
    cruise: Float
    push: Float
    twist: Float
    wheelbase: Float
    max_steer: Float
    steer_speeds: Float
    steer_gaps: Float
    steer_slopes: Float
    grip: Float
    traction: Float
    brake: Float
    hand_brake: Float
    drag_area: Float
    torque: Float
    fastest: Float
    top_speed: Float
    ratio: Float
    up: Float
    down: Float
    top_gear: Int
    autobox: Bool
    switch_time: Float
    damping_full: Float
    damping_zero: Float
    engine_inertia: Float
    radius: Float
    yaw_inertia: Float

    COLUMNS: ClassVar[dict[str, Column]] = {
        "row": (np.int64, ()),
        "control": (np.float64, (7,)),
        "gear": (np.int64, ()),
        "shifting": (np.float64, ()),
        "steer": (np.float64, ()),
        "light_id": (np.int64, ()),
        "light_state": (np.int64, ()),
        "speed_limit": (np.float64, ()),
        "lamps": (np.int64, ()),
        "doors": (np.int64, ()),
        "cruising": (np.bool_, ()),
        "cruise": (np.float64, (3,)),
        "push": (np.float64, (3,)),
        "twist": (np.float64, (3,)),
        "wheelbase": (np.float64, ()),
        "max_steer": (np.float64, ()),
        "steer_speeds": (np.float64, (3,)),
        "steer_gaps": (np.float64, (3,)),
        "steer_slopes": (np.float64, (3,)),
        "grip": (np.float64, ()),
        "traction": (np.float64, ()),
        "brake": (np.float64, ()),
        "hand_brake": (np.float64, ()),
        "drag_area": (np.float64, ()),
        "torque": (np.float64, (TORQUE_SAMPLES,)),
        "fastest": (np.float64, ()),
        "top_speed": (np.float64, ()),
        "ratio": (np.float64, (GEARS,)),
        "up": (np.float64, (GEARS,)),
        "down": (np.float64, (GEARS,)),
        "top_gear": (np.int64, ()),
        "autobox": (np.bool_, ()),
        "switch_time": (np.float64, ()),
        "damping_full": (np.float64, ()),
        "damping_zero": (np.float64, ()),
        "engine_inertia": (np.float64, ()),
        "radius": (np.float64, ()),
        "yaw_inertia": (np.float64, ()),
    }
