"""Pedestrians who walk along straight legs once something has happened."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from driveproof.sim.client.states import ActorState, WorldState

REACHED = 0.3
"""Metres from a waypoint at which it counts as reached."""
REACH = 0.5
"""Metres before a walker in which a vehicle makes it wait."""


@dataclass
class Walk:
    """The way of one pedestrian through ``waypoints`` ``[n]`` (x, y) at ``pace`` m/s.

    It starts when ``delay`` seconds have passed since the first look, or, if ``trigger_eta`` is set, when
    the ego would reach the height of the walker within that many seconds.
    """

    actor_id: int
    waypoints: Sequence[tuple[float, float]]
    pace: float = 1.4
    delay: float = 0.0
    trigger_eta: float | None = None
    polite: bool = True
    started: bool = False
    leg: int = 0
    _since: float | None = field(default=None, repr=False)

    @property
    def done(self) -> bool:
        """Whether the last waypoint is reached."""
        return self.leg >= len(self.waypoints)

    def control(self, state: WorldState, ego_id: int | None = None) -> Any:
        """The ``carla.WalkerControl`` for the next step."""
        import carla

        walker = state.actors.get(self.actor_id)
        if walker is None:
            return carla.WalkerControl(speed=0.0)
        self._since = state.time if self._since is None else self._since
        if not self.started and state.time - self._since >= self.delay:
            ego = state.actors.get(ego_id) if ego_id is not None else None
            self.started = self.trigger_eta is None or (
                ego is not None and _near(ego, walker, self.trigger_eta)
            )
        while not self.done and math.dist(self.waypoints[self.leg], (walker.x, walker.y)) < REACHED:
            self.leg += 1
        if not self.started or self.done:
            return carla.WalkerControl(speed=0.0)
        dx, dy = self.waypoints[self.leg][0] - walker.x, self.waypoints[self.leg][1] - walker.y
        length = max(math.hypot(dx, dy), 1e-6)
        blocked = self.polite and _blocked(walker, dx / length, dy / length, state)
        direction = carla.Vector3D(dx / length, -dy / length, 0.0)
        return carla.WalkerControl(direction=direction, speed=0.0 if blocked else self.pace)


def _near(ego: ActorState, walker: ActorState, eta: float) -> bool:
    cos, sin = math.cos(ego.heading), math.sin(ego.heading)
    ahead = (walker.x - ego.x) * cos + (walker.y - ego.y) * sin - ego.length / 2.0
    return 0.0 < ahead < eta * max(ego.speed, 1.0)


def _blocked(walker: ActorState, ux: float, uy: float, state: WorldState) -> bool:
    """Whether a vehicle is right before the walker, who then waits."""
    x, y = walker.x + REACH * ux, walker.y + REACH * uy
    for vehicle in state.of_kind("vehicle"):
        dx, dy = x - vehicle.x, y - vehicle.y
        cos, sin = math.cos(vehicle.heading), math.sin(vehicle.heading)
        along, across = abs(dx * cos + dy * sin), abs(dy * cos - dx * sin)
        if along < vehicle.length / 2.0 + 0.4 and across < vehicle.width / 2.0 + 0.3:
            return True
    return False
