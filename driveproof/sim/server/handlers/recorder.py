"""CARLA's recorder, which this server does not have: every call is answered, and says so."""

from __future__ import annotations

from typing import Any

from driveproof.sim.server.registry import rpc
from driveproof.sim.server.rpc import Client
from driveproof.sim.server.wire import ANY, FLAG, REAL, TEXT, U32

_NOT_HERE = "this server keeps no recordings"


@rpc(TEXT, FLAG, returns=TEXT)
def start_recorder(client: Client, name: str, additional: bool) -> str:
    """Answer that nothing is recorded."""
    return f"{name[:200]}: not recorded, {_NOT_HERE}"


@rpc()
def stop_recorder(client: Client) -> None:
    """Nothing."""


@rpc(TEXT, FLAG, returns=TEXT)
def show_recorder_file_info(client: Client, name: str, everything: bool) -> str:
    """Answer in CARLA's words for a file that is not there."""
    return _absent(name)


@rpc(TEXT, ANY, ANY, returns=TEXT)
def show_recorder_collisions(client: Client, name: str, first: Any, second: Any) -> str:
    """Answer in CARLA's words for a file that is not there."""
    return _absent(name)


@rpc(TEXT, REAL, REAL, returns=TEXT)
def show_recorder_actors_blocked(client: Client, name: str, time: float, distance: float) -> str:
    """Answer in CARLA's words for a file that is not there."""
    return _absent(name)


@rpc(TEXT, REAL, REAL, U32, FLAG, returns=TEXT)
def replay_file(
    client: Client, name: str, start: float, duration: float, follow: int, sensors: bool
) -> str:
    """Answer in CARLA's words for a file that is not there."""
    return _absent(name)


@rpc(FLAG)
def stop_replayer(client: Client, keep_actors: bool) -> None:
    """Nothing."""


@rpc(REAL)
def set_replayer_time_factor(client: Client, factor: float) -> None:
    """Nothing."""


@rpc(FLAG)
def set_replayer_ignore_hero(client: Client, ignore: bool) -> None:
    """Nothing."""


@rpc(FLAG)
def set_replayer_ignore_spectator(client: Client, ignore: bool) -> None:
    """Nothing."""


def _absent(name: str) -> str:
    return f"File {name[:200]} not found on server ({_NOT_HERE})\n"
