"""Batches: many commands in one message, each with its own answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from driveproof.errors import UserError
from driveproof.sim.server.handlers import actors, bodies, lights, vehicles, walkers
from driveproof.sim.server.messages import DESCRIPTION, POSE
from driveproof.sim.server.registry import METHODS, Refused, reason, rpc
from driveproof.sim.server.rpc import Client
from driveproof.sim.server.wire import (
    ANY,
    FLAG,
    REAL,
    TEXT,
    U8,
    U32,
    Codec,
    Wire,
    WireError,
    listed,
    optional,
    row,
    sequence,
)

#: A spawn may be followed by commands, but these hardly by spawns that are followed by commands, and so on.
MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class _Command:
    run: Callable[..., Any]
    fields: Codec[tuple[Any, ...]]


def _as_method(handler: Callable[..., Any]) -> _Command:
    """The command that does what a method does."""
    method = METHODS[handler.__name__]
    return _Command(method.handler, row(*method.parameters))


def _console(client: Client, text: str) -> None:
    raise Refused("this server has no console")


_SPAWN = row(DESCRIPTION, POSE, optional(U32), U8, TEXT, sequence(ANY))
_SPAWN_INDEX, _CONSOLE_INDEX = 0, 20

#: The commands by their number on the wire; spawning (0) is written out below.
COMMANDS: dict[int, _Command] = {
    1: _as_method(actors.destroy_actor),
    2: _as_method(vehicles.apply_control_to_vehicle),
    3: _as_method(vehicles.apply_ackermann_control_to_vehicle),
    4: _as_method(walkers.apply_control_to_walker),
    5: _as_method(vehicles.apply_physics_control),
    6: _as_method(actors.set_actor_transform),
    7: _Command(walkers.set_walker_state, row(U32, POSE, REAL)),
    8: _as_method(bodies.set_actor_target_velocity),
    9: _as_method(bodies.set_actor_target_angular_velocity),
    10: _as_method(bodies.add_actor_impulse),
    11: _as_method(bodies.add_actor_force),
    12: _as_method(bodies.add_actor_angular_impulse),
    13: _as_method(bodies.add_actor_torque),
    14: _as_method(bodies.set_actor_simulate_physics),
    15: _as_method(bodies.set_actor_enable_gravity),
    16: _as_method(vehicles.set_actor_autopilot),
    17: _as_method(vehicles.show_vehicle_debug_telemetry),
    18: _as_method(vehicles.set_vehicle_light_state),
    19: _as_method(actors.set_actor_location),
    _CONSOLE_INDEX: _Command(_console, row(TEXT)),
    21: _as_method(lights.set_traffic_light_state),
}


@rpc(sequence(ANY), FLAG, returns=ANY, bare=True)
def apply_batch(
    client: Client, commands: list[Wire], do_tick: bool
) -> list[Wire] | Awaitable[list[Wire]]:
    """Run commands in their order; an error stays with its command. Then step, if asked to."""
    answers = [_answer(client, command) for command in commands]
    if not do_tick:
        return answers
    if client.world.is_settled:
        client.world.clock.cue()
        return answers
    return _then_step(client, answers)


async def _then_step(client: Client, answers: list[Wire]) -> list[Wire]:
    await client.world.clock.held_cue()
    return answers


def _answer(client: Client, command: Wire) -> Wire:
    try:
        return [[1, _run(client, command)]]
    except WireError as error:
        return [[0, [f"bad command: {error}"]]]
    except (Refused, UserError) as error:
        return [[0, [str(error)]]]
    except Exception as error:
        return [[0, [reason("apply_batch", error)]]]


def _run(client: Client, command: Wire, subject: int | None = None, depth: int = 0) -> int:
    """Run one command (for ``subject`` in place of its own actor, if given); the actor's id."""
    try:
        ((index, fields),) = command
        fields = listed(fields)
    except (TypeError, ValueError) as error:
        raise WireError("expected [[index, [fields...]]]") from error
    if index == _SPAWN_INDEX:
        return _spawn(client, fields, subject, depth)
    entry = COMMANDS.get(index) if type(index) is int else None
    if entry is None:
        raise WireError("no such command")
    if subject is not None and index != _CONSOLE_INDEX:
        fields = [subject, *fields[1:]]
    values = entry.fields.decode(fields)
    entry.run(client, *values)
    return int(values[0])


def _spawn(client: Client, fields: list[Wire], subject: int | None, depth: int) -> int:
    """Spawn, then run what shall follow for the new actor; what follows may be a spawn that hangs on it."""
    description, pose, parent, attachment, _, after = _SPAWN.decode(fields)
    if parent == 0 and subject is not None:
        parent = subject
    actor = client.world.episode.spawn(description, pose, parent, attachment)
    if depth < MAX_DEPTH:
        for command in after:
            _run(client, command, actor.id, depth + 1)
    return int(actor.id)
