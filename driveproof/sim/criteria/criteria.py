"""All criteria of a drive together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from driveproof.maps import Route, TownMap
from driveproof.sim.client.states import Collision, WorldState
from driveproof.sim.criteria.contacts import Contacts
from driveproof.sim.criteria.ego import Moment, Tracker
from driveproof.sim.criteria.infractions import ENDING, HARMLESS, Infraction, InfractionKind
from driveproof.sim.criteria.lanes import Deviation, LaneUse
from driveproof.sim.criteria.pace import (
    BLOCKED_S,
    Blocked,
    EmergencyYield,
    MinSpeed,
    RouteTimeout,
)
from driveproof.sim.criteria.signals import RedLights, StopSigns

ARRIVED = 3.0
"""Metres before the end of the route at which it is completed."""
ON_ROUTE = 10.0
"""Metres beside the route within which progress counts."""


class HasTown(Protocol):
    """A session, or anything else that knows its town."""

    @property
    def town(self) -> TownMap:
        """The roads."""


class Criterion(Protocol):
    """Looks at every moment and says what went wrong in it."""

    def update(self, now: Moment) -> list[Infraction]:
        """Infractions of this moment."""


class Criteria:
    """Watches the ego along its route. Give it every state, in order, with :meth:`update`.

    Collisions need ``Session.watch_collisions`` for the ego.
    """

    def __init__(
        self,
        session: HasTown,
        ego_id: int,
        route: Route,
        *,
        route_timeout_s: float | None = None,
        blocked_s: float = BLOCKED_S,
    ) -> None:
        town = session.town
        self.route = route
        self._tracker = Tracker(town, ego_id, route)
        self._lanes = LaneUse(town, route)
        self._pace = MinSpeed(route)
        self._emergencies: list[EmergencyYield] = []
        self.contacts = Contacts()
        self._criteria: list[Criterion] = [
            self.contacts,
            RedLights(town),
            StopSigns(town),
            Deviation(route),
            Blocked(blocked_s),
            RouteTimeout(route, route_timeout_s),
            self._pace,
        ]
        self._found: list[Infraction] = []
        self._progress = 0.0
        self._now: Moment | None = None

    def update(self, state: WorldState) -> list[Infraction]:
        """Look at a state; returns what went wrong since the last one (shares of the way come at the end)."""
        now = self._tracker.moment(state)
        if now is None:
            return []
        self._now = now
        if abs(now.lateral) < ON_ROUTE:
            self._progress = max(self._progress, now.s)
        self._lanes.update(now)
        new = [found for one in self._criteria for found in one.update(now)]
        new += [found for one in self._emergencies for found in one.update(now)]
        self._found += new
        return new

    def finish(self, late: Iterable[Collision] = ()) -> list[Infraction]:
        """Say what can only be said at the end of a drive, and count collisions that came late; returns both."""
        now = self._now
        new = [] if now is None else [f for one in self._emergencies for f in one.finish(now)]
        new += self.contacts.count(late)
        self._found += new
        return new

    def allow_wrong_way(self, allowed: bool = True) -> None:
        """Let the ego use lanes of the other direction, while a scenario asks for it."""
        self._lanes.wrong_way_allowed = allowed

    def watch_emergency(self, actor_id: int, wanted_speed: float) -> None:
        """Expect the ego to let an emergency vehicle pass, which would drive ``wanted_speed`` (m/s)."""
        self._emergencies.append(EmergencyYield(actor_id, wanted_speed))

    def scenario_timeout(self, text: str) -> None:
        """Note that a scenario did not come to its end in its time."""
        if self._now is not None:
            now, kind = self._now, InfractionKind.SCENARIO_TIMEOUT
            self._found.append(Infraction(kind, now.time, now.place, text=text))

    @property
    def infractions(self) -> list[Infraction]:
        """Everything so far, in order of time."""
        return sorted([*self._found, *self._lanes.infractions], key=lambda one: one.time)

    @property
    def failures(self) -> list[Infraction]:
        """The infractions without which the drive would be a success."""
        return [one for one in self.infractions if one.kind not in HARMLESS]

    @property
    def completion(self) -> float:
        """Share of the route's length that has been driven, 0 to 1."""
        if self._progress >= self.route.length - ARRIVED:
            return 1.0
        return self._progress / self.route.length

    @property
    def speed_shares(self) -> list[float]:
        """Mean speed as a share of that of the traffic around, one a checkpoint passed among traffic."""
        return list(self._pace.shares)

    @property
    def timed_out(self) -> bool:
        """Whether the route took too long."""
        return any(one.kind is InfractionKind.ROUTE_TIMEOUT for one in self._found)

    @property
    def ended(self) -> bool:
        """Whether the route is completed, or something happened that ends a drive."""
        return self.completion >= 1.0 or any(one.kind in ENDING for one in self._found)
