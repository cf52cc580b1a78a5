"""What the world refuses."""

from __future__ import annotations

from driveproof.errors import BadInput


class SpawnBlocked(BadInput):
    """Another body already stands where an actor shall appear."""


class UnknownBlueprint(BadInput):
    """No blueprint of this id."""


class NoSuchActor(BadInput):
    """The actor does not exist, or no longer."""
