"""The embedded server for all tests of the simulator: one a worker process, gone at the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from driveproof.sim.client import ServerHandle, Session, start_server


@pytest.fixture(scope="session")
def carla_server() -> Iterator[ServerHandle]:
    """An embedded server with Town01; tests leave it as they found it (a session does)."""
    server = start_server("Town01", seed=1)
    yield server
    server.stop()


@pytest.fixture
def session(carla_server: ServerHandle) -> Iterator[Session]:
    """A session in Town01."""
    with Session.open(carla_server.host, carla_server.port, town="Town01") as opened:
        yield opened
