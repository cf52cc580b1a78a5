"""Scenarios in which the ego changes into a lane with traffic."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.maps import LaneKind, Route
from driveproof.sim.client.frames import to_transform
from driveproof.sim.drivers import LaneChange, Path
from driveproof.sim.drivers.fleet import random_vehicle
from driveproof.sim.routes import dense_route
from driveproof.sim.scenarios.base import Scenario, Setting
from driveproof.sim.scenarios.context import Context
from driveproof.sim.scenarios.places import NoPlace, Places
from driveproof.sim.scenarios.streams import keep_pace, stream

ASIDE_M = 1.05
"""Metres from the edge of the lane to the middle of a parked car."""
LIFT = 0.2
"""Metres above the road at which a vehicle is put down."""
PARKED_S = 18.0
"""Metres along the way at which the ego is parked."""


def lane_points(places: Places, lane: int, low: float, high: float) -> Float:
    """Points ``[n, 3]`` every 2 m along a lane between two arcs."""
    lanes = places.town.lanes
    part = lanes.points(lane)
    arc = np.arange(low, high, 2.0)
    return np.stack(
        [np.interp(arc, lanes.arc[part], lanes.centre[part, k]) for k in range(3)], axis=1
    )


def changing_route(places: Places, count: int, start: float, every: float, after: float) -> Route:
    """A straight way with ``count`` lane changes to the left, the first after ``start`` metres.

    Raises
    ------
    NoPlace
        If the town has no such road.
    """
    lanes = places.town.lanes
    need = start + every * count + after + 5.0
    fitting = []
    for lane in lanes.of_kind(LaneKind.DRIVING).tolist():
        row = [lane]
        while len(row) <= count and lanes.left_same[row[-1]]:
            row.append(int(lanes.left[row[-1]]))
        inside = lanes.junction[row].max() >= 0
        driving = all(lanes.kind[i] == LaneKind.DRIVING for i in row)
        turned = np.abs(np.diff(np.unwrap(lanes.heading[lanes.points(lane)]))).max()
        long = len(row) == count + 1 and lanes.length[row].min() > need
        if long and driving and not inside and turned < 0.02:
            fitting.append(row)
    if not fitting:
        raise NoPlace("no road with enough lanes")
    row = fitting[int(places.rng.integers(len(fitting)))]
    at = places.uniform(2.0, float(lanes.length[row].min()) - need)
    parts = []
    for number, lane in enumerate(row):
        length = start if number == 0 else every
        length = after if number == count else length
        parts.append(lane_points(places, lane, at + 4.0 * (number > 0), at + length))
        at += length
    return dense_route(np.concatenate(parts), places.town)


def _change(path: Path) -> LaneChange:
    """The first lane change of a way; NoPlace if it has none."""
    if not path.changes:
        raise NoPlace("the way changes no lane")
    return path.changes[0]


def beside_path(context: Context, change: LaneChange) -> tuple[Path, float]:
    """The lane into which the ego changes, from far behind, and where on it the change ends."""
    town, roads = context.roads.town, context.roads
    s = change.end + 2.0
    x, y = context.path.point(s)
    match = town.nearest_lane([x, y], float(context.path.heading[context.path.index(s)]))
    lane = int(match.lane[0])
    back = roads.walk_back(lane, 120.0, roads.straightest)
    path = roads.path([*back, *roads.walk(lane, 250.0, roads.straightest)])
    return path, float(town.lanes.length[back].sum()) + float(match.arc[0])


class _IntoTraffic(Scenario):
    """The ego has to change into a lane of traffic, on its left where no route file says otherwise."""

    towns = ("Town04", "Town05")
    limit_s = 60.0

    @classmethod
    def place(cls, places: Places) -> Setting:
        """A road with a lane on the left."""
        route = changing_route(places, 1, 60.0, 0.0, 110.0)
        return Setting(route, trigger=2.0, speed=8.0, top_speed=11.0)

    def _beside(self) -> tuple[Path, float, float]:
        """The lane of the traffic, where on it and on the ego's way they meet: where the way changes lanes."""
        change = _change(self.context.path)
        return *beside_path(self.context, change), change.end


class MergerIntoSlowTraffic(_IntoTraffic):
    """The ego has to change into a lane of slow traffic."""

    def story(self) -> Iterator[None]:
        """A row of slow vehicles is in that lane when the ego comes."""
        context = self.context
        path, meet, ego_s = self._lane()
        speed = min(context.number("flow_speed", 4.0), 4.5)
        gaps = [context.uniform(9.0, 12.0) for _ in range(3)]
        first = max(context.expected(ego_s) - 2.5, 1.0)
        stream(context, path, meet, first, speed, gaps)
        yield from self.ego_past(context.path.length - 25.0)

    def _lane(self) -> tuple[Path, float, float]:
        """The lane of the traffic, where on it and on the ego's way they meet: where the way changes lanes, or where a
        route file's flow joins it."""
        context = self.context
        if not context.path.changes:
            named = context.named_way(context.trigger)
            if named is not None:
                return named.path, named.s, named.ego_s
        return self._beside()


class _Flow(_IntoTraffic):
    """The ego has to get into a lane of traffic that is as fast as itself, and lets it pass if there is no gap."""

    def story(self) -> Iterator[None]:
        """A row of vehicles is beside the ego when it comes to that lane."""
        context = self.context
        path, meet, ego_s = self._lane()
        speed = min(context.number("flow_speed", 9.0), 9.0)
        gaps = [context.uniform(5.0, 7.0) for _ in range(3)]
        vehicles = stream(context, path, meet, max(context.expected(ego_s) - 1.0, 1.0), speed, gaps)
        yield from keep_pace(context, vehicles, meet, ego_s, speed, -1.0)
        yield from self.ego_past(min(ego_s + 30.0, context.path.length - 10.0))

    def _lane(self) -> tuple[Path, float, float]:
        """The lane, where on it and on the ego's way they meet: the route file's flow, or where the way changes lanes."""
        context = self.context
        named = context.named_way(context.trigger)
        if named is not None:
            return named.path, named.s, named.ego_s
        return self._beside()


class HighwayExit(_Flow):
    """The ego has to cross a lane of traffic to leave a highway."""


class InterurbanActorFlow(_Flow):
    """The ego has to cross a lane of traffic to leave a road out of town."""


class InterurbanAdvancedActorFlow(_Flow):
    """The ego has to get into the traffic of a road out of town."""


class MergerIntoSlowTrafficV2(_Flow):
    """The ego comes by a ramp into a lane of traffic."""


class SequentialLaneChange(Scenario):
    """Two lane changes one after the other, with vehicles in the lanes."""

    towns = ("Town04", "Town05")
    limit_s = 60.0

    @classmethod
    def place(cls, places: Places) -> Setting:
        """A road with two lanes on the left."""
        try:
            route = changing_route(places, 2, 55.0, 60.0, 60.0)
        except NoPlace:
            route = changing_route(places, 1, 55.0, 0.0, 80.0)
        return Setting(route, trigger=2.0, speed=9.0, top_speed=12.0)

    def story(self) -> Iterator[None]:
        """In each target lane some vehicles that drive a little slower than the ego."""
        context = self.context
        for change in context.path.changes:
            path, meet = beside_path(context, change)
            first = max(context.expected((change.begin + change.end) / 2.0), 1.0)
            stream(context, path, meet, first, 6.0, [context.uniform(8.0, 10.0)])
        yield from self.ego_past(context.path.length - 25.0)


class ParkingExit(Scenario):
    """The ego leaves a parking place between two cars while others pass."""

    limit_s = 60.0

    @classmethod
    def place(cls, places: Places) -> Setting:
        """A straight run with a parking lane or a wide shoulder."""
        route = places.run(85.0, after=20.0, fits=_parking)
        x, y = route.line.at(PARKED_S)
        heading = float(route.line.heading(PARKED_S))
        lanes = places.town.lanes
        lane = int(places.town.nearest_lane([x, y], heading).lane[0])
        half = float(lanes.width[lanes.points(lane)].mean()) / 2.0
        offset = -(half + ASIDE_M)
        return Setting(route, 0.0, start=PARKED_S, speed=0.0, top_speed=9.0, offset=offset)

    def prepare(self) -> None:
        """The ego into the parking place, if it is not there yet, and cars before and behind it."""
        context = self.context
        ego = context.ego
        s = context.path.project(ego.x, ego.y)
        context.trigger = min(context.trigger, s)  # the ego stands until it may drive
        x, y = context.path.point(s)
        aside = -float(np.hypot(ego.x - x, ego.y - y))
        if aside > -1.0:  # a route file starts in the lane
            sign = 1.0 if context.word("direction", "right") == "left" else -1.0
            aside = sign * (context.half_lane(s) + ASIDE_M)
            px, py, heading = context.pose(s, aside).tolist()
            place = to_transform(px, py, context.height(s) + LIFT, heading)
            context.session.actor(context.ego_id).set_transform(place)
        front = context.number("front_vehicle_distance", 9.0)
        behind = context.number("behind_vehicle_distance", 9.0)
        for at in (s + front + 2.0, s - behind):
            model = random_vehicle(context.rng, "car")
            pose = context.pose(at, aside)
            actor = context.vehicle("parked", model.type_id, pose, context.height(at))
            context.cast.park(actor)

    def story(self) -> Iterator[None]:
        """Three vehicles pass."""
        context = self.context
        x, y = context.path.point(max(context.ego_s, 2.0))
        heading = float(context.path.heading[context.path.index(context.ego_s)])
        lane = int(context.roads.town.nearest_lane([x, y], heading).lane[0])
        arc = float(context.roads.town.nearest_lane([x, y], heading).arc[0])
        back = context.roads.walk_back(lane, 90.0, context.roads.straightest)
        ways = [*back, *context.roads.walk(lane, 150.0, context.roads.straightest)]
        meet = float(context.roads.town.lanes.length[back].sum()) + arc + 6.0
        gaps = [context.uniform(7.0, 10.0) for _ in range(3)]
        stream(context, context.roads.path(ways), meet, 1.6, 7.0, gaps)
        yield from self.ego_past(context.path.length - 40.0)


def _parking(path: Path, s: float) -> bool:
    part = slice(path.index(s), path.index(s + 45.0))
    return bool(path.verge[part].min() > 1.9 and path.right[part].max() < 2.6)
