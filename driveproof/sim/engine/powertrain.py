"""How vehicles move on their wheels: engine, gearbox, brakes, steering and tyres; compiled by numba.

Lengthwise: engine torque over speed times throttle, minus engine drag, through the gear in use; against it brakes,
rolling and air drag, and along it the road's slope. Sideways: the kinematic bicycle about the rear axle (R. Rajamani,
Vehicle Dynamics and Control, 2nd ed., section 2.2), which tyres enforce only as far as they grip: a vehicle that
was hit or turns too fast slides.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.sim.engine.table import ActorTable
from driveproof.sim.engine.vehicle_physics import AIR_DENSITY, GRAVITY, ROLLING
from driveproof.sim.engine.vehicle_table import TORQUE_SAMPLES, VehicleTable

THROTTLE, STEER, BRAKE, HAND, REVERSE, MANUAL, GEAR = range(7)

#: Drive grows with throttle to this power (fitted), and the gearbox shifts up this much later at less throttle.
_THROTTLE_POWER = 1.41
_LATER_SHIFT, _LATEST_SHIFT = 0.65, 0.97
#: Full lock to full lock takes 2 / this seconds.
_STEER_RATE = 4.0
#: Without throttle a standing vehicle holds itself on slopes up to this share of its weight, below this speed.
_HOLD, _STANDING = 0.2, 0.15
#: Engine speed at a stand, rad/s.
_IDLE = 60.0


def drive(table: ActorTable, vehicles: VehicleTable, dt: float) -> Float:
    """Change velocities and yaw rates of the vehicles that stand on wheels; returns how far they go.

    Parameters
    ----------
    dt
        Seconds.

    Returns
    -------
    shift
        ``[V, 2]`` metres in the plane during ``dt``, along the arc that they drive.
    """
    shift = np.empty((len(vehicles), 2))
    _drive(table.records, vehicles.records, shift, dt)
    return shift


def engine_speed(table: ActorTable, vehicles: VehicleTable) -> Float:
    """``[V]`` rad/s; at least the idle speed."""
    rows = vehicles.row
    yaw = table.rotation[rows, 2]
    velocity = table.velocity[rows, :2]
    along = velocity[:, 0] * np.cos(yaw) + velocity[:, 1] * np.sin(yaw)
    ratio = vehicles.ratio[np.arange(len(vehicles)), vehicles.gear + 1]
    return np.asarray(np.maximum(np.abs(along) * ratio / vehicles.radius, _IDLE))


@numba.njit(nogil=True, cache=True)
def _drive(actors: Any, vehicles: Any, shift: Float, dt: float) -> None:
    for k in range(len(vehicles)):
        vehicle = vehicles[k]
        actor = actors[vehicle.row]
        vx, vy, rate = actor.velocity[0], actor.velocity[1], actor.angular_velocity[2]
        if not (actor.physics and actor.grounded and actor.gravity):
            shift[k, 0], shift[k, 1] = vx * dt, vy * dt
            continue
        yaw = actor.rotation[2]
        cos, sin = math.cos(yaw), math.sin(yaw)
        ahead = vehicle.push[0] * cos + vehicle.push[1] * sin
        left = vehicle.push[1] * cos - vehicle.push[0] * sin
        slope = math.tan(actor.rotation[1])
        speed = _lengthwise(vehicle, actor.mass, vx * cos + vy * sin, slope, ahead, dt)
        if vehicle.cruising:
            speed = vehicle.cruise[0]
        side, turn = _sideways(vehicle, actor.mass, speed, vy * cos - vx * sin, rate, left, dt)
        middle = yaw + turn * dt / 2.0
        cos, sin = math.cos(middle) * dt, math.sin(middle) * dt
        shift[k, 0], shift[k, 1] = speed * cos - side * sin, speed * sin + side * cos
        cos, sin = math.cos(yaw + turn * dt), math.sin(yaw + turn * dt)
        actor.velocity[0], actor.velocity[1] = speed * cos - side * sin, speed * sin + side * cos
        actor.angular_velocity[2] = turn


@numba.njit(nogil=True, cache=True)
def _lengthwise(
    vehicle: Any, mass: float, along: float, slope: float, pushed: float, dt: float
) -> float:
    """Speed along the heading after ``dt``, where the ground rises by ``slope`` a metre and ``pushed`` newtons push."""
    throttle = vehicle.control[THROTTLE]
    _shift(vehicle, along, throttle, dt)
    way, lever = 1.0, 0.0
    if vehicle.gear < 0:
        way = -1.0
    if vehicle.gear != 0 and vehicle.shifting <= 0.0:
        lever = vehicle.ratio[vehicle.gear + 1] / vehicle.radius
    turning = along * way * lever
    drag = vehicle.damping_zero + (vehicle.damping_full - vehicle.damping_zero) * throttle
    torque = -drag * min(turning, vehicle.fastest)
    if throttle > 0.0 and turning < vehicle.fastest:
        place = max(turning, 0.0) / vehicle.fastest * (TORQUE_SAMPLES - 1)
        low = min(int(place), TORQUE_SAMPLES - 2)
        below, above = vehicle.torque[low], vehicle.torque[low + 1]
        spare = min(max(vehicle.top_speed - along * way, 0.0), 1.0)
        torque += (below + (place - low) * (above - below)) * throttle**_THROTTLE_POWER * spare
    # what goes through the tyres ends where they slip
    most = vehicle.traction * mass * GRAVITY
    push = _within(way * torque * lever, most)
    force = push - mass * GRAVITY * slope + pushed
    pedal = vehicle.control[BRAKE] * vehicle.brake + vehicle.control[HAND] * vehicle.hand_brake
    resist = min(mass * ROLLING + pedal, most - abs(push) if push * along < 0.0 else most)
    resist += 0.5 * AIR_DENSITY * vehicle.drag_area * along * along
    if abs(along) < _STANDING and throttle < 0.01 and pushed == 0.0:
        resist += _HOLD * mass * GRAVITY
    heavy = mass + vehicle.engine_inertia * lever * lever
    gain = force / heavy
    if abs((heavy - mass) * gain) > most:  # slipping tyres do not turn the engine
        gain = (force - math.copysign(most, force)) / mass
    free = along + gain * dt
    # resistance slows down to a stand and no further
    slowed = max(abs(free) - resist / heavy * dt, 0.0)
    return float(slowed if free > 0.0 else -slowed)


@numba.njit(nogil=True, cache=True)
def _shift(vehicle: Any, along: float, throttle: float, dt: float) -> None:
    """Choose a gear: by hand, or one up or down where the engine's speed asks for it."""
    vehicle.shifting = max(vehicle.shifting - dt, 0.0)
    gear = vehicle.gear
    if vehicle.control[REVERSE] > 0.0:
        wanted = -1
    elif vehicle.control[MANUAL] > 0.0 or not vehicle.autobox:
        wanted = min(max(int(vehicle.control[GEAR]), -1), vehicle.top_gear)
    else:
        wanted = max(gear, 1)
        turning = max(along, 0.0) / vehicle.radius * vehicle.ratio[wanted + 1]
        later = vehicle.up[wanted + 1] * (1.0 + _LATER_SHIFT * (1.0 - throttle))
        if (
            turning > vehicle.fastest
        ):  # put on the road at speed, or pushed: no engine turns so fast
            while wanted < vehicle.top_gear and turning > vehicle.up[wanted + 1]:
                turning *= vehicle.ratio[wanted + 2] / vehicle.ratio[wanted + 1]
                wanted += 1
        elif vehicle.shifting <= 0.0:
            if wanted < vehicle.top_gear and turning > min(later, _LATEST_SHIFT * vehicle.fastest):
                wanted += 1
            elif wanted > 1 and turning < vehicle.down[wanted + 1]:
                wanted -= 1
    if wanted != gear and gear > 0 and wanted > 0:
        vehicle.shifting = vehicle.switch_time
    vehicle.gear = wanted


@numba.njit(nogil=True, cache=True)
def _sideways(
    vehicle: Any, mass: float, speed: float, across: float, rate: float, pushed: float, dt: float
) -> tuple[float, float]:
    """Sideways speed (left) at the origin and yaw rate after ``dt``."""
    share = 1.0
    for part in range(3):
        beyond = max(abs(speed) - vehicle.steer_speeds[part], 0.0)
        share += min(beyond, vehicle.steer_gaps[part]) * vehicle.steer_slopes[part]
    wheels = -vehicle.control[STEER] * vehicle.max_steer * share
    vehicle.steer += _within(wheels - vehicle.steer, _STEER_RATE * vehicle.max_steer * dt)
    grip = vehicle.grip * GRAVITY
    turn = _within(speed * math.tan(vehicle.steer) / vehicle.wheelbase, grip / max(abs(speed), 0.5))
    # tyres pull the body towards the way that its wheels roll, no harder than they grip
    lever = vehicle.wheelbase / 2.0
    spin = rate + vehicle.twist[2] / vehicle.yaw_inertia * dt
    turned = spin + _within(turn - spin, grip * mass * lever / vehicle.yaw_inertia * dt)
    if vehicle.cruising:
        return vehicle.cruise[1] + turned * lever, turned
    slide = across + pushed / mass * dt
    return slide + _within(turned * lever - slide, grip * dt), turned


@numba.njit(nogil=True, cache=True, inline="always")
def _within(value: float, most: float) -> float:
    """``value`` bounded to ``most`` either way."""
    return min(max(value, -most), most)
