"""The client side of a simulation: a session with any CARLA server, and a supervisor that keeps one alive.

Everything here speaks the ``carla`` client API and nothing else, so it works alike with the embedded server
(``driveproof sim serve``) and a real CARLA.
"""

from driveproof.sim.client.failures import (
    ServerLost,
    SimulatorUnreachable,
    SpawnBlocked,
    UnknownBlueprint,
    WrongVersion,
)
from driveproof.sim.client.sensors import SensorQueue
from driveproof.sim.client.server import ServerHandle, start_server
from driveproof.sim.client.session import Session
from driveproof.sim.client.states import ActorState, Collision, Kind, WorldState
from driveproof.sim.client.supervisor import Supervisor

__all__ = [
    "ActorState",
    "Collision",
    "Kind",
    "SensorQueue",
    "ServerHandle",
    "ServerLost",
    "Session",
    "SimulatorUnreachable",
    "SpawnBlocked",
    "Supervisor",
    "UnknownBlueprint",
    "WorldState",
    "WrongVersion",
    "start_server",
]
