"""The physical constants of a vehicle of each class, and their way into the table's columns.

Engine, gearbox and drag were fitted by least squares to recordings of a Lincoln MKZ 2020 in CARLA at throttle 0.4,
0.7 and 1.0 (20 Hz, Town04, the road's slope taken from the map); the ratios are those of the real six-speed gearbox.
Fitted: engine torque over speed (``_ENGINE``), engine drag at full and at no throttle 0.0323 and 0.0930, engine
inertia 0.0529 (a kilogram of vehicle, at the wheels, in a gear of ratio 1), rolling resistance 0.0914 m/s², air drag
0.0006 /m, 0.1386 s without drive a shift (three steps of the recordings), shifts up at 25.1 m/s over the ratio at full throttle and later at less,
and drive growing with throttle to the power of 1.41. Root mean square errors of speed over the whole recordings (up
to 33.4 m/s): 0.08, 0.32 and 0.32 m/s. Other vehicles have the same engine a kilogram, times the strength of their class.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from driveproof.sim.blueprints import VehicleSpec
from driveproof.sim.engine.vehicle_table import (
    GEARS,
    STANDARD_FRICTION,
    TORQUE_SAMPLES,
    Gear,
    VehiclePhysics,
    VehicleTable,
    Wheel,
)

GRAVITY = 9.81
AIR_DENSITY = 1.225
#: Speeds at the wheels in ratio 1 (m/s), and the engine's force there at full throttle a kilogram (m/s²).
_ENGINE = (
    (0.0, 4.0, 8.0, 12.0, 16.0, 20.0, 25.0, 32.0, 42.0),
    (1.3761, 2.0113, 2.3444, 3.2251, 5.5001, 4.315, 5.0967, 5.8585, 5.8585),
)
_RATIOS = (4.584, 2.964, 1.912, 1.446, 1.0, 0.746)
_UP, _HIGHEST = 25.12, 42.0
_DAMPING_FULL, _DAMPING_ZERO, _INERTIA = 0.0323, 0.0930, 0.0529
ROLLING, _AIR_DRAG, _SWITCH_TIME = 0.0914, 0.0006, 0.1386
#: Final ratio: an engine of usual speeds and torques has the fitted forces with it.
_FINAL = 6.6
#: Deceleration of the brakes at full pedal without engine and air, from the same recordings, and of the hand brake, m/s².
_BRAKE, _HAND_BRAKE = 6.2, 5.0
#: What tyres can transmit sideways, as a share of the weight.
_GRIP = 1.0
#: What tyres can transmit lengthwise, as a share of the weight, for each unit of their friction.
_TRACTION = 0.6
#: Engine strength a kilogram relative to the recorded car.
_STRENGTH = {"car": 1.0, "van": 0.75, "truck": 0.5, "bus": 0.5, "motorcycle": 1.3, "bicycle": 0.5}
_STEERING_CURVE = ((0.0, 1.0), (20.0, 0.9), (60.0, 0.8), (120.0, 0.7))


def standard_physics(spec: VehicleSpec) -> VehiclePhysics:
    """The constants of a vehicle of this blueprint; see the module for where they come from."""
    mass, radius = spec.mass, spec.wheel_radius
    lever = radius / _FINAL
    strength = _STRENGTH.get(spec.base_type, 1.0) * mass
    rpm = 30.0 / (math.pi * lever)
    steer = math.radians(spec.max_steer_deg)
    share = mass * radius / 4.0
    half_track = 0.8 * spec.half_extent[1] if spec.wheels > 2 else 0.0
    places = [
        (side * spec.wheelbase / 2.0, lateral, radius)
        for side in (1.0, -1.0)
        for lateral in (half_track, -half_track)
    ]
    return VehiclePhysics(
        torque_curve=tuple(
            (speed * rpm, force * strength * lever) for speed, force in zip(*_ENGINE, strict=True)
        ),
        max_rpm=_HIGHEST * rpm,
        engine_inertia=_INERTIA * strength * lever**2,
        damping_full=_DAMPING_FULL * strength * lever**2,
        damping_zero=_DAMPING_ZERO * strength * lever**2,
        autobox=True,
        switch_time=_SWITCH_TIME,
        final_ratio=_FINAL,
        gears=tuple(
            Gear(ratio, 0.7 * _UP / _HIGHEST * (ratio / lower), _UP / _HIGHEST)
            for ratio, lower in zip(_RATIOS, (_RATIOS[0] * 1.5, *_RATIOS), strict=False)
        ),
        mass=mass,
        drag_area=_AIR_DRAG * 2.0 * mass / AIR_DENSITY,
        steering_curve=_STEERING_CURVE,
        wheels=tuple(
            Wheel(
                max_steer=steer if place[0] > 0.0 else 0.0,
                radius=radius,
                max_brake_torque=_BRAKE * share,
                max_handbrake_torque=2.0 * _HAND_BRAKE * share if place[0] < 0.0 else 0.0,
                position=place,
            )
            for place in places
        ),
    )


def bounded_physics(physics: VehiclePhysics) -> VehiclePhysics:
    """The nearest constants with which a vehicle can be driven: a client may ask for a mass of zero or a gear of 1e38."""
    return VehiclePhysics(
        torque_curve=tuple(
            (_within(rpm, 0.0, 1e6), _within(torque, -1e6, 1e6))
            for rpm, torque in physics.torque_curve
        ),
        max_rpm=_within(physics.max_rpm, 1.0, 1e6),
        engine_inertia=_within(physics.engine_inertia, 0.0, 1e4),
        damping_full=_within(physics.damping_full, 0.0, 1e4),
        damping_zero=_within(physics.damping_zero, 0.0, 1e4),
        autobox=physics.autobox,
        switch_time=_within(physics.switch_time, 0.0, 60.0),
        final_ratio=_within(physics.final_ratio, 1e-3, 1e3),
        gears=tuple(
            Gear(
                _within(gear.ratio, 1e-3, 1e3),
                _within(gear.down, 0.0, 10.0),
                _within(gear.up, 0.0, 10.0),
            )
            for gear in physics.gears
        ),
        mass=_within(physics.mass, 1.0, 1e7),
        drag_area=_within(physics.drag_area, 0.0, 1e4),
        steering_curve=tuple(
            (_within(speed, 0.0, 1e4), _within(share, 0.0, 1.0))
            for speed, share in physics.steering_curve
        ),
        wheels=tuple(
            Wheel(
                max_steer=_within(wheel.max_steer, 0.0, 1.4),
                radius=_within(wheel.radius, 0.05, 10.0),
                max_brake_torque=_within(wheel.max_brake_torque, 0.0, 1e8),
                max_handbrake_torque=_within(wheel.max_handbrake_torque, 0.0, 1e8),
                friction=_within(wheel.friction, 0.0, 1e3),
                position=wheel.position,
            )
            for wheel in physics.wheels
        ),
    )


def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high) if value == value else low


def load_physics(
    table: VehicleTable, slot: int, spec: VehicleSpec, physics: VehiclePhysics
) -> None:
    """Write ``physics`` into the columns of vehicle ``slot``; nonsense (zero mass, no gears) is bounded."""
    for name, value in physics_columns(spec, physics).items():
        getattr(table, name)[slot] = value


def physics_columns(spec: VehicleSpec, physics: VehiclePhysics) -> dict[str, Any]:
    """The values of the columns that hold a vehicle's constants."""
    mass = max(physics.mass, 1.0)
    wheels = physics.wheels or (Wheel(),)
    radius = max(wheels[0].radius, 0.05)
    fastest = max(physics.max_rpm, 1.0) * math.pi / 30.0
    curve = np.array(sorted(physics.torque_curve) or [(0.0, 0.0)], dtype=np.float64)
    speeds = np.linspace(0.0, fastest, TORQUE_SAMPLES)
    gears = physics.gears[: GEARS - 2] or (Gear(1.0, 0.0, 1.0),)
    ratio, up, down = np.zeros(GEARS), np.full(GEARS, np.inf), np.zeros(GEARS)
    for number, gear in enumerate(gears, 2):
        ratio[number] = gear.ratio * physics.final_ratio
        up[number], down[number] = gear.up * fastest, gear.down * fastest
    ratio[0] = ratio[2]
    up[1 + len(gears)], down[2] = np.inf, 0.0
    steering = sorted(physics.steering_curve)[:4] or [(0.0, 1.0)]
    steering += [steering[-1]] * (4 - len(steering))
    knots = np.array([speed / 3.6 for speed, _ in steering]) + np.arange(4) * 1e-6  # none twice
    shares = np.array([share for _, share in steering])
    most = min(max(wheel.max_steer for wheel in wheels), 1.4) * shares[0]
    return {
        "wheelbase": max(spec.wheelbase, 0.3),
        "max_steer": most,
        "steer_speeds": knots[:3],
        "steer_gaps": np.diff(knots),
        "steer_slopes": np.diff(shares) / np.diff(knots) / max(shares[0], 1e-6),
        "grip": _GRIP * min(wheel.friction for wheel in wheels) / STANDARD_FRICTION,
        "traction": _TRACTION * max(min(wheel.friction for wheel in wheels), 0.0),
        "brake": sum(wheel.max_brake_torque for wheel in wheels) / radius,
        "hand_brake": sum(wheel.max_handbrake_torque for wheel in wheels) / radius,
        "drag_area": physics.drag_area,
        "torque": np.interp(speeds, curve[:, 0] * math.pi / 30.0, curve[:, 1]),
        "fastest": fastest,
        "top_speed": spec.max_speed,
        "ratio": ratio,
        "up": up,
        "down": down,
        "top_gear": len(gears),
        "autobox": physics.autobox,
        "switch_time": physics.switch_time,
        "damping_full": physics.damping_full,
        "damping_zero": physics.damping_zero,
        "engine_inertia": physics.engine_inertia,
        "radius": radius,
        "yaw_inertia": mass * (spec.half_extent[0] ** 2 + spec.half_extent[1] ** 2) / 3.0,
    }
