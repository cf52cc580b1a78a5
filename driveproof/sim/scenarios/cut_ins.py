"""Scenarios with a vehicle that comes into the ego's lane closely ahead."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from driveproof.sim.drivers import Path
from driveproof.sim.drivers.fleet import random_vehicle
from driveproof.sim.scenarios.base import Scenario, Setting
from driveproof.sim.scenarios.cast import Puppet
from driveproof.sim.scenarios.context import Context
from driveproof.sim.scenarios.places import NoPlace, Places


def swerve(context: Context, begin: float, length: float, start: float, end: float = 0.0) -> Path:
    """A way beside the ego's: offset ``start`` until ``begin``, then blending to ``end`` over ``length`` metres."""
    path = context.path
    s = np.arange(0.0, path.length, 0.5)
    t = np.clip((s - begin) / length, 0.0, 1.0)
    offset = start + (end - start) * t * t * (3.0 - 2.0 * t)
    index = [path.index(value) for value in s.tolist()]
    heading = path.heading[index]
    normal = np.stack([-np.sin(heading), np.cos(heading)], axis=-1)
    points = path.xy[index] + offset[:, None] * normal
    return Path.of(points, z=path.z[index])


class ParkingCutIn(Scenario):
    """A car that stands at the edge of the road pulls out right before the ego."""

    @classmethod
    def place(cls, places: Places) -> Setting:
        """A straight run with room at the edge."""
        return Setting(places.run(95.0, fits=_has_verge), trigger=5.0)

    def prepare(self) -> None:
        """The car at the edge, between two others."""
        context = self.context
        self.side = 1.0 if context.word("direction", "right") == "left" else -1.0
        self.s = context.trigger + context.uniform(40.0, 50.0)
        i = context.path.index(self.s)
        edge = float(context.path.left[i] if self.side > 0 else context.path.right[i])
        offset = self.side * (edge + 0.95)
        path = swerve(context, self.s + 2.0, 11.0, offset)
        model = random_vehicle(context.rng, "car")
        self.cutter = context.puppet("cutter", model.type_id, path, self.s, 0.0, model.colour)
        self.cutter.held = True
        for away in (-9.0, 16.0):
            model = random_vehicle(context.rng, "car")
            pose = context.pose(self.s + away, offset + 0.1 * self.side)
            z = context.height(self.s)
            actor = context.vehicle("parked", model.type_id, pose, z, 0.0, model.colour)
            context.cast.park(actor)

    def story(self) -> Iterator[None]:
        """It pulls out, crawls, and then drives on."""
        context = self.context
        yield from self.until(lambda: context.arrives(self.s - 4.0, 2.9))
        self.cutter.held = False
        self.cutter.speed, self.cutter.accel = 3.2, 3.0
        yield from self.seconds(5.0)
        self.cutter.speed = 12.0
        yield from self.ego_past(self.s + 10.0)


def _has_verge(path: Path, s: float) -> bool:
    part = slice(path.index(s + 20.0), path.index(s + 80.0))
    return bool(path.verge[part].min() > 1.6 and path.right[part].max() < 2.6)


class StaticCutIn(Scenario):
    """One of the cars that queue in the next lane cuts into the ego's lane."""

    @classmethod
    def place(cls, places: Places) -> Setting:
        """A straight run with another lane of the same direction on its right."""
        route = places.run(100.0, fits=_lane_on_the_right)
        return Setting(route, trigger=5.0, parameters={"distance": places.uniform(42.0, 52.0)})

    def prepare(self) -> None:
        """The queue."""
        context = self.context
        side = 1 if context.word("direction", "right") == "left" else -1
        self.s = context.trigger + context.number("distance", 45.0)
        offset = context.beside(self.s, side)
        if offset is None:
            raise NoPlace("no lane beside the ego's")
        places = (self.s + 12.5, self.s + 20.0, self.s - 8.0, self.s - 16.0)
        for s in places:
            model = random_vehicle(context.rng, "car")
            pose = context.pose(s, offset)
            actor = context.vehicle(
                "queue", model.type_id, pose, context.height(s), 0.0, model.colour
            )
            context.cast.park(actor)
        path = swerve(context, self.s + 1.5, 11.0, offset)
        model = random_vehicle(context.rng, "car")
        self.cutter = context.puppet("cutter", model.type_id, path, self.s, 0.0, model.colour)
        self.cutter.held = True

    def story(self) -> Iterator[None]:
        """It pulls out, crawls, and then drives on."""
        context = self.context
        yield from self.until(lambda: context.arrives(self.s - 4.0, 3.2))
        self.cutter.held = False
        self.cutter.speed = 3.2
        yield from self.seconds(5.5)
        self.cutter.speed = 12.0
        yield from self.ego_past(self.s + 10.0)


def _lane_on_the_right(path: Path, s: float) -> bool:
    part = slice(path.index(s), path.index(s + 100.0))
    return bool(path.right[part].min() > 4.6)


class HighwayCutIn(Scenario):
    """A vehicle that drives beside the ego changes into its lane closely ahead and slows down."""

    towns = ("Town04", "Town05")

    @classmethod
    def place(cls, places: Places) -> Setting:
        """A straight run with another lane of the same direction on its right."""
        route = places.run(150.0, fits=_lane_on_the_right)
        return Setting(route, trigger=2.0, speed=11.0, top_speed=14.0)

    def story(self) -> Iterator[None]:
        """It comes alongside, changes lanes, slows down, and drives on."""
        context = self.context
        speed = max(context.ego_speed, 6.0)
        s = context.ego_s + context.uniform(9.0, 12.0)
        offset = context.beside(s, -1) or context.beside(s, 1)
        if offset is None:
            raise NoPlace("no lane beside the ego's")
        begin = s + speed * context.uniform(0.8, 1.5)
        length = 2.2 * speed
        path = swerve(context, begin, length, offset)
        model = random_vehicle(context.rng, "car")
        cutter: Puppet = context.puppet(
            "cutter", model.type_id, path, s, speed, model.colour, brake=3.0
        )
        yield from self.until(lambda: cutter.s > begin + 0.55 * length)
        cutter.speed = 0.35 * speed
        yield from self.seconds(5.0)
        cutter.speed = 14.0
        yield from self.ego_past(begin + length)
