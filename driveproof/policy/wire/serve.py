"""The policy server as a process: opens the policy, binds, says that it is ready, and ends on a signal."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import uvicorn

from driveproof.errors import BadInput, UserError
from driveproof.policy.chat import ChatPolicy
from driveproof.policy.driving import DRIVERS, DrivingPolicy, open_driver
from driveproof.policy.plugin import open_plugin
from driveproof.policy.registry import KINDS, PolicySettings, open_policy
from driveproof.policy.wire.server import build_app
from driveproof.policy.wire.service import Limits, Service

LOOPBACK = ("127.0.0.1", "localhost", "::1")
KEEP_ALIVE_S = 75
"""Longer than clients keep an idle connection, so that it is they who close it."""
GRACE_S = 5
"""Calls under way may take so long to end after a signal."""


@dataclass(frozen=True)
class Bound:
    """A server that is ready: where, and what it serves."""

    host: str
    port: int
    pid: int
    role: str
    name: str
    digest: str

    @property
    def spec(self) -> str:
        """How a client names it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"wire:http://{host}:{self.port}"

    def to_json(self) -> dict[str, Any]:
        """Every field, and how a client names the server."""
        return {**vars(self), "spec": self.spec}


def open_served(
    spec: str, settings: PolicySettings
) -> tuple[ChatPolicy | DrivingPolicy, Callable[[], DrivingPolicy] | None]:
    """The policy of a specification, and what makes another if it drives.

    Raises
    ------
    BadInput
        If it cannot be opened, or neither talks nor drives.
    """
    kind = spec.partition(":")[0]
    if kind == "wire":
        raise BadInput("a policy that is served already is not served again", field=spec)
    if kind in DRIVERS:
        return open_driver(spec, settings), lambda: open_driver(spec, settings)
    if kind not in KINDS and ":" in spec:
        titles = {DrivingPolicy: "driving policy", ChatPolicy: "model that talks"}
        plugin: ChatPolicy | DrivingPolicy = open_plugin(spec, titles)
        drives = isinstance(plugin, DrivingPolicy)
        return plugin, (lambda: open_driver(spec, settings)) if drives else None
    policy = open_policy(spec, settings)
    if not isinstance(policy, ChatPolicy):
        raise BadInput(f"{policy.name} neither talks nor drives", field=spec)
    return policy, None


def bind(host: str, port: int, token: str) -> socket.socket:
    """A listening socket; :class:`UserError` if the port is taken, or the host is seen from outside and has no token."""
    if host not in LOOPBACK and not token:
        hint = "--token-file FILE, or stay on 127.0.0.1"
        raise UserError(f"on {host} anyone could ask the policy without a token", hint=hint)
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # with the protocol named, asyncio sends small answers at once instead of 40 ms later
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        raise UserError(f"cannot listen on {host}:{port}: {error}") from None
    return listener


def serve(
    spec: str,
    settings: PolicySettings,
    limits: Limits,
    listener: socket.socket,
    token: str,
    ready: Callable[[Bound], None],
    *,
    with_parent: bool = False,
) -> bool:
    """Serve until a signal ends it, or ``with_parent`` the end of the process that started this one.

    Returns
    -------
    Whether every call had ended; if not, a thread of the policy still runs and only the end of the process ends it.
    """
    policy, again = open_served(spec, settings)
    service = Service(policy, limits, again)
    host, port = listener.getsockname()[:2]
    said = service.identity
    bound = Bound(host, port, os.getpid(), said.role, said.name, said.digest)
    config = uvicorn.Config(
        build_app(service, token),
        log_level="warning",
        access_log=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
        limit_concurrency=1024,
        server_header=False,
        lifespan="off",
    )
    server = _Announcing(config, lambda: ready(bound))
    if with_parent:
        threading.Thread(target=_end_with_parent, args=(server,), daemon=True).start()
    server.run([listener])
    service.desk.close()
    return service.desk.inside == 0


class _Announcing(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()


def _end_with_parent(server: uvicorn.Server) -> None:
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.5)
    server.should_exit = True
