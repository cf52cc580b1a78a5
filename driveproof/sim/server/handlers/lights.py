"""Traffic lights and street lamps."""

from __future__ import annotations

from typing import Any

from driveproof.sim.engine import LightState, TrafficLight
from driveproof.sim.server.boxes import thing_box
from driveproof.sim.server.messages import BOX, STREET_LIGHT, BoxMessage
from driveproof.sim.server.registry import Refused, rpc
from driveproof.sim.server.rpc import Client
from driveproof.sim.server.wire import ANY, FLAG, REAL, TEXT, U8, U32, sequence


def _light(client: Client, key: int) -> TrafficLight:
    return client.world.episode.light(key)


@rpc(U32, U8)
def set_traffic_light_state(client: Client, key: int, state: int) -> None:
    """Show a colour until the group changes by itself; freeze the light to keep it."""
    try:
        colour = LightState(state)
    except ValueError as error:
        raise Refused(f"no traffic light state {state}") from error
    client.world.episode.engine.set_light_state(_light(client, key).id, colour)


def _set_time(client: Client, key: int, colour: LightState, seconds: float) -> None:
    if seconds < 0.0:
        raise Refused(f"a light cannot be {colour.name.lower()} for {seconds:g} s")
    client.world.episode.engine.set_light_time(_light(client, key).id, colour, seconds)


@rpc(U32, REAL)
def set_traffic_light_green_time(client: Client, key: int, seconds: float) -> None:
    """How long it is green."""
    _set_time(client, key, LightState.GREEN, seconds)


@rpc(U32, REAL)
def set_traffic_light_yellow_time(client: Client, key: int, seconds: float) -> None:
    """How long it is yellow."""
    _set_time(client, key, LightState.YELLOW, seconds)


@rpc(U32, REAL)
def set_traffic_light_red_time(client: Client, key: int, seconds: float) -> None:
    """How long it is red."""
    _set_time(client, key, LightState.RED, seconds)


@rpc(U32, FLAG)
def freeze_traffic_light(client: Client, key: int, frozen: bool) -> None:
    """Stop the time of one light's group."""
    client.world.episode.engine.freeze_light(_light(client, key).id, frozen)


@rpc(FLAG)
def freeze_all_traffic_lights(client: Client, frozen: bool) -> None:
    """Stop the time of all lights (what freezing one light from Python sends)."""
    client.world.episode.engine.freeze_all_lights(frozen)


@rpc(U32)
def reset_traffic_light_group(client: Client, key: int) -> None:
    """Start the phases of the light's group anew."""
    client.world.episode.engine.reset_group(_light(client, key).id)


@rpc()
def reset_all_traffic_lights(client: Client) -> None:
    """Start the phases of all groups anew."""
    client.world.episode.engine.reset_all_lights()


@rpc(U32, returns=sequence(U32))
def get_group_traffic_lights(client: Client, key: int) -> list[int]:
    """The lights of the same group, itself included."""
    return client.world.episode.engine.group_lights(_light(client, key).id)


@rpc(U32, returns=sequence(BOX))
async def get_light_boxes(client: Client, key: int) -> list[BoxMessage]:
    """The boxes of a light's lamp heads in the world."""
    signal = _light(client, key).signal_id
    scenery = await client.world.episode.scenery.get()
    return [thing_box(thing) for thing in scenery.heads(signal)]


@rpc(TEXT, returns=sequence(STREET_LIGHT))
async def query_lights_state(client: Client, name: str) -> list[tuple[Any, ...]]:
    """The street lamps: there are none.

    This is the last that a client asks while it gets a world. Answered when its socket for snapshots is there, so
    that it knows the actors even if the world stands still.
    """
    await client.world.settle()
    return []


@rpc(TEXT, sequence(ANY), FLAG)
def update_lights_state(client: Client, name: str, lights: list[Any], discard: bool) -> None:
    """Nothing: there are no street lamps."""


@rpc(TEXT, FLAG)
def update_day_night_cycle(client: Client, name: str, active: bool) -> None:
    """Nothing: there are no street lamps to switch at dusk."""
