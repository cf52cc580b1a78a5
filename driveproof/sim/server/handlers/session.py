"""Version, episode, settings, ticks."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from driveproof.sim.server.messages import EPISODE, SETTINGS, Settings
from driveproof.sim.server.registry import rpc
from driveproof.sim.server.rpc import Client
from driveproof.sim.server.streams import WORLD_STREAM
from driveproof.sim.server.wire import TEXT, U64


@rpc(returns=TEXT)
def version(client: Client) -> str:
    """The version of CARLA that is spoken here, and nothing else: clients compare it with their own."""
    return client.world.version.number


@rpc(returns=EPISODE)
def get_episode_info(client: Client) -> tuple[Any, ...]:
    """The episode and where its snapshots are."""
    world = client.world
    return world.episode.key, (world.streams.token(WORLD_STREAM),)


@rpc(returns=SETTINGS)
def get_episode_settings(client: Client) -> Settings:
    """The settings in force."""
    return client.world.settings


@rpc(SETTINGS, returns=U64)
def set_episode_settings(client: Client, settings: Settings) -> int:
    """Take settings; the frame from which they hold."""
    return client.world.configure(settings)


@rpc(returns=U64)
def tick_cue(client: Client) -> int | Awaitable[int]:
    """One step in synchronous mode; the frame that the client then waits for."""
    clock = client.world.clock
    return clock.cue() if client.world.is_settled else clock.held_cue()
