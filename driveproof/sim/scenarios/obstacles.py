"""Scenarios with something in the ego's lane that has to be passed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from driveproof.errors import UserError
from driveproof.sim.criteria import InfractionKind
from driveproof.sim.drivers import Path
from driveproof.sim.drivers.fleet import CONE, random_vehicle
from driveproof.sim.scenarios.base import Scenario, Setting
from driveproof.sim.scenarios.crossings import BICYCLES
from driveproof.sim.scenarios.cut_ins import swerve
from driveproof.sim.scenarios.places import NoPlace, Places
from driveproof.sim.scenarios.streams import stream

POLICE = "vehicle.dodge.charger_police_2020"
TRAILER = "static.prop.trafficwarning"
ACCIDENT_SIGN = "static.prop.warningaccident"
ROADWORKS_SIGN = "static.prop.warningconstruction"


def two_lanes(path: Path, s: float) -> bool:
    """Whether there is another lane of the same direction on the left."""
    part = slice(path.index(s), path.index(s + 110.0))
    return bool(path.left_own[part].min() > 4.6)


def two_ways(path: Path, s: float) -> bool:
    """Whether the next lane on the left is that of the oncoming traffic."""
    part = slice(path.index(s), path.index(s + 110.0))
    own, every = path.left_own[part], path.left[part]
    return bool(own.max() < 3.0 and every.min() > 4.6)


class Blocked(Scenario):
    """Something stands in the ego's lane, which has another one beside it."""

    opposite: ClassVar[bool] = False
    limit_s: ClassVar[float] = 60.0

    @classmethod
    def place(cls, places: Places) -> Setting:
        """A straight run with a lane to pass on."""
        fits = two_ways if cls.opposite else two_lanes
        route = places.run(125.0, after=40.0, fits=fits)
        return Setting(route, trigger=5.0, parameters={"distance": places.uniform(40.0, 50.0)})

    def prepare(self) -> None:
        """What stands there."""
        self.s = self.context.trigger + self.context.number("distance", 42.0)
        self.end = self.s
        self.block()

    @abstractmethod
    def block(self) -> None:
        """Put things into the lane around ``self.s``; ``self.end`` is where they end."""

    def story(self) -> Iterator[None]:
        """Nothing but oncoming traffic, where the ego needs its lane."""
        context = self.context
        if self.opposite:
            if context.criteria is not None:
                context.criteria.allow_wrong_way()
            self.oncoming()
        yield from self.ego_past(self.end + 12.0)
        if self.opposite and context.criteria is not None:
            context.criteria.allow_wrong_way(False)

    def oncoming(self) -> None:
        """A few vehicles that come towards the ego, the first when it gets to the obstacle; nobody on a one-way road."""
        context = self.context
        try:
            path, meet = context.oncoming(self.s, 200.0)
        except NoPlace:
            return
        low, high = context.interval("frequency", (25.0, 45.0))
        gaps = [context.uniform(min(low, 60.0), min(high, 60.0)) for _ in range(2)]
        stream(context, path, meet, context.expected(self.s), 8.0, gaps)

    def stand(self, role: str, type_id: str, s: float, offset: float, turned: float = 0.0) -> int:
        """A vehicle that stands in the lane."""
        context = self.context
        pose = context.pose(s, offset)
        pose[2] += turned
        actor = context.vehicle(role, type_id, pose, context.height(s))
        context.cast.park(actor)
        return actor

    def thing(self, role: str, type_id: str, s: float, offset: float) -> int:
        """A thing that stands in the lane."""
        pose = self.context.pose(s, offset)
        return self.context.prop(role, type_id, pose, self.context.height(s))


class Accident(Blocked):
    """A police car and two damaged cars block the lane."""

    def block(self) -> None:
        """The police car first."""
        context = self.context
        self.stand("police", POLICE, self.s, -0.3)
        for number in (1, 2):
            s = self.s + 7.5 * number
            model = random_vehicle(context.rng, "car")
            self.stand("crashed", model.type_id, s, -0.4, context.uniform(-0.2, 0.2))
        self.thing("sign", ACCIDENT_SIGN, self.s - 12.0, -self.context.half_lane(self.s) - 0.6)
        self.end = self.s + 15.0


class ConstructionObstacle(Blocked):
    """Road works behind a warning trailer and cones block the lane."""

    fails = InfractionKind.COLLISION_STATIC

    def block(self) -> None:
        """The trailer first, cones behind it."""
        self.thing("trailer", TRAILER, self.s, -0.2)
        for number in range(1, 4):
            self.thing("cone", CONE, self.s + 2.5 * number, 0.9)
        sign = -self.context.half_lane(self.s) - 0.8
        self.thing("sign", ROADWORKS_SIGN, self.s - 14.0, sign)
        self.end = self.s + 8.0


class ParkedObstacle(Blocked):
    """A parked vehicle blocks the lane."""

    def block(self) -> None:
        """One car."""
        model = random_vehicle(self.context.rng)
        self.stand("parked", model.type_id, self.s, -self.context.uniform(0.0, 0.5))
        self.end = self.s + 3.0


class HazardAtSideLane(Blocked):
    """Slow bicycles ride in the ego's lane."""

    def block(self) -> None:
        """Two of them, near the right edge."""
        context = self.context
        self.offset = -max(context.half_lane(self.s) - 1.0, 0.2)
        path = swerve(context, 0.0, 1.0, self.offset, self.offset)
        self.bicycles = [
            context.puppet("bicycle", BICYCLES[number], path, self.s + 6.0 * number, 0.0)
            for number in (0, 1)
        ]

    def story(self) -> Iterator[None]:
        """They ride for a while and stop at the edge."""
        context = self.context
        speed = min(context.number("bicycle_speed", 2.5), 2.5)
        distance = min(context.number("bicycle_drive_distance", 30.0), 30.0)
        for bicycle in self.bicycles:
            bicycle.speed = speed
        if self.opposite:
            if context.criteria is not None:
                context.criteria.allow_wrong_way()
            self.oncoming()
        begin = self.bicycles[0].s
        yield from self.until(
            lambda: self.bicycles[0].s > begin + distance or self._passed(context.ego_s)
        )
        for bicycle in self.bicycles:
            bicycle.speed = 0.0
        yield from self.until(lambda: self._passed(context.ego_s))
        if self.opposite and context.criteria is not None:
            context.criteria.allow_wrong_way(False)

    def _passed(self, ego_s: float) -> bool:
        return ego_s > self.bicycles[-1].s + 15.0


class AccidentTwoWays(Accident):
    """The same on a road where one passes on the oncoming lane."""

    opposite = True
    towns = ("Town01", "Town03")


class ConstructionObstacleTwoWays(ConstructionObstacle):
    """The same on a road where one passes on the oncoming lane."""

    opposite = True
    towns = ("Town01", "Town03")


class ParkedObstacleTwoWays(ParkedObstacle):
    """The same on a road where one passes on the oncoming lane."""

    opposite = True
    towns = ("Town01", "Town03")


class HazardAtSideLaneTwoWays(HazardAtSideLane):
    """The same on a road where one passes on the oncoming lane."""

    opposite = True
    towns = ("Town01", "Town03")


class VehicleOpensDoorTwoWays(Blocked):
    """A car parked half in the lane opens its door as the ego comes near."""

    opposite = True
    towns = ("Town01", "Town03")

    def block(self) -> None:
        """The car, its left side well in the lane."""
        context = self.context
        model = random_vehicle(context.rng, "car")
        self.car = self.stand("parked", model.type_id, self.s, -(context.half_lane(self.s) - 0.35))
        self.end = self.s + 3.0

    def story(self) -> Iterator[None]:
        """The door opens; then as with other obstacles."""
        context = self.context
        yield from self.until(lambda: context.arrives(self.s, 4.5))
        self._open_door()
        yield from super().story()

    def _open_door(self) -> None:
        import carla

        try:
            self.context.session.actor(self.car).open_door(carla.VehicleDoor.FL)
        except RuntimeError as error:
            raise UserError(f"the simulator opens no doors: {error}") from error
