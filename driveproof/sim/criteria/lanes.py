"""Where the ego drives: off the lanes, against traffic, away from its route."""

from __future__ import annotations

import math

import numpy as np

from driveproof.maps import LaneKind, LaneMatch, Route, TownMap
from driveproof.sim.criteria.ego import Moment
from driveproof.sim.criteria.infractions import Infraction, InfractionKind

CARS = (LaneKind.DRIVING, LaneKind.BIDIRECTIONAL)
ALLOWED = (*CARS, LaneKind.PARKING)
"""The leaderboard does not mind parking lanes either."""
ALLOWED_OUT = 0.5
"""Metres by which the box centre may lie beyond the border of its lane."""
AGAINST = math.radians(120.0)
"""Turned further than this against the lane, the ego drives the wrong way."""
LEAST = 1.0
"""Metres of way that make an infraction."""
DEVIATION = 30.0
"""Metres from the route at which a drive ends."""
LOST, LOST_SHARE = 15.0, 0.3
"""Or: further than so many metres from it for this share of its length."""


class LaneUse:
    """Shares of the route's length that were driven off all lanes and against traffic.

    Who starts beside the lanes, as in a parking place, is not blamed before it has reached one.
    ``wrong_way_allowed`` may be set while a scenario asks the ego to use the opposite lane.
    """

    def __init__(self, town: TownMap, route: Route) -> None:
        self._town, self._route = town, route
        self._metres = {InfractionKind.OFF_LANE: 0.0, InfractionKind.WRONG_WAY: 0.0}
        self._first: dict[InfractionKind, Moment] = {}
        self._entered = False
        self.wrong_way_allowed = False

    def update(self, now: Moment) -> None:
        """Add the way since the last moment to what it was."""
        if now.moved <= 0.0:
            return
        centre = np.array([[now.ego.x, now.ego.y]])
        nearest = self._town.nearest_lane(centre, kinds=ALLOWED)
        along = self._town.nearest_lane(centre, np.array([now.ego.heading]), kinds=CARS)
        kind: InfractionKind | None = None
        within = self._within(nearest)
        self._entered = self._entered or within
        if not within:
            kind = InfractionKind.OFF_LANE if self._entered else None
        elif self._against(nearest, along, now) and not self.wrong_way_allowed:
            kind = InfractionKind.WRONG_WAY
        if kind is not None:
            self._metres[kind] += now.moved
            self._first.setdefault(kind, now)

    @property
    def infractions(self) -> list[Infraction]:
        """What has added up so far, each with its share of the route's length."""
        found = []
        for kind, metres in self._metres.items():
            if metres < LEAST:
                continue
            first = self._first[kind]
            what = "off the lanes" if kind is InfractionKind.OFF_LANE else "against traffic"
            share = min(metres / self._route.length, 1.0)
            text = f"drove {metres:.1f} m {what}"
            found.append(Infraction(kind, first.time, first.place, text=text, share=share))
        return found

    def _within(self, match: LaneMatch) -> bool:
        half = self._width(match) / 2.0
        return abs(float(match.distance[0])) <= half + ALLOWED_OUT

    def _against(self, nearest: LaneMatch, along: LaneMatch, now: Moment) -> bool:
        """On a lane of the other direction, and on none of the own (lanes overlap in junctions)."""
        lane, lanes = int(nearest.lane[0]), self._town.lanes
        if lanes.junction[lane] >= 0 or lanes.kind[lane] == LaneKind.PARKING:
            return False
        part = lanes.points(lane)
        course = np.interp(nearest.arc[0], lanes.arc[part], np.unwrap(lanes.heading[part]))
        turned = abs(math.remainder(now.ego.heading - float(course), math.tau))
        if turned < AGAINST or lanes.kind[lane] == LaneKind.BIDIRECTIONAL:
            return False
        own = abs(float(along.heading_error[0])) < AGAINST
        return not (own and abs(float(along.distance[0])) < self._width(along) / 2.0)

    def _width(self, match: LaneMatch) -> float:
        lanes = self._town.lanes
        part = lanes.points(int(match.lane[0]))
        return float(np.interp(match.arc[0], lanes.arc[part], lanes.width[part]))


class Deviation:
    """The ego leaves its route for good. Ends a drive."""

    def __init__(self, route: Route) -> None:
        self._route, self._lost, self._done = route, 0.0, False

    def update(self, now: Moment) -> list[Infraction]:
        """The deviation, once."""
        distance = abs(now.lateral)
        self._lost += now.moved if distance > LOST else 0.0
        gone = distance > DEVIATION or self._lost > LOST_SHARE * self._route.length
        if not gone or self._done:
            return []
        self._done = True
        text = f"{distance:.0f} m away from the route"
        return [Infraction(InfractionKind.ROUTE_DEVIATION, now.time, now.place, text=text)]
