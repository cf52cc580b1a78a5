"""A driver that is told keys: it asks for them twice a second and executes them at every tick."""

from __future__ import annotations

from typing import Protocol

from driveproof.action.module import ActionModule, Control, Ego
from driveproof.questions import ActionKeys
from driveproof.sim.client import WorldState

DECIDE_EVERY_S = 0.5
"""Two decisions a second, as Bench2Drive-VL's closed loop."""


class KeySource(Protocol):
    """Whoever gives keys: an expert, or a model that sees pictures."""

    def see(self, state: WorldState) -> None:
        """Take in a state; called once a tick, in order."""

    def keys(self) -> ActionKeys:
        """The keys for the last state seen."""


class KeyDriver:
    """Drives an ego by the keys of a source.

    Parameters
    ----------
    module
        Executes the keys; at the start of the route.
    ego_id
        The ego's actor id.
    every_s
        Simulated seconds between decisions.
    """

    def __init__(
        self, module: ActionModule, source: KeySource, ego_id: int, every_s: float = DECIDE_EVERY_S
    ) -> None:
        self.module, self.source = module, source
        self._ego_id, self._every = ego_id, every_s
        self._next = -1.0

    def control(self, state: WorldState) -> Control:
        """Pedals and steer until the next tick."""
        actor = state.actors[self._ego_id]
        ego = Ego(actor.x, actor.y, actor.heading, actor.speed)
        self.source.see(state)
        if state.time >= self._next - 1e-6:
            self._next = state.time + self._every
            self.module.decide(self.source.keys(), ego)
        return self.module.control(ego)
