"""Bodies move: along their velocities, on the ground or falling."""

from __future__ import annotations

import numpy as np

from driveproof.geometry import wrap_angle
from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.sim.engine.commands import ActorKind
from driveproof.sim.engine.ground import Ground
from driveproof.sim.engine.powertrain import drive
from driveproof.sim.engine.table import ActorTable
from driveproof.sim.engine.vehicle_physics import GRAVITY
from driveproof.sim.engine.vehicle_table import VehicleTable

#: A body stays on ground that falls away by less than this (m) in a step, and stands when it is this near to it.
_STEP_DOWN, _TOUCH = 0.25, 0.02
#: Props slide to a stand like this (m/s²), and stop turning like this (rad/s²).
_PROP_FRICTION, _PROP_SPIN = 5.0, 6.0
#: Nothing moves faster (m/s) or turns faster (rad/s), whatever impulses it gets; nothing goes further out (m).
_FASTEST, _FASTEST_TURN, _FURTHEST = 150.0, 20.0, 1e6


def move(table: ActorTable, vehicles: VehicleTable, ground: Ground, dt: float) -> None:
    """One step of everything with physics: wheels, falling, ground contact and attitude."""
    rows = np.flatnonzero(table.physics)
    if not len(rows):
        return
    _bound(table, rows)
    shift = np.zeros((len(table), 2))
    kind = table.kind[rows]
    props = rows[kind == ActorKind.PROP]
    _slide(table, props[table.grounded[props]], dt)
    if len(vehicles):
        yaw, slope = table.rotation[vehicles.row, 2], _slope_of(table, vehicles.row)
        cos, sin = np.cos(yaw), np.sin(yaw)
        shift[vehicles.row] = drive(table, vehicles, slope[0] * cos + slope[1] * sin, dt)
        free = vehicles.row[table.physics[vehicles.row]]
        push = vehicles.push[table.physics[vehicles.row]]
        airborne = ~table.grounded[free]
        table.velocity[free[airborne]] += push[airborne] / table.mass[free[airborne], None] * dt
        lifted = push[:, 2] > table.mass[free] * GRAVITY
        table.velocity[free[lifted], 2] += push[lifted, 2] / table.mass[free[lifted]] * dt
        table.grounded[free[lifted]] = False
        vehicles.push[:], vehicles.twist[:] = 0.0, 0.0
    others = rows[kind != ActorKind.VEHICLE]
    shift[others] = table.velocity[others, :2] * dt
    falling = rows[~table.grounded[rows] & table.gravity[rows]]
    table.velocity[falling, 2] -= GRAVITY * dt
    table.position[rows, :2] += shift[rows]
    table.rotation[rows, 2] = wrap_angle(
        table.rotation[rows, 2] + table.angular_velocity[rows, 2] * dt
    )
    _stand(table, rows, ground, dt)


def _bound(table: ActorTable, rows: Int) -> None:
    """Keep impulses from throwing anything beyond what numbers can hold."""
    velocity = table.velocity[rows]
    speed = np.sqrt((velocity**2).sum(1))
    if speed.max() > _FASTEST:
        table.velocity[rows] = (
            velocity * np.minimum(_FASTEST / np.maximum(speed, 1e-9), 1.0)[:, None]
        )
    turn = table.angular_velocity[rows]
    table.angular_velocity[rows] = np.clip(turn, -_FASTEST_TURN, _FASTEST_TURN)


def _slope_of(table: ActorTable, rows: Int) -> tuple[Float, Float]:
    """Slopes of the ground along x and y below vehicles, as their attitude has them."""
    roll, pitch, yaw = table.rotation[rows].T
    ahead, left = np.tan(pitch), np.tan(roll) / np.maximum(np.cos(pitch), 0.2)
    cos, sin = np.cos(yaw), np.sin(yaw)
    return ahead * cos - left * sin, ahead * sin + left * cos


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


def _stand(table: ActorTable, rows: Int, ground: Ground, dt: float) -> None:
    """Heights after the move: stay on the ground, fall, or land."""
    position = table.position[rows]
    np.clip(position, -_FURTHEST, _FURTHEST, out=position)
    foot = table.foot[rows]
    level, slope_x, slope_y = ground.surface(position[:, 0], position[:, 1], position[:, 2] - foot)
    stood = table.grounded[rows]
    fallen = position[:, 2] + table.velocity[rows, 2] * dt
    bottom = np.where(stood, position[:, 2], fallen) - foot
    keeps = stood & table.gravity[rows]
    lands: Bool = bottom <= level + np.where(keeps, _STEP_DOWN, 0.0)
    lands &= ~(~stood & (table.velocity[rows, 2] > 0.0) & (bottom > level - 0.5))
    z = np.where(lands, level + foot, bottom + foot)
    table.position[rows, :2], table.position[rows, 2] = position[:, :2], z
    table.grounded[rows] = lands
    velocity = table.velocity[rows]
    climb = slope_x * velocity[:, 0] + slope_y * velocity[:, 1]
    table.velocity[rows, 2] = np.where(lands, climb, velocity[:, 2])
    leans = lands & (table.kind[rows] == ActorKind.VEHICLE)
    tilted = rows[leans]
    cos, sin = np.cos(table.rotation[tilted, 2]), np.sin(table.rotation[tilted, 2])
    ahead = slope_x[leans] * cos + slope_y[leans] * sin
    left = slope_y[leans] * cos - slope_x[leans] * sin
    pitch = np.arctan(ahead)
    table.rotation[tilted, 1] = pitch
    table.rotation[tilted, 0] = np.arctan(left * np.cos(pitch))
    # a teleport may have left something a hair above the ground: it stands
    hair = ~lands & ~stood & (bottom - level < _TOUCH) & (table.velocity[rows, 2] <= 0.0)
    table.grounded[rows[hair]] = True
