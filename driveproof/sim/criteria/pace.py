"""Time and speed: blocked, too late, too slow, in the way of an emergency vehicle."""

from __future__ import annotations

import math

from driveproof.maps import Route
from driveproof.sim.criteria.ego import Moment
from driveproof.sim.criteria.infractions import Infraction, InfractionKind

BLOCKED_S = 60.0
BLOCKED_SPEED = 0.1
"""Slower than this (m/s) for :data:`BLOCKED_S` seconds, the ego is blocked."""
LEAST_TIMEOUT = 300.0
SECONDS_A_METRE = 0.8
"""A route may take so long, but never less than :data:`LEAST_TIMEOUT`."""
CHECKPOINTS = 20
SURROUNDINGS = 50.0
"""Metres within which traffic is compared with."""
SAME_WAY = math.radians(60.0)
NOTICED = 40.0
"""Metres behind the ego within which an emergency vehicle has to be let pass."""
EMERGENCY_SHARE = 0.7
"""Share of its wanted speed that an emergency vehicle has to reach."""


class Blocked:
    """The ego stands for too long. Ends a drive."""

    def __init__(self, seconds: float = BLOCKED_S) -> None:
        self._seconds, self._since = seconds, 0.0

    def update(self, now: Moment) -> list[Infraction]:
        """The infraction in the step in which the time is over."""
        if now.speed >= BLOCKED_SPEED:
            self._since = now.time
            return []
        before = now.time - now.dt - self._since
        if before < self._seconds <= now.time - self._since:
            text = f"stood for {self._seconds:.0f} s"
            return [Infraction(InfractionKind.BLOCKED, now.time, now.place, text=text)]
        return []


class RouteTimeout:
    """The route takes too long. Ends a drive."""

    def __init__(self, route: Route, seconds: float | None = None) -> None:
        by_length = max(LEAST_TIMEOUT, SECONDS_A_METRE * route.length)
        self.seconds = by_length if seconds is None else seconds

    def update(self, now: Moment) -> list[Infraction]:
        """The infraction in the step in which the time is over."""
        if now.time - now.dt < self.seconds <= now.time:
            text = f"not there after {self.seconds:.0f} s"
            return [Infraction(InfractionKind.ROUTE_TIMEOUT, now.time, now.place, text=text)]
        return []


class MinSpeed:
    """The mean speed between checkpoints, as a share of that of the traffic around.

    ``shares`` holds one for every checkpoint that was passed with traffic around; shares below one are
    infractions, without a penalty in the benchmarks.
    """

    def __init__(self, route: Route) -> None:
        self._every = route.length / CHECKPOINTS
        self._next = 0.0
        self._own: list[float] = []
        self._others: list[float] = []
        self.shares: list[float] = []

    def update(self, now: Moment) -> list[Infraction]:
        """The infraction of a checkpoint just passed."""
        speeds = [
            other.speed
            for other in now.state.of_kind("vehicle")
            if other.id != now.ego.id
            and math.hypot(other.x - now.ego.x, other.y - now.ego.y) < SURROUNDINGS
            and abs(math.remainder(other.heading - now.ego.heading, math.tau)) < SAME_WAY
        ]
        if self._next <= 0.0:  # checkpoints before the start do not count
            self._next = (now.s // self._every + 1.0) * self._every
        if speeds:
            self._own.append(now.speed)
            self._others.append(sum(speeds) / len(speeds))
        if now.s < self._next:
            return []
        self._next += self._every
        own, others = sum(self._own), sum(self._others)
        self._own, self._others = [], []
        if others <= 0.0:
            return []
        share = own / others
        self.shares.append(share)
        if share >= 1.0:
            return []
        text = f"drove at {100.0 * share:.0f} % of the speed of the traffic around"
        kind = InfractionKind.MIN_SPEED
        return [Infraction(kind, now.time, now.place, text=text, share=share)]


class EmergencyYield:
    """An emergency vehicle behind the ego has to get on: judged when it has passed, or at the end.

    Its speed counts, as a share of the one it wants, while it is near behind the ego.
    """

    def __init__(self, actor_id: int, wanted_speed: float) -> None:
        self.actor_id, self._wanted = actor_id, wanted_speed
        self._shares: list[float] = []
        self._over = False

    def update(self, now: Moment) -> list[Infraction]:
        """The infraction once the vehicle has passed or is gone."""
        other = now.state.actors.get(self.actor_id)
        if other is None:
            return self.finish(now)
        cos, sin = math.cos(now.ego.heading), math.sin(now.ego.heading)
        ahead = (other.x - now.ego.x) * cos + (other.y - now.ego.y) * sin
        if -NOTICED < ahead <= 0.0:
            self._shares.append(min(max(other.speed / self._wanted, 0.0), 1.0))
        elif ahead > now.ego.length and self._shares:
            return self.finish(now)
        return []

    def finish(self, now: Moment) -> list[Infraction]:
        """The verdict, once."""
        if self._over or not self._shares:
            return []
        self._over = True
        share = sum(self._shares) / len(self._shares)
        if share >= EMERGENCY_SHARE:
            return []
        text = f"held an emergency vehicle down to {100.0 * share:.0f} % of its speed"
        kind = InfractionKind.YIELD_EMERGENCY
        return [Infraction(kind, now.time, now.place, self.actor_id, text, share)]
