"""Bodies move: along their velocities, on the ground or falling."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from driveproof.geometry.arrays import Float, Int
from driveproof.sim.engine.commands import ActorKind
from driveproof.sim.engine.ground import Ground
from driveproof.sim.engine.pose import FURTHEST
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
#: Nothing moves faster (m/s) or turns faster (rad/s), whatever impulses it gets.
_FASTEST, _FASTEST_TURN = 150.0, 20.0

_VEHICLE = int(ActorKind.VEHICLE)


def move(table: ActorTable, vehicles: VehicleTable, ground: Ground, dt: float) -> None:
    """One step of everything with physics: wheels, falling, ground contact and attitude."""
    _bound(table)
    place = table.position + table.velocity * dt
    if len(vehicles):
        if vehicles.push.any():
            _push(table, vehicles, dt)
        place[vehicles.row, :2] = table.position[vehicles.row, :2] + drive(table, vehicles, dt)
        vehicles.push[:], vehicles.twist[:] = 0.0, 0.0
    props = np.flatnonzero((table.kind == ActorKind.PROP) & table.physics & table.grounded)
    if len(props):
        _slide(table, props, dt)
    rows = np.flatnonzero(table.physics)
    x, y = place[rows, 0], place[rows, 1]
    np.minimum(np.maximum(x, -FURTHEST, out=x), FURTHEST, out=x)
    np.minimum(np.maximum(y, -FURTHEST, out=y), FURTHEST, out=y)
    level = ground.surface(x, y, table.position[rows, 2] - table.foot[rows])
    _stand(table.records, rows, x, y, *level, dt)


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


@numba.njit(nogil=True, cache=True)
def _stand(
    actors: Any,
    rows: Int,
    x: Float,
    y: Float,
    level: Float,
    slope_x: Float,
    slope_y: Float,
    dt: float,
) -> None:
    """Put bodies ``rows`` ``[M]`` to their new places: they stay on the ground, fall, or land; vehicles lean with it."""
    for k in range(len(rows)):
        actor = actors[rows[k]]
        actor.position[0], actor.position[1] = x[k], y[k]
        yaw = actor.rotation[2] + actor.angular_velocity[2] * dt
        yaw -= 2.0 * math.pi * math.floor(yaw / (2.0 * math.pi) + 0.5)
        actor.rotation[2] = yaw
        bottom = actor.position[2] - actor.foot
        if actor.grounded:
            lands = bottom - level[k] < _STEP_DOWN
        else:
            if actor.gravity:
                actor.velocity[2] -= GRAVITY * dt
            bottom += actor.velocity[2] * dt
            # a body that rises has not landed, unless it is deep in the ground
            rises = actor.velocity[2] > 0.0 and bottom > level[k] - _SUNK
            lands = bottom <= level[k] + _TOUCH and not rises
        actor.grounded = lands
        if not lands:
            actor.position[2] = bottom + actor.foot
            continue
        actor.position[2] = level[k] + actor.foot
        actor.velocity[2] = slope_x[k] * actor.velocity[0] + slope_y[k] * actor.velocity[1]
        if actor.kind == _VEHICLE:
            cos, sin = math.cos(yaw), math.sin(yaw)
            pitch = math.atan(slope_x[k] * cos + slope_y[k] * sin)
            actor.rotation[1] = pitch
            actor.rotation[0] = math.atan((slope_y[k] * cos - slope_x[k] * sin) * math.cos(pitch))
