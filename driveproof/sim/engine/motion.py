"""Bodies move: along their velocities, on the ground or falling."""

from __future__ import annotations

import numpy as np

from driveproof.geometry.arrays import Float, Int
from driveproof.sim.engine.commands import ActorKind
from driveproof.sim.engine.ground import Ground
from driveproof.sim.engine.powertrain import drive
from driveproof.sim.engine.table import ActorTable
from driveproof.sim.engine.vehicle_physics import GRAVITY
from driveproof.sim.engine.vehicle_table import VehicleTable

#: A body stays on ground that falls away by less than this (m) in a step, and stands when it is this near to it.
_STEP_DOWN, _TOUCH = 0.25, 0.02
#: A rising body that is deeper than this (m) in the ground is put back on it.
_SUNK = 0.5
#: Props slide to a stand like this (m/s²), and stop turning like this (rad/s²).
_PROP_FRICTION, _PROP_SPIN = 5.0, 6.0
#: Nothing moves faster (m/s) or turns faster (rad/s), whatever impulses it gets; nothing goes further out (m).
_FASTEST, _FASTEST_TURN, _FURTHEST = 150.0, 20.0, 1e6


def move(table: ActorTable, vehicles: VehicleTable, ground: Ground, dt: float) -> None:
    """One step of everything with physics: wheels, falling, ground contact and attitude."""
    rows = np.flatnonzero(table.physics)
    if not len(rows):
        return
    _bound(table)
    shift = table.velocity[:, :2] * dt
    if len(vehicles):
        if vehicles.push.any():
            _push(table, vehicles, dt)
        shift[vehicles.row] = drive(table, vehicles, _slope_ahead(table, vehicles.row), dt)
        vehicles.push[:], vehicles.twist[:] = 0.0, 0.0
    if not table.grounded[rows].all():
        falling = rows[~table.grounded[rows] & table.gravity[rows]]
        table.velocity[falling, 2] -= GRAVITY * dt
    if len(rows) > len(vehicles):
        props = rows[(table.kind[rows] == ActorKind.PROP) & table.grounded[rows]]
        if len(props):
            _slide(table, props, dt)
            shift[props] = table.velocity[props, :2] * dt
    yaw = table.rotation[rows, 2] + table.angular_velocity[rows, 2] * dt
    table.rotation[rows, 2] = yaw - 2.0 * np.pi * np.rint(yaw / (2.0 * np.pi))
    _stand(table, rows, shift[rows], ground, dt)


def _bound(table: ActorTable) -> None:
    """Keep impulses from throwing anything beyond what numbers can hold."""
    if np.abs(table.velocity).max() > _FASTEST:
        speed = np.sqrt((table.velocity**2).sum(1))
        table.velocity[:] *= np.minimum(_FASTEST / np.maximum(speed, 1e-9), 1.0)[:, None]
    if np.abs(table.angular_velocity).max() > _FASTEST_TURN:
        np.clip(table.angular_velocity, -_FASTEST_TURN, _FASTEST_TURN, out=table.angular_velocity)


def _push(table: ActorTable, vehicles: VehicleTable, dt: float) -> None:
    """Forces that wheels do not take up: on vehicles in the air, and upwards ones that lift."""
    free = vehicles.row[table.physics[vehicles.row]]
    change = vehicles.push[table.physics[vehicles.row]] / table.mass[free, None] * dt
    airborne = ~table.grounded[free]
    table.velocity[free[airborne]] += change[airborne]
    lifted = ~airborne & (change[:, 2] > GRAVITY * dt)
    table.velocity[free[lifted], 2] += change[lifted, 2]
    table.grounded[free[lifted]] = False


def _slope_ahead(table: ActorTable, rows: Int) -> Float:
    """``[V]`` rise a metre along the heading, as the vehicles' attitude has it."""
    return np.asarray(np.tan(table.rotation[rows, 1]))


def _slide(table: ActorTable, rows: Int, dt: float) -> None:
    """Friction on props that were pushed."""
    if not len(rows):
        return
    velocity = table.velocity[rows, :2]
    speed = np.hypot(velocity[:, 0], velocity[:, 1])
    share = np.maximum(1.0 - _PROP_FRICTION * dt / np.maximum(speed, 1e-9), 0.0)
    table.velocity[rows, :2] = velocity * share[:, None]
    spin = table.angular_velocity[rows, 2]
    table.angular_velocity[rows, 2] = np.sign(spin) * np.maximum(
        np.abs(spin) - _PROP_SPIN * dt, 0.0
    )


def _stand(table: ActorTable, rows: Int, shift: Float, ground: Ground, dt: float) -> None:
    """Move by ``shift`` ``[M, 2]``; then stay on the ground, fall, or land."""
    place = table.position.take(rows, 0)
    velocity = table.velocity.take(rows, 0)
    stood, foot = table.grounded[rows], table.foot[rows]
    x = np.minimum(np.maximum(place[:, 0] + shift[:, 0], -_FURTHEST), _FURTHEST)
    y = np.minimum(np.maximum(place[:, 1] + shift[:, 1], -_FURTHEST), _FURTHEST)
    bottom = place[:, 2] - foot
    level, slope_x, slope_y = ground.surface(x, y, bottom)
    if stood.all():
        lands = bottom - level < _STEP_DOWN
    else:
        # only a body that does not rise can land
        bottom += np.where(stood, 0.0, velocity[:, 2] * dt)
        rising = ~stood & (velocity[:, 2] > 0.0) & (bottom > level - _SUNK)
        lands = (bottom <= level + np.where(stood, _STEP_DOWN, _TOUCH)) & ~rising
    place[:, 0], place[:, 1], place[:, 2] = x, y, np.where(lands, level, bottom) + foot
    table.position[rows] = place
    table.grounded[rows] = lands
    climb = slope_x * velocity[:, 0] + slope_y * velocity[:, 1]
    table.velocity[rows, 2] = np.where(lands, climb, velocity[:, 2])
    leans = np.flatnonzero(lands & (table.kind[rows] == ActorKind.VEHICLE))
    tilted = rows[leans]
    slope_x, slope_y = slope_x[leans], slope_y[leans]
    yaw = table.rotation[tilted, 2]
    cos, sin = np.cos(yaw), np.sin(yaw)
    pitch = np.arctan(slope_x * cos + slope_y * sin)
    table.rotation[tilted, 1] = pitch
    table.rotation[tilted, 0] = np.arctan((slope_y * cos - slope_x * sin) * np.cos(pitch))
