"""Getting hold of a CARLA server, with errors that say what is the matter."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from driveproof.errors import BadInput
from driveproof.sim.client.failures import ServerLost, SimulatorUnreachable, WrongVersion

LOAD_TIMEOUT_S = 90.0
"""Loading one of the largest towns takes half a minute, more on a slow machine."""
HINT = "start one with: driveproof sim serve"


@contextmanager
def carla_errors(doing: str) -> Iterator[None]:
    """Turn the client library's errors within the block into :class:`ServerLost` or :class:`BadInput`."""
    try:
        yield
    except RuntimeError as error:
        text = " ".join(str(error).split())
        if any(sign in text.lower() for sign in ("time-out", "timeout", "failed to connect")):
            raise ServerLost(f"the simulator does not answer while {doing}") from error
        raise BadInput(f"the simulator refused: {text}", field=doing) from error


def await_port(host: str, port: int, timeout_s: float) -> None:
    """Wait until something listens at ``host:port``; SimulatorUnreachable after ``timeout_s`` seconds."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            with socket.create_connection((host, port), timeout=2.0):
                return
        except OSError as error:
            if time.monotonic() > deadline:
                reason = error.strerror or str(error)
                raise SimulatorUnreachable(
                    f"no CARLA server at {host}:{port} ({reason})", hint=HINT
                ) from None
        time.sleep(0.1)


def connect(host: str, port: int, timeout_s: float) -> Any:
    """A ``carla.Client`` whose server has answered and speaks its version.

    Raises
    ------
    SimulatorUnreachable
        If nobody listens within ``timeout_s``, or whoever listens is no CARLA server.
    WrongVersion
        If it speaks another version than the installed client.
    """
    import carla

    await_port(host, port, timeout_s)
    client = carla.Client(host, port)
    client.set_timeout(timeout_s)
    try:
        served = client.get_server_version()
    except RuntimeError as error:
        raise SimulatorUnreachable(
            f"what listens at {host}:{port} does not answer as a CARLA server", hint=HINT
        ) from error
    wanted = client.get_client_version()
    if _release(served) != _release(wanted):
        raise WrongVersion(
            f"the server at {host}:{port} is CARLA {served}, the installed client {wanted}",
            hint=f"pip install carla=={_release(served)}",
        )
    return client


def _release(version: str) -> str:
    found = re.match(r"\d+\.\d+\.\d+", version)
    return found.group() if found else version
