"""How vehicles move on their wheels: engine, gearbox, brakes, steering and tyres, for all vehicles at once.

Lengthwise: engine torque over speed times throttle, minus engine drag, through the gear in use; against it brakes,
rolling and air drag, and along it the road's slope. Sideways: the kinematic bicycle about the rear axle (R. Rajamani,
Vehicle Dynamics and Control, 2nd ed., section 2.2), which tyres enforce only as far as they grip: a vehicle that
was hit or turns too fast slides.
"""

from __future__ import annotations

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.sim.engine.table import ActorTable
from driveproof.sim.engine.vehicle_physics import AIR_DENSITY, GRAVITY, ROLLING
from driveproof.sim.engine.vehicle_table import TORQUE_SAMPLES, VehicleTable

THROTTLE, STEER, BRAKE, HAND, REVERSE, MANUAL, GEAR = range(7)

#: Drive grows with throttle to this power (fitted), and the gearbox shifts up this much later at less throttle.
_THROTTLE_POWER = 1.41
_LATER_SHIFT = 0.65
#: Full lock to full lock takes 2 / this seconds.
_STEER_RATE = 4.0
#: Without throttle a standing vehicle holds itself on slopes up to this share of its weight, below this speed.
_HOLD, _STANDING = 0.2, 0.15
#: The engine reaches its drive within the speed that it idles at, so a vehicle can start (rad/s).
_IDLE = 60.0


def drive(table: ActorTable, vehicles: VehicleTable, slope: Float, dt: float) -> Float:
    """Change velocities and yaw rates of the vehicles that stand on wheels; returns how far they go.

    Parameters
    ----------
    slope
        ``[V]`` rise of the ground per metre along the heading.
    dt
        Seconds.

    Returns
    -------
    shift
        ``[V, 2]`` metres in the plane during ``dt``, along the arc that they drive.
    """
    rows = vehicles.row
    yaw = table.rotation[rows, 2]
    cos, sin = np.cos(yaw), np.sin(yaw)
    velocity = table.velocity[rows, :2]
    rate = table.angular_velocity[rows, 2]
    along = velocity[:, 0] * cos + velocity[:, 1] * sin
    across = velocity[:, 1] * cos - velocity[:, 0] * sin
    driven = table.physics[rows] & table.grounded[rows]
    mass = table.mass[rows]
    push = vehicles.push
    pushed = (push[:, 0] * cos + push[:, 1] * sin, push[:, 1] * cos - push[:, 0] * sin)
    speed = _lengthwise(vehicles, mass, along, slope, pushed[0], dt)
    if vehicles.cruising.any():
        speed = np.where(vehicles.cruising, vehicles.cruise[:, 0], speed)
    side, turn = _sideways(vehicles, mass, speed, across, rate, pushed[1], dt)
    middle, yaw = yaw + turn * (dt / 2.0), yaw + turn * dt
    cos, sin = np.cos(middle), np.sin(middle)
    shift = np.empty_like(velocity)
    shift[:, 0], shift[:, 1] = (speed * cos - side * sin) * dt, (speed * sin + side * cos) * dt
    cos, sin = np.cos(yaw), np.sin(yaw)
    now = np.empty_like(velocity)
    now[:, 0], now[:, 1] = speed * cos - side * sin, speed * sin + side * cos
    if driven.all():
        table.velocity[rows, :2], table.angular_velocity[rows, 2] = now, turn
        return shift
    moved = rows[driven]
    table.velocity[moved, :2], table.angular_velocity[moved, 2] = now[driven], turn[driven]
    return np.where(driven[:, None], shift, velocity * dt)


def engine_speed(table: ActorTable, vehicles: VehicleTable) -> Float:
    """``[V]`` rad/s; at least the idle speed."""
    rows = vehicles.row
    yaw = table.rotation[rows, 2]
    velocity = table.velocity[rows, :2]
    along = velocity[:, 0] * np.cos(yaw) + velocity[:, 1] * np.sin(yaw)
    ratio = vehicles.ratio[np.arange(len(vehicles)), vehicles.gear + 1]
    return np.asarray(np.maximum(np.abs(along) * ratio / vehicles.radius, _IDLE))


def _lengthwise(
    vehicles: VehicleTable, mass: Float, along: Float, slope: Float, pushed: Float, dt: float
) -> Float:
    """``[V]`` speed along the heading after ``dt``."""
    control = vehicles.control
    throttle = control[:, THROTTLE]
    every = np.arange(len(vehicles))
    _shift(vehicles, along, throttle, dt)
    gear = vehicles.gear
    engaged = (gear != 0) & (vehicles.shifting <= 0.0)
    way = np.where(gear < 0, -1.0, 1.0)
    lever = np.where(engaged, vehicles.ratio[every, gear + 1] / vehicles.radius, 0.0)
    turning = along * way * lever
    place = np.minimum(np.maximum(turning, 0.0) / vehicles.fastest, 1.0) * (TORQUE_SAMPLES - 1)
    low = np.minimum(place.astype(np.int64), TORQUE_SAMPLES - 2)
    below, above = vehicles.torque[every, low], vehicles.torque[every, low + 1]
    torque = below + (place - low) * (above - below)
    spare = np.minimum(np.maximum(vehicles.top_speed - along * way, 0.0), 1.0)
    torque *= throttle**_THROTTLE_POWER * spare * (turning < vehicles.fastest)
    damping = vehicles.damping_zero + (vehicles.damping_full - vehicles.damping_zero) * throttle
    drag = damping * np.minimum(turning, vehicles.fastest)
    force = way * (torque - drag) * lever - mass * GRAVITY * slope + pushed
    heavy = mass + vehicles.engine_inertia * lever**2
    resist = mass * ROLLING + 0.5 * AIR_DENSITY * vehicles.drag_area * along**2
    pedal = control[:, BRAKE] * vehicles.brake + control[:, HAND] * vehicles.hand_brake
    resist += np.minimum(pedal, vehicles.grip * mass * GRAVITY)
    resting = (np.abs(along) < _STANDING) & (throttle < 0.01) & (pushed == 0.0)
    resist += np.where(resting, _HOLD * mass * GRAVITY, 0.0)
    free = along + force / heavy * dt
    return np.asarray(np.sign(free) * np.maximum(np.abs(free) - resist / heavy * dt, 0.0))


def _shift(vehicles: VehicleTable, along: Float, throttle: Float, dt: float) -> None:
    """Choose gears: by hand, or one up or down where the engine's speed asks for it."""
    every = np.arange(len(vehicles))
    control, gear = vehicles.control, vehicles.gear
    vehicles.shifting[:] = np.maximum(vehicles.shifting - dt, 0.0)
    reverse = control[:, REVERSE] > 0.0
    forward = np.maximum(gear, 1)
    turning = np.maximum(along, 0.0) * vehicles.ratio[every, forward + 1] / vehicles.radius
    later = vehicles.up[every, forward + 1] * (1.0 + _LATER_SHIFT * (1.0 - throttle))
    free = vehicles.shifting <= 0.0
    up = (
        free
        & (turning > np.minimum(later, 0.97 * vehicles.fastest))
        & (forward < vehicles.top_gear)
    )
    down = free & (turning < vehicles.down[every, forward + 1]) & (forward > 1)
    wanted = np.where(reverse, -1, forward + up - down)
    if (
        turning > vehicles.fastest
    ).any():  # put on the road at speed, or pushed: no engine turns so fast
        fits = along[:, None] * vehicles.ratio[:, 2:] <= (
            vehicles.up[:, 2:] * vehicles.radius[:, None]
        )
        wanted = np.where(turning > vehicles.fastest, fits.argmax(1) + 1, wanted)
    manual = (control[:, MANUAL] > 0.0) | ~vehicles.autobox
    if manual.any():
        wished = np.clip(control[:, GEAR].astype(np.int64), -1, vehicles.top_gear)
        wanted = np.where(manual, np.where(reverse, -1, wished), wanted)
    changed = (wanted != gear) & (gear > 0) & (wanted > 0)
    vehicles.shifting[changed] = vehicles.switch_time[changed]
    vehicles.gear[:] = wanted


def _sideways(
    vehicles: VehicleTable,
    mass: Float,
    speed: Float,
    across: Float,
    rate: Float,
    pushed: Float,
    dt: float,
) -> tuple[Float, Float]:
    """Sideways speed (left) at the origin and yaw rate ``[V]`` after ``dt``."""
    wheels = -vehicles.control[:, STEER] * vehicles.max_steer * _steering_share(vehicles, speed)
    most = _STEER_RATE * vehicles.max_steer * dt
    vehicles.steer += _within(wheels - vehicles.steer, most)
    grip = vehicles.grip * GRAVITY
    fastest = grip / np.maximum(np.abs(speed), 0.5)
    turn = _within(speed * np.tan(vehicles.steer) / vehicles.wheelbase, fastest)
    # tyres pull the body towards the way that its wheels roll, no harder than they grip
    lever = vehicles.wheelbase / 2.0
    twist = grip * mass * lever / vehicles.yaw_inertia * dt
    spin = rate + vehicles.twist[:, 2] / vehicles.yaw_inertia * dt
    turned = spin + _within(turn - spin, twist)
    slide = across + pushed / mass * dt
    side = slide + _within(turned * lever - slide, grip * dt)
    if vehicles.cruising.any():
        side = np.where(vehicles.cruising, vehicles.cruise[:, 1] + turned * lever, side)
    return side, turned


def _within(value: Float, most: Float) -> Float:
    """``value`` bounded to ``most`` either way (``np.clip`` takes several times as long on short arrays)."""
    return np.asarray(np.minimum(np.maximum(value, -most), most))


def _steering_share(vehicles: VehicleTable, speed: Float) -> Float:
    """``[V]`` share of the steering limit at this speed, linear between the curve's knots."""
    beyond = np.abs(speed)[:, None] - vehicles.steer_speeds
    part = np.minimum(np.maximum(beyond, 0.0), vehicles.steer_gaps)
    return np.asarray(1.0 + (part * vehicles.steer_slopes).sum(1))
