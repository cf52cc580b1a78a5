"""The ego along its route: what all criteria look at."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.maps import Route, TownMap
from driveproof.sim.client.states import ActorState, WorldState

SEARCH_BACK, SEARCH_AHEAD = 10.0, 60.0
"""Metres of the route around the last place in which the next one is looked for."""


@dataclass(frozen=True)
class Moment:
    """The ego at one time.

    Attributes
    ----------
    time, dt
        Seconds since the drive began and since the last moment.
    state, ego
        The world and the ego in it.
    s, lateral
        Place on the route: metres along it, and to its left.
    front, last_front
        ``[2]`` middle of the front bumper, now and in the last moment.
    moved
        Metres since the last moment.
    """

    time: float
    dt: float
    state: WorldState
    ego: ActorState
    s: float
    lateral: float
    front: Float
    last_front: Float
    moved: float

    @property
    def place(self) -> tuple[float, float]:
        """Box centre."""
        return self.ego.x, self.ego.y

    @property
    def speed(self) -> float:
        """Size of the velocity in the plane, m/s."""
        return math.hypot(self.ego.vx, self.ego.vy)


class Tracker:
    """Turns states into moments."""

    def __init__(self, town: TownMap, ego_id: int, route: Route) -> None:
        self.town, self.ego_id, self.route = town, ego_id, route
        self._start: float | None = None
        self._last: Moment | None = None

    def moment(self, state: WorldState) -> Moment | None:
        """The ego in this state; None before it is there or after it is gone."""
        ego = state.actors.get(self.ego_id)
        if ego is None:
            return None
        self._start = state.time if self._start is None else self._start
        last = self._last
        front = front_of(ego)
        s, lateral = self._on_route(ego, None if last is None else last.s)
        here = Moment(
            time=state.time - self._start,
            dt=0.0 if last is None else state.time - last.state.time,
            state=state,
            ego=ego,
            s=s,
            lateral=lateral,
            front=front,
            last_front=front if last is None else last.front,
            moved=0.0 if last is None else math.dist(last.place, (ego.x, ego.y)),
        )
        self._last = here
        return here

    def _on_route(self, ego: ActorState, near: float | None) -> tuple[float, float]:
        line = self.route.line
        low, high = 0, len(line.points) - 1
        if near is not None:
            low = int(np.searchsorted(line.arc, near - SEARCH_BACK))
            high = int(np.searchsorted(line.arc, near + SEARCH_AHEAD))
        low = max(min(low, len(line.points) - 2), 0)
        points = line.points[low : min(high + 1, len(line.points))]
        start, delta = points[:-1], np.diff(points, axis=0)
        relative = np.array([ego.x, ego.y]) - start
        along = np.clip((relative * delta).sum(1) / (delta**2).sum(1), 0.0, 1.0)
        distance = np.hypot(*(relative - along[:, None] * delta).T)
        i = int(distance.argmin())
        cross = delta[i, 0] * relative[i, 1] - delta[i, 1] * relative[i, 0]
        s = line.arc[low + i] + along[i] * math.hypot(*delta[i])
        return float(s), float(math.copysign(distance[i], cross))


def front_of(ego: ActorState) -> Float:
    """Middle of the front bumper ``[2]``."""
    half = ego.length / 2.0
    return np.array([ego.x + half * math.cos(ego.heading), ego.y + half * math.sin(ego.heading)])
