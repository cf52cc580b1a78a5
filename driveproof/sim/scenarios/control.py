"""Scenarios in which the car does not do what its driver wants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from driveproof.sim.criteria import InfractionKind
from driveproof.sim.drivers import Path
from driveproof.sim.scenarios.base import Scenario, Setting
from driveproof.sim.scenarios.places import Places

KICK = 0.09
"""Steer (of -1 to 1) that the bad road adds."""
ZONE_M = 5.0
"""Metres of a bad stretch."""


class ControlLoss(Scenario):
    """Debris on the road throws the car off course, three times; the driver has to steer against it."""

    fails = InfractionKind.OFF_LANE
    hands_off = True

    @classmethod
    def place(cls, places: Places) -> Setting:
        """A straight run, in the lane at the edge of the road."""
        return Setting(places.run(120.0, fits=_edge, curvature=0.002), trigger=5.0, top_speed=11.0)

    def prepare(self) -> None:
        """Debris at three places."""
        context = self.context
        self.zones = [context.trigger + d + context.uniform(-3.0, 3.0) for d in (20.0, 45.0, 70.0)]
        self.kicks = [-KICK * context.uniform(0.8, 1.2) for _ in self.zones]
        for number, s in enumerate(self.zones, start=1):
            pose = context.pose(s)
            z = context.height(s)
            debris = context.prop("debris", f"static.prop.dirtdebris0{number}", pose, z)
            context.session.actor(debris).set_collisions(False)  # one drives over it

    def disturb(self, control: Any) -> Any:
        """Steer to the right on bad stretches (CARLA's steer is positive to the right)."""
        for s, kick in zip(self.zones, self.kicks, strict=True):
            if s < self.context.ego_s < s + ZONE_M:
                control.steer = min(max(control.steer - kick, -1.0), 1.0)
        return control

    def story(self) -> Iterator[None]:
        """Until the last bad stretch is behind the ego."""
        yield from self.ego_past(self.zones[-1] + ZONE_M + 10.0)


def _edge(path: Path, s: float) -> bool:
    part = slice(path.index(s), path.index(s + 120.0))
    return bool(path.right[part].max() < 2.6)
