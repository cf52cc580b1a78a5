"""An embedded server for the expert's own drives: one a worker process, gone at the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from driveproof.sim.client import Session, start_server

TOWN = "Town03"


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """A session in Town03."""
    server = start_server(TOWN, seed=1)
    try:
        with Session.open(server.host, server.port, town=TOWN) as opened:
            yield opened
    finally:
        server.stop()
