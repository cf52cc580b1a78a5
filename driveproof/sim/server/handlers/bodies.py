"""Velocities, forces and physics of any actor."""

from __future__ import annotations

import numpy as np

from driveproof.sim.engine import Vehicle
from driveproof.sim.server.messages import AXIS, SPIN, VECTOR, Vector
from driveproof.sim.server.registry import rpc
from driveproof.sim.server.rpc import Client
from driveproof.sim.server.wire import FLAG, U32


@rpc(U32, VECTOR)
def set_actor_target_velocity(client: Client, key: int, velocity: Vector) -> None:
    """Give an actor this velocity now, m/s; forces go on from there."""
    client.world.episode.actor(key).velocity = velocity


@rpc(U32, SPIN)
def set_actor_target_angular_velocity(client: Client, key: int, spin: Vector) -> None:
    """Give an actor this angular velocity now; forces go on from there."""
    client.world.episode.actor(key).angular_velocity = spin


@rpc(U32, VECTOR)
def add_actor_impulse(client: Client, key: int, impulse: Vector) -> None:
    """Push at the centre of mass, N s."""
    client.world.episode.actor(key).add_impulse(impulse)


@rpc(U32, VECTOR, VECTOR)
def add_actor_impulse_at_location(client: Client, key: int, impulse: Vector, at: Vector) -> None:
    """Push at a point of the world, N s."""
    client.world.episode.actor(key).add_impulse(impulse, at)


@rpc(U32, VECTOR)
def add_actor_force(client: Client, key: int, force: Vector) -> None:
    """Push during the next step, N."""
    _push(client, key, force, None)


@rpc(U32, VECTOR, VECTOR)
def add_actor_force_at_location(client: Client, key: int, force: Vector, at: Vector) -> None:
    """Push at a point of the world during the next step, N."""
    _push(client, key, force, at)


def _push(client: Client, key: int, force: Vector, at: Vector | None) -> None:
    actor = client.world.episode.actor(key)
    if isinstance(actor, Vehicle):
        actor.add_force(force, at)
    else:
        actor.add_impulse(np.multiply(force, client.world.next_delta), at)


@rpc(U32, AXIS)
def add_actor_angular_impulse(client: Client, key: int, impulse: Vector) -> None:
    """Turn, kg m²/s."""
    client.world.episode.actor(key).add_angular_impulse(impulse)


@rpc(U32, AXIS)
def add_actor_torque(client: Client, key: int, torque: Vector) -> None:
    """Turn during the next step, N m."""
    actor = client.world.episode.actor(key)
    if isinstance(actor, Vehicle):
        actor.add_torque(torque)
    else:
        actor.add_angular_impulse(np.multiply(torque, client.world.next_delta))


@rpc(U32, FLAG)
def set_actor_simulate_physics(client: Client, key: int, enabled: bool) -> None:
    """Whether forces move an actor."""
    client.world.episode.actor(key).simulate_physics = enabled


@rpc(U32, FLAG)
def set_actor_collisions(client: Client, key: int, enabled: bool) -> None:
    """Whether others bump into an actor."""
    client.world.episode.actor(key).collisions_enabled = enabled


@rpc(U32, FLAG)
def set_actor_enable_gravity(client: Client, key: int, enabled: bool) -> None:
    """Whether an actor falls."""
    client.world.episode.actor(key).gravity = enabled


@rpc(U32)
def set_actor_dead(client: Client, key: int) -> None:
    """A dead actor lies where it is: nothing moves it any more."""
    actor = client.world.episode.actor(key)
    actor.velocity = (0.0, 0.0, 0.0)
    actor.simulate_physics = False
