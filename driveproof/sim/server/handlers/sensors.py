"""Tokens of streams, and what only a rendering engine has."""

from __future__ import annotations

from typing import Any

from driveproof.sim.server.messages import TOKEN
from driveproof.sim.server.registry import Refused, rpc
from driveproof.sim.server.rpc import Client
from driveproof.sim.server.wire import BLOB, FLAG, TEXT, U32


@rpc(U32, returns=TOKEN)
def get_sensor_token(client: Client, stream: int) -> tuple[Any, ...]:
    """Where a stream is; its socket is then expected before the next step."""
    streams = client.world.streams
    if streams.is_open(stream):
        streams.expect(stream)
    return (streams.token(stream),)


@rpc(U32, U32, returns=BLOB)
def get_gbuffer_token(client: Client, key: int, buffer: int) -> bytes:
    """Refused: there are no G-buffers."""
    raise Refused("this server has no G-buffers")


@rpc(U32, returns=FLAG)
def are_gbuffers_enabled(client: Client, key: int) -> bool:
    """Never."""
    return False


@rpc(U32)
def enable_sensor_for_ros(client: Client, stream: int) -> None:
    """Nothing: there is no ROS here."""


@rpc(U32)
def disable_sensor_for_ros(client: Client, stream: int) -> None:
    """Nothing: there is no ROS here."""


@rpc(U32, returns=FLAG)
def is_sensor_enabled_for_ros(client: Client, stream: int) -> bool:
    """Never."""
    return False


@rpc(U32, TEXT)
def send(client: Client, key: int, message: str) -> None:
    """Nothing: V2X messages are not carried."""
