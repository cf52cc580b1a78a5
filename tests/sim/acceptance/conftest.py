"""Programs as users of CARLA write them, with the unmodified client against the embedded server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from driveproof.sim.client import ServerHandle

carla = pytest.importorskip("carla")

DELTA_S = 0.05


@pytest.fixture
def client(carla_server: ServerHandle) -> Any:
    """A connected client."""
    connected = carla.Client(carla_server.host, carla_server.port)
    connected.set_timeout(60.0)
    return connected


@pytest.fixture
def enter(client: Any) -> Iterator[Callable[[str], Any]]:
    """Load a town in synchronous mode and give its world; afterwards the server free-runs in Town01 again."""

    def load(town: str) -> Any:
        world = client.load_world(town)
        world.apply_settings(
            carla.WorldSettings(synchronous_mode=True, fixed_delta_seconds=DELTA_S)
        )
        world.tick()
        return world

    yield load
    client.load_world("Town01")


@pytest.fixture
def world(enter: Callable[[str], Any]) -> Any:
    """Town10HD in synchronous mode."""
    return enter("Town10HD")
