"""What drivers need of a world: a session with a simulator has it, and so has a bare engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from driveproof.maps import TownMap
from driveproof.sim.client.states import WorldState


class WorldLike(Protocol):
    """A town with actors, as :class:`driveproof.sim.client.Session` offers it."""

    state: WorldState

    @property
    def town(self) -> TownMap:
        """The roads."""

    def spawn_vehicle(
        self,
        type_id: str,
        pose: Sequence[float],
        z: float | None = None,
        role_name: str = "",
        colour: tuple[int, int, int] | None = None,
        speed: float = 0.0,
    ) -> Any:
        """Put down a vehicle at ``x, y, heading`` (m, rad); something with an ``id``."""

    def destroy(self, actors: Iterable[int]) -> None:
        """Remove actors by id."""

    def apply(self, controls: Mapping[int, Any]) -> None:
        """Give vehicles and walkers their controls."""

    def tick(self) -> WorldState:
        """Let one step pass."""
