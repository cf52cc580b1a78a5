"""The registry of traffic managers."""

from __future__ import annotations

from typing import Any

from driveproof.sim.server.messages import TRAFFIC_MANAGER
from driveproof.sim.server.registry import rpc
from driveproof.sim.server.rpc import Client
from driveproof.sim.server.wire import FLAG, U16


@rpc(U16, returns=FLAG)
def is_traffic_manager_running(client: Client, port: int) -> bool:
    """Whether one is registered at this port."""
    return client.world.traffic_managers.find(port)[1] != 0


@rpc(U16, returns=TRAFFIC_MANAGER)
def get_traffic_manager_running(client: Client, port: int) -> tuple[str, int]:
    """Its host and port."""
    return client.world.traffic_managers.find(port)


@rpc(TRAFFIC_MANAGER, returns=FLAG)
def add_traffic_manager_running(client: Client, address: tuple[Any, ...]) -> bool:
    """Register one; False if the port is taken."""
    host, port = address
    return client.world.traffic_managers.add(host, port, client.number)


@rpc(U16, returns=FLAG)
def destroy_traffic_manager(client: Client, port: int) -> bool:
    """Unregister one."""
    return client.world.traffic_managers.remove(port)
