"""Scenarios in which the ego has to make room."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from driveproof.sim.client import SpawnBlocked
from driveproof.sim.criteria import InfractionKind
from driveproof.sim.drivers import Path
from driveproof.sim.drivers.fleet import random_vehicle
from driveproof.sim.scenarios.base import Scenario, Setting
from driveproof.sim.scenarios.places import NoPlace, Places

AMBULANCE = "vehicle.ford.ambulance"
BODY_M = 8.0
"""Metres of way that an ambulance needs behind the ego's."""
OVERLAP_M = 0.3
"""Metres by which the oncoming vehicles' bodies reach into the ego's, if it stays in the middle."""
EGO_HALF = 0.95


class InvadingTurn(Scenario):
    """Oncoming vehicles cut a bend and come into the ego's lane."""

    towns = ("Town03", "Town07")

    @classmethod
    def place(cls, places: Places) -> Setting:
        """A bend of a road with one lane in each direction."""
        return Setting(places.run(90.0, fits=_bend, curvature=0.06), trigger=5.0, top_speed=9.0)

    def story(self) -> Iterator[None]:
        """Two vehicles, one behind the other, beyond the middle of the road."""
        context = self.context
        self.s = context.trigger + min(context.number("distance", 45.0), 50.0)
        path, meet = context.oncoming(self.s, 110.0)
        aside = self._aside(path, meet)
        shifted = _beside(path, aside)
        speed = 7.0
        meet -= speed * context.expected(self.s)
        for number in range(2):
            model = random_vehicle(context.rng, "car")
            s = meet - 14.0 * number
            if s < 2.0:
                raise NoPlace("the oncoming lane is too short")
            try:
                context.puppet("invader", model.type_id, shifted, s, speed, model.colour)
            except SpawnBlocked as error:
                raise NoPlace(str(error)) from error
        yield from self.ego_past(self.s + 25.0)

    def _aside(self, path: Path, meet: float) -> float:
        """Metres to the left by which the oncoming vehicles leave their lane's centre."""
        own = np.array(self.context.path.point(self.s))
        gap = float(np.hypot(*(np.array(path.point(meet)) - own)))
        return gap - (EGO_HALF + 0.95 - OVERLAP_M)


def _bend(path: Path, s: float) -> bool:
    part = slice(path.index(s + 30.0), path.index(s + 75.0))
    turned = float(np.abs(path.curvature[part]).mean())
    own, every = path.left_own[part], path.left[part]
    two_ways = own.max() < 3.0 and every.min() > 4.6 and every.max() < 7.0
    return bool(two_ways and turned > 0.008 and path.verge[part].min() > 0.8)


def _beside(path: Path, offset: float) -> Path:
    s = np.arange(0.0, path.length, 0.5)
    index = [path.index(value) for value in s.tolist()]
    heading = path.heading[index]
    normal = np.stack([-np.sin(heading), np.cos(heading)], axis=-1)
    return Path.of(path.xy[index] + offset * normal, z=path.z[index])


class YieldToEmergencyVehicle(Scenario):
    """An ambulance comes from behind and wants to pass."""

    fails = InfractionKind.YIELD_EMERGENCY
    towns = ("Town04", "Town06")

    @classmethod
    def place(cls, places: Places) -> Setting:
        """A long straight run with another lane."""
        route = places.run(170.0, after=20.0, fits=_another_lane)
        return Setting(route, trigger=35.0, speed=8.0, top_speed=9.0)

    def story(self) -> Iterator[None]:
        """It appears behind the ego and keeps behind it until the way is free."""
        context = self.context
        distance = context.number("distance", 28.0)
        yield from self.until(lambda: context.ego_s > distance + BODY_M)
        s = context.ego_s - distance
        speed = max(context.ego_speed, 6.0) + 6.0
        ambulance = context.puppet(
            "emergency", AMBULANCE, context.path, s, speed, careful=True, brake=4.0
        )
        if context.criteria is not None:
            context.criteria.watch_emergency(ambulance.actor_id, speed)
        self._lights(ambulance.actor_id)
        yield from self.until(lambda: ambulance.s > context.ego_s + 15.0)
        yield from self.seconds(1.0)

    def _lights(self, actor_id: int) -> None:
        import carla

        light = carla.VehicleLightState
        vehicle = self.context.session.actor(actor_id)
        vehicle.set_light_state(carla.VehicleLightState(light.Special1 | light.LowBeam))


def _another_lane(path: Path, s: float) -> bool:
    part = slice(path.index(s), path.index(s + 170.0))
    return bool(path.right[part].min() > 4.6 or path.left_own[part].min() > 4.6)
