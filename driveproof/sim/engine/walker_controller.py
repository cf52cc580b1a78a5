"""The walker controller: an actor attached to a walker that leads it along sidewalks and over crosswalks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.sim.engine.actor import Actor, Vector, finite
from driveproof.sim.engine.commands import ActorKind, WalkerControl

if TYPE_CHECKING:
    from driveproof.sim.engine.walker import Walker

#: Metres at which a way point counts as reached; the goal itself wants it nearer.
_REACHED, _ARRIVED = 0.6, 0.3
#: Walkers slow down for what is this near ahead (m), and step aside by this share of their speed.
_LOOK_AHEAD, _ASIDE = 1.6, 0.7
#: A vehicle that would be here within this time (s) is let pass.
_GAP_S, _VEHICLE_REACH = 2.5, 14.0


class WalkerController(Actor):
    """CARLA's ``controller.ai.walker``; its parent is the walker.

    ``max_speed`` in m/s is how fast it walks (1.4 by default, as CARLA's clients set it).
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.max_speed = 1.4
        self.running = False
        self._way: list[Float] = []

    def start(self) -> None:
        """Begin to lead the walker; without a goal it gets one at random."""
        self.running = True

    def stop(self) -> None:
        """Let the walker stand."""
        self.running = False
        self._way = []
        walker = self._walker()
        if walker is not None:
            walker.walker_control = WalkerControl(walker.walker_control.direction, 0.0)

    def go_to(self, point: Vector) -> None:
        """Walk to the place on the walkways that is nearest to ``point`` ``[3]`` (world frame)."""
        walker = self._walker()
        if walker is not None:
            start = self._engine.table.position[walker.row, :2]
            self._way = self._engine.walkways.path(start, finite(point)[:2])

    def think(self, dt: float) -> None:
        """Command the walker for the next step."""
        walker = self._walker()
        if walker is None or not self.running:
            return
        here = self._engine.table.position[walker.row]
        while self._way and self._close(here):
            self._way.pop(0)
        if not self._way:
            goal = self._engine.walkways.random_point(self._engine.rng)
            if goal is None:
                return
            self.go_to(goal)
            if not self._way:
                return
        way = self._way[0] - here[:2]
        way /= max(float(np.hypot(*way)), 1e-9)
        way, speed = self._yield(walker, here, way)
        walker.walker_control = WalkerControl((float(way[0]), float(way[1]), 0.0), speed)

    def _close(self, here: Float) -> bool:
        limit = _REACHED if len(self._way) > 1 else _ARRIVED
        return math.dist(self._way[0].tolist(), here[:2].tolist()) < limit

    def _walker(self) -> Walker | None:
        from driveproof.sim.engine.walker import Walker

        walker = self._engine.actors.get(self.parent) if self.parent is not None else None
        return walker if isinstance(walker, Walker) else None

    def _yield(self, walker: Walker, here: Float, way: Float) -> tuple[Float, float]:
        """Direction and speed with regard for who is near: aside for walkers, a stop for vehicles that come."""
        table = self._engine.table
        gap = table.position[:, :2] - here[:2]
        near = (gap**2).sum(1) < _VEHICLE_REACH**2
        near &= table.solid & (np.abs(table.position[:, 2] - here[2]) < 3.0)
        near[walker.row] = False
        speed = self.max_speed
        for row in np.flatnonzero(near).tolist():
            ahead = float(gap[row] @ way)
            left = float(way[0] * gap[row, 1] - way[1] * gap[row, 0])
            if table.kind[row] == ActorKind.VEHICLE:
                if self._threatens(row, gap[row], way):
                    return way, 0.0
            elif 0.0 < ahead < _LOOK_AHEAD and abs(left) < 0.8:
                # both step to their right when they meet head on
                side = np.array([way[1], -way[0]]) if left >= -0.05 else np.array([-way[1], way[0]])
                way = way + _ASIDE * side
                way /= float(np.hypot(*way))
                speed = min(speed, self.max_speed * max(ahead / _LOOK_AHEAD, 0.4))
        return way, speed

    def _threatens(self, row: int, gap: Float, way: Float) -> bool:
        """Whether a vehicle at ``gap`` from the walker stands right ahead or will cross its way soon."""
        table = self._engine.table
        half = table.half_extent[row]
        yaw = table.rotation[row, 2]
        nose = np.array([math.cos(yaw), math.sin(yaw)])
        side = np.array([-nose[1], nose[0]])
        point = -gap + 1.2 * way  # a step ahead of the walker, from the vehicle
        along, across = float(point @ nose), float(point @ side)
        here_along, here_across = float(-gap @ nose), float(-gap @ side)
        if abs(here_along) < half[0] + 0.2 and abs(here_across) < half[1] + 0.2:
            return False  # already beside or before it: go on
        speed = float(table.velocity[row, :2] @ nose)
        reach = half[0] + 0.3 + max(speed, 0.0) * _GAP_S
        in_path = abs(across) < half[1] + 0.5 and abs(here_across) >= half[1]
        return bool(in_path and -half[0] - 0.3 < along < reach)
