"""A server of their own for the tests of the server: they load towns and change settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from server_probe import synchronise

from driveproof.sim.client import ServerHandle, start_server


@pytest.fixture(scope="session")
def server() -> Iterator[ServerHandle]:
    """An embedded server with Town01, one a worker process."""
    handle = start_server("Town01", seed=0)
    yield handle
    handle.stop()


@pytest.fixture
def client(server: ServerHandle) -> Any:
    """The unmodified client, connected."""
    import carla

    connected = carla.Client(server.host, server.port)
    connected.set_timeout(20.0)
    return connected


@pytest.fixture
def world(client: Any) -> Iterator[Any]:
    """Town01 in synchronous mode at 20 Hz; what a test leaves behind is destroyed."""
    world = client.get_world()
    if world.get_map().name != "Carla/Maps/Town01":
        world = client.load_world("Town01")
    synchronise(world)
    yield world
    world = client.get_world()
    mine = [
        actor.id
        for actor in world.get_actors()
        if actor.type_id.split(".")[0] in ("vehicle", "walker", "sensor", "static", "controller")
    ]
    import carla

    client.apply_batch_sync([carla.command.DestroyActor(key) for key in mine], False)
    settings = world.get_settings()
    settings.synchronous_mode = False
    settings.fixed_delta_seconds = None
    world.apply_settings(settings)
