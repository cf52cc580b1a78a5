"""Scenarios with somebody who crosses the ego's way."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from driveproof.scene import Command, LightState
from driveproof.sim.criteria import InfractionKind
from driveproof.sim.drivers import Path
from driveproof.sim.drivers.fleet import random_vehicle, random_walker
from driveproof.sim.drivers.walks import Walk
from driveproof.sim.scenarios.base import Scenario, Setting
from driveproof.sim.scenarios.cast import Puppet
from driveproof.sim.scenarios.places import Conflict, Places, meeting
from driveproof.sim.scenarios.streams import keep_pace, stream

BLOCKER = "static.prop.vendingmachine"
BICYCLES = ("vehicle.bh.crossbike", "vehicle.diamondback.century", "vehicle.gazelle.omafiets")
ASIDE_M = 1.0
"""Metres from the edge of the lane to the middle of a parked car, which just does not reach into it."""
SPACING_M = 4.5
"""Metres from one bicycle of a row to the next."""
LEAD_M, BEYOND_M = 3.0, 2.0
"""Metres of way behind a waiting bicycle, and beyond the road at which it has crossed."""
FLOW_MPS, BACK_M = 4.5, 40.0
"""Speed of bicycles of a flow, and how far before its beginning they may come from."""
BEHIND_M = 1.3
"""Metres by which the pedestrian stands behind what hides it."""


def narrow(path: Path, s: float) -> bool:
    """Whether a pedestrian can cross the road in a short time, and has room at the right edge."""
    part = slice(path.index(s), path.index(s + 60.0))
    return bool((path.left + path.right)[part].max() < 14.5 and path.right[part].max() < 2.6)


class _Pedestrians(Scenario):
    fails = InfractionKind.COLLISION_PEDESTRIAN

    def _walk(self, walker: int, s: float, start: float, end: float, pace: float) -> Walk:
        """A walk across the ego's way at ``s``, from one offset to another."""
        points = [self.context.path.point(s, start), self.context.path.point(s, end)]
        return Walk(walker, points[1:], pace, polite=True, started=True)

    def _when_it_meets(self, s: float, start: float, pace: float) -> Iterator[None]:
        """Wait until the walker would be in the middle of the lane when the ego is there."""
        lead = abs(start) / pace + self.context.uniform(-0.1, 0.25)
        yield from self.until(lambda: self.context.arrives(s, lead))


class DynamicObjectCrossing(_Pedestrians):
    """Somebody steps onto the road from behind a thing at its edge."""

    @classmethod
    def place(cls, places: Places) -> Setting:
        """A straight run of a road that is not too wide."""
        return Setting(
            places.run(85.0, fits=narrow),
            trigger=5.0,
            parameters={"distance": places.uniform(38, 50)},
        )

    def prepare(self) -> None:
        """The thing at the edge of the road and the pedestrian behind it."""
        context = self.context
        self.side = 1.0 if context.word("direction", "right") == "left" else -1.0
        self.s = context.trigger + context.number("distance", 40.0)
        left, right = context.path.left, context.path.right
        i = context.path.index(self.s)
        edge = float(left[i]) if self.side > 0 else min(float(right[i]), 2.6)
        self.start = self.side * (edge + 1.1)
        self.far = (
            -self.side * (float(right[i]) if self.side > 0 else float(left[i])) - 1.2 * self.side
        )
        z = context.height(self.s)
        self.hide(edge, z)
        pose = context.pose(self.s, self.start)
        pose[2] -= self.side * math.pi / 2.0
        self.walker = context.walker("walker", random_walker(context.rng), pose, z)

    def hide(self, edge: float, z: float) -> None:
        """Put up what hides the pedestrian from the ego."""
        context = self.context
        model = context.word("blocker_model", BLOCKER)
        pose = context.pose(self.s - BEHIND_M, self.side * (edge + 0.9))
        context.prop("blocker", model, pose, z)

    def story(self) -> Iterator[None]:
        """It crosses just before the ego."""
        context = self.context
        pace = context.uniform(1.3, 1.8)
        yield from self._when_it_meets(self.s, self.start, pace)
        context.cast.walk(self._walk(self.walker, self.s, self.start, self.far, pace))
        yield from self.ego_past(self.s)


class ParkingCrossingPedestrian(DynamicObjectCrossing):
    """Somebody steps onto the road from between parked cars."""

    def hide(self, edge: float, z: float) -> None:
        """Cars parked along the edge, the pedestrian behind the last of them."""
        context = self.context
        for back in (3.9, 10.0):
            model = random_vehicle(context.rng, "car")
            pose = context.pose(self.s - back, self.side * (edge + ASIDE_M))
            actor = context.vehicle("blocker", model.type_id, pose, z, colour=model.colour)
            context.cast.park(actor)


class PedestrianCrossing(_Pedestrians):
    """People cross the road right before a junction, though the ego's light is green."""

    @classmethod
    def place(cls, places: Places) -> Setting:
        """Before a junction with lights or without anything."""
        route = places.junction(
            places.uniform(48.0, 60.0),
            after=30.0,
            controls=("light", "none"),
            fits=lambda path, s, _: narrow(path, s - 60.0),
        )
        return Setting(route, trigger=2.0)

    def prepare(self) -> None:
        """Two or three people at the right edge, behind one another."""
        context = self.context
        crossing = context.crossing()
        context.hold_lights(crossing, LightState.GREEN)
        self.s = crossing.start - context.uniform(5.0, 8.0)
        i = context.path.index(self.s)
        edge = min(float(context.path.right[i]), 2.6)
        self.far = float(context.path.left[i]) + 1.5
        self.walkers = []
        for number in range(int(context.rng.integers(2, 4))):
            start = -(edge + 0.8 + 0.9 * number)
            s = self.s + 0.7 * (number % 2)
            pose = context.pose(s, start)
            pose[2] += math.pi / 2.0
            walker = context.walker(
                "walker", random_walker(context.rng), pose, context.height(self.s)
            )
            self.walkers.append((walker, s, start))

    def story(self) -> Iterator[None]:
        """All cross, the first just before the ego."""
        context = self.context
        pace = context.uniform(1.2, 1.5)
        yield from self._when_it_meets(self.s, self.walkers[0][2], pace)
        for walker, s, start in self.walkers:
            context.cast.walk(self._walk(walker, s, start, self.far, pace))
        yield from self.ego_past(self.s)


def turn_setting(places: Places, *commands: Command) -> Setting:
    """A turn at a junction without a stop sign."""
    route = places.junction(
        places.uniform(32.0, 42.0),
        after=40.0,
        controls=("light", "none", "yield"),
        commands=commands or (Command.LEFT, Command.RIGHT),
        fits=lambda path, s, _: straight_exit(path, s),
    )
    return Setting(route, trigger=2.0, speed=7.0, top_speed=10.0)


def straight_exit(path: Path, s: float) -> bool:
    """Whether the road behind the junction at ``s`` runs straight for a bit."""
    crossing = next(c for c in path.crossings if c.end > s)
    part = slice(path.index(crossing.end + 2.0), path.index(crossing.end + 22.0))
    inside = path.in_junction[part].any()
    return bool(not inside and abs(path.curvature[part]).max() < 0.03)


class VehicleTurningRoute(Scenario):
    """A bicycle crosses the road into which the ego turns."""

    @classmethod
    def place(cls, places: Places) -> Setting:
        """A turn."""
        return turn_setting(places)

    def prepare(self) -> None:
        """The light is green; the bicycle waits beside the road."""
        context = self.context
        crossing = context.crossing()
        context.hold_lights(crossing, LightState.GREEN)
        self.s = crossing.end + context.uniform(4.0, 7.0)
        self.side = -1.0 if context.rng.random() < 0.5 else 1.0
        i = context.path.index(self.s)
        edge = float(context.path.left[i] if self.side > 0 else context.path.right[i])
        self.start = self.side * (min(edge, 9.0) + 2.5)
        self.far = -self.side * 14.0
        across = float(context.path.right[i] if self.side > 0 else context.path.left[i])
        self.over = abs(self.start) + min(across, 9.0) + BEYOND_M
        self.bicycles = self.line_up()

    def line_up(self) -> list[Puppet]:
        """Who crosses, the first one first."""
        return [self.bicycle(0.0)]

    def bicycle(self, behind: float) -> Puppet:
        """A bicycle beside the road, ``behind`` metres behind its first place."""
        context = self.context
        ends = [
            context.path.point(self.s, self.start + self.side * (behind + LEAD_M)),
            context.path.point(self.s, self.far),
        ]
        z = context.height(self.s)
        path = Path.of(ends, z=z)
        model = BICYCLES[int(context.rng.integers(len(BICYCLES)))]
        return context.puppet("crosser", model, path, LEAD_M, 0.0, careful=False, accel=2.5)

    def story(self) -> Iterator[None]:
        """It sets off so that it is in the lane when the ego is."""
        context = self.context
        pace = context.uniform(3.0, 4.0)
        lead = (abs(self.start) + 0.5) / pace + pace / 5.0
        yield from self.until(lambda: context.arrives(self.s, lead))
        for bicycle in self.bicycles:
            bicycle.speed = pace
        while context.ego_s - 3.0 <= self.s:
            for number, bicycle in enumerate(self.bicycles):
                if bicycle.s > self.over + SPACING_M * number + LEAD_M:
                    self._away(bicycle)
            yield

    def _away(self, bicycle: Puppet) -> None:
        """Who is over the road leaves: beside it stand poles and houses."""
        if bicycle.actor_id in self.context.cast.puppets:
            self.context.cast.remove(bicycle.actor_id)


class CrossingBicycleFlow(VehicleTurningRoute):
    """A row of bicycles crosses the road into which the ego turns."""

    def prepare(self) -> None:
        """As with one bicycle, unless a route file says where the row comes from: then only the light is green."""
        self.flow = self._named()
        if self.flow is None:
            super().prepare()
        else:
            self.context.hold_lights(self.context.crossing(), LightState.GREEN)

    def line_up(self) -> list[Puppet]:
        """Four of them, one behind the other."""
        return [self.bicycle(SPACING_M * number) for number in range(4)]

    def story(self) -> Iterator[None]:
        """They cross when the ego comes."""
        if self.flow is None:
            yield from super().story()
            return
        context, flow = self.context, self.flow
        first, model = context.expected(flow.ego_s), BICYCLES[1]
        row = stream(context, flow.path, flow.s, first, FLOW_MPS, [2.5] * 3, "crosser", model)
        yield from keep_pace(context, row, flow.s, flow.ego_s, FLOW_MPS, 0.0)
        yield from self.ego_past(flow.ego_s)

    def _named(self) -> Conflict | None:
        """The straight way of the bicycles that a route file names; None if it names none."""
        context = self.context
        begin, end = context.at("start_actor_flow"), context.at("end_actor_flow")
        if begin is None or end is None:
            return None
        start, goal = np.array([begin.x, begin.y]), np.array([end.x, end.y])
        back = (goal - start) * BACK_M / max(float(np.hypot(*(goal - start))), 1.0)
        way = Path.of([start - back, goal + back], z=context.height(context.crossing().end))
        return meeting(context.path, context.trigger, way)


class VehicleTurningRoutePedestrian(_Pedestrians):
    """Somebody crosses the road into which the ego turns."""

    @classmethod
    def place(cls, places: Places) -> Setting:
        """A turn."""
        return turn_setting(places)

    def prepare(self) -> None:
        """The light is green; the pedestrian waits at the edge."""
        context = self.context
        crossing = context.crossing()
        context.hold_lights(crossing, LightState.GREEN)
        self.s = crossing.end + context.uniform(4.0, 7.0)
        i = context.path.index(self.s)
        self.start = -(min(float(context.path.right[i]), 2.6) + 1.0)
        self.far = float(context.path.left[i]) + 1.0
        pose = context.pose(self.s, self.start)
        pose[2] += math.pi / 2.0
        model = random_walker(context.rng)
        self.walker = context.walker("walker", model, pose, context.height(self.s))

    def story(self) -> Iterator[None]:
        """It crosses just before the ego."""
        pace = self.context.uniform(1.3, 1.7)
        yield from self._when_it_meets(self.s, self.start, pace)
        self.context.cast.walk(self._walk(self.walker, self.s, self.start, self.far, pace))
        yield from self.ego_past(self.s)
