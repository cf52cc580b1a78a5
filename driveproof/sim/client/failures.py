"""What can go wrong between a client and a simulator."""

from __future__ import annotations

from driveproof.errors import BadInput, Unreachable


class SimulatorUnreachable(Unreachable):
    """Nobody answers at the address, or the answer is none of CARLA's."""


class WrongVersion(Unreachable):
    """The simulator speaks another version of the protocol than the installed client."""


class ServerLost(Unreachable):
    """A simulator that had answered does so no more: it died, hangs, or was stopped."""


class UnknownBlueprint(BadInput):
    """The simulator's library has no such vehicle, walker, prop or sensor, or no such attribute."""


class SpawnBlocked(Exception):
    """There is no room for an actor at this place; try another one."""
