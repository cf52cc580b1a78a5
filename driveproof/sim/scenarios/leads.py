"""Scenarios with a vehicle ahead."""

from __future__ import annotations

from collections.abc import Iterator

from driveproof.sim.drivers.fleet import random_vehicle
from driveproof.sim.scenarios.base import Scenario, Setting
from driveproof.sim.scenarios.places import Places

CRAWL = 0.5
"""m/s: who stands for good may be passed, who crawls is waited for."""


class HardBreakRoute(Scenario):
    """The vehicle ahead brakes hard to a crawl without warning, and drives on some seconds later."""

    @classmethod
    def place(cls, places: Places) -> Setting:
        """A straight run."""
        return Setting(places.run(95.0), trigger=2.0)

    def story(self) -> Iterator[None]:
        """The lead appears, drives along, brakes, drives on."""
        context = self.context
        speed = max(context.ego_speed, 5.0)
        model = random_vehicle(context.rng, "car")
        s = context.ego_s + context.uniform(16.0, 22.0)
        lead = context.puppet(
            "lead", model.type_id, context.path, s, speed, model.colour, brake=7.0
        )
        yield from self.seconds(context.uniform(1.0, 2.5))
        lead.speed = CRAWL
        yield from self.seconds(context.uniform(3.6, 4.2))
        place, lead.speed = lead.s, 14.0
        yield from self.ego_past(place)
