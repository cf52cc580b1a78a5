"""Scenarios at junctions: lights, signs, right of way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from driveproof.scene import Command, LightState
from driveproof.sim.criteria import InfractionKind
from driveproof.sim.drivers import Maneuver, Path
from driveproof.sim.drivers.fleet import random_vehicle
from driveproof.sim.scenarios.base import Scenario, Setting
from driveproof.sim.scenarios.places import (
    Conflict,
    NoPlace,
    Places,
    conflicts,
    crossing_at,
    sides_of,
)
from driveproof.sim.scenarios.streams import TOO_LATE_S, keep_pace, stream

TURNS = (Command.LEFT, Command.RIGHT)
EARLY_M = 60.0
"""Metres before a junction from which a red light is told of."""
SHORTEST_M = 20.0
"""Metres before a junction from which somebody can come at all."""
AHEAD = (Command.STRAIGHT, Command.FOLLOW)


def lit(path: Path, s: float) -> bool:
    """Whether a light governs the entry of the junction at ``s``."""
    return any(stop.kind == "light" and s - 25.0 < stop.s < s + 5.0 for stop in path.stops)


class _AtJunction(Scenario):
    """A way through a junction.

    ``controls`` and ``commands`` say which; ``sides`` from where somebody must be able to come.
    """

    controls: ClassVar[tuple[str, ...]] = ("light",)
    commands: ClassVar[tuple[Command, ...]] = ()
    sides: ClassVar[tuple[str, ...]] = ()
    others: ClassVar[tuple[Command, ...]] = ()
    joins: ClassVar[bool | None] = None
    before: ClassVar[tuple[float, float]] = (42.0, 55.0)

    @classmethod
    def place(cls, places: Places) -> Setting:
        """A junction of that kind."""

        def fits(path: Path, s: float, maneuver: Maneuver) -> bool:
            if cls.controls == ("light",) and not lit(path, s):
                return False
            if not cls.sides:
                return True
            end = crossing_at(path, s).end
            found = conflicts(places.roads, path, s, end, maneuver.junction_id)
            return any(cls._wanted(conflict) for conflict in found)

        before = places.uniform(*cls.before)
        route = places.junction(
            before, controls=cls.controls, commands=cls.commands, after=40.0, fits=fits
        )
        return Setting(route, trigger=2.0, speed=8.0, top_speed=11.0)

    @classmethod
    def _wanted(cls, conflict: Conflict) -> bool:
        fits = conflict.side in cls.sides and (not cls.others or conflict.command in cls.others)
        long = conflict.start > 60.0
        return fits and long and (cls.joins is None or conflict.joins == cls.joins)

    def prepare(self) -> None:
        """The ego's light is green and stays so."""
        self.crossing = self.context.crossing()
        if self.crossing.control == "light":
            self.context.hold_lights(self.crossing, LightState.GREEN)

    def conflict(self) -> Conflict:
        """Somebody's way that meets the ego's: that of the route file, or one of the junction."""
        named = self.context.named_way(self.crossing.start)
        if named is not None:
            return named
        every = [c for c in self.context.conflicts(self.crossing) if c.start > SHORTEST_M]
        # where a route file has it otherwise than we would, somebody comes from anywhere
        ahead = [c for c in every if c.command in AHEAD]
        found = [c for c in every if self._wanted(c)] or ahead or every
        side = self.context.word("direction", "")
        preferred = list(sides_of(found, side)) or found
        if not preferred:
            raise NoPlace("nobody can come from there")
        return preferred[int(self.context.rng.integers(len(preferred)))]

    def through(self) -> Iterator[None]:
        """Wait until the ego has left the junction."""
        yield from self.ego_past(self.crossing.end + 5.0)


class _Stream(_AtJunction):
    """A stream of vehicles crosses or joins the ego's way and has priority.

    ``alone`` says that a route may also lead where nobody can come: the turn itself is what it tests.
    """

    alone: ClassVar[bool] = False
    count: ClassVar[int] = 4
    gap_m: ClassVar[tuple[float, float]] = (9.0, 13.0)

    def story(self) -> Iterator[None]:
        """The stream is in the junction when the ego gets there."""
        context = self.context
        try:
            conflict = self.conflict()
        except NoPlace:
            if not self.alone:
                raise
            yield from self.through()
            return
        speed = min(context.number("flow_speed", 8.0), 12.0)
        low, high = context.interval("source_dist_interval", self.gap_m)
        gaps = [context.uniform(min(low, 14.0), min(high, 14.0)) for _ in range(self.count - 1)]
        # its rear axle comes to the meeting point when the ego's front does, or, going the same way
        # from there, a bit later
        late = context.uniform(0.0, 0.3) + (0.5 if conflict.joins else 0.0)
        first = context.expected(conflict.ego_s) + late
        vehicles = stream(context, conflict.path, conflict.s, first, speed, gaps)
        yield from keep_pace(context, vehicles, conflict.s, conflict.ego_s, speed, late)
        yield from self.through()


class SignalizedJunctionLeftTurn(_Stream):
    """Left turn on green through oncoming traffic."""

    commands = (Command.LEFT,)
    sides = ("oncoming",)
    others = AHEAD


class VanillaSignalizedTurnEncounterGreenLight(_Stream):
    """Left turn on green; one vehicle comes towards the ego."""

    alone = True
    commands = (Command.LEFT,)
    sides = ("oncoming",)
    others = AHEAD
    count = 2


class NonSignalizedJunctionLeftTurn(_Stream):
    """Left turn at a junction without lights, through oncoming traffic or from the left."""

    towns = ("Town03", "Town05")
    controls = ("none", "yield")
    commands = (Command.LEFT,)
    sides = ("oncoming", "left")
    others = AHEAD


class NonSignalizedJunctionRightTurn(_Stream):
    """Right turn at a junction without lights into traffic from the left."""

    towns = ("Town03", "Town05")
    controls = ("none", "yield")
    commands = (Command.RIGHT,)
    sides = ("left",)
    others = AHEAD


class SignalizedJunctionRightTurn(_Stream):
    """Right turn at lights into traffic from the left."""

    commands = (Command.RIGHT,)
    sides = ("left",)
    others = AHEAD
    joins = True


class _LeftTurnEnterFlow(_Stream):
    """Left turn into the lane of a stream that comes from the right."""

    commands = (Command.LEFT,)
    sides = ("right",)
    others = AHEAD
    joins = True


class SignalizedJunctionLeftTurnEnterFlow(_LeftTurnEnterFlow):
    """Left turn at lights into the lane of a stream from the right."""


class NonSignalizedJunctionLeftTurnEnterFlow(_LeftTurnEnterFlow):
    """Left turn without lights into the lane of a stream from the right."""

    towns = ("Town03", "Town05")
    controls = ("none", "yield")


class EnterActorFlow(_Stream):
    """The ego's way leads into the lane of a stream of vehicles."""

    towns = ("Town03", "Town05")
    controls = ("none", "yield")
    commands = TURNS
    sides = ("left", "right", "oncoming")
    others = AHEAD
    joins = True
    count = 5


class VanillaNonSignalizedTurn(_Stream):
    """Turn at a junction without lights and signs; somebody crosses."""

    alone = True
    controls = ("none", "yield")
    commands = TURNS
    sides = ("left", "right", "oncoming")
    others = AHEAD
    count = 2


class _TakesPriority(_AtJunction):
    """A vehicle from the side crosses right before the ego, which has priority."""

    commands = AHEAD
    sides = ("left", "right")
    others = AHEAD
    joins = False
    before = (55.0, 65.0)

    def story(self) -> Iterator[None]:
        """It keeps pace with the ego until it is too late to stop, then drives through."""
        context = self.context
        conflict = self.conflict()
        model = random_vehicle(context.rng, "car")
        s = conflict.s - 9.0 * context.expected(conflict.ego_s)
        if s < 4.0:
            raise NoPlace("the side road is too short")
        other = context.puppet("crosser", model.type_id, conflict.path, s, 9.0, model.colour)
        while context.eta(conflict.ego_s) > TOO_LATE_S:
            left = conflict.s - other.s - 0.5
            other.speed = min(max(left / max(context.eta(conflict.ego_s), 0.3), 4.0), 12.0)
            yield
        yield from self.through()


class OppositeVehicleRunningRedLight(_TakesPriority):
    """The ego has green; somebody runs the red light of the crossing road."""


class OppositeVehicleTakingPriority(_TakesPriority):
    """The ego has priority at a junction without lights; somebody does not care."""

    towns = ("Town03", "Town05")
    controls = ("none", "yield")


class BlockedIntersection(_AtJunction):
    """A vehicle stands where the ego has to go, and leaves after a while."""

    commands = TURNS
    before = (32.0, 45.0)

    def prepare(self) -> None:
        """It stands at the end of the junction."""
        super().prepare()
        context = self.context
        self.s = self.crossing.end + context.uniform(1.0, 4.0)
        model = random_vehicle(context.rng, "car")
        self.blocker = context.puppet(
            "blocker", model.type_id, context.path, self.s, 0.0, model.colour
        )
        self.blocker.held = True

    def story(self) -> Iterator[None]:
        """Some seconds after the ego has come near it drives on."""
        context = self.context
        yield from self.until(lambda: context.arrives(self.s, 2.5))
        yield from self.seconds(context.uniform(3.5, 5.0))
        self.blocker.held, self.blocker.speed = False, 11.0
        yield from self.through()


class _RedLight(_AtJunction):
    """The light is red when the ego comes, and turns green after a while."""

    fails = InfractionKind.RED_LIGHT

    def prepare(self) -> None:
        """Red for the ego, from far before the line."""
        super().prepare()
        context = self.context
        self.lit = context.ego_light(self.crossing) is not None
        if self.lit:
            context.trigger = min(context.trigger, self.crossing.start - EARLY_M)
            context.hold_lights(self.crossing, LightState.RED)

    def story(self) -> Iterator[None]:
        """Green some seconds after the ego has come to the line; where there is no light, nothing."""
        context = self.context
        if not self.lit:
            yield from self.through()
            return
        yield from self.until(lambda: context.arrives(self.crossing.start, 3.0))
        yield from self.seconds(context.uniform(5.0, 7.0))
        context.hold_lights(self.crossing, LightState.GREEN)
        yield from self.through()


class VanillaSignalizedTurnEncounterRedLight(_RedLight):
    """Turn at a junction with lights, red at first."""

    commands = TURNS


class TJunction(_RedLight):
    """Turn at a junction of three roads with lights, red at first."""

    commands = TURNS
    towns = ("Town01", "Town03")

    @classmethod
    def place(cls, places: Places) -> Setting:
        """A junction of three roads."""
        lanes = places.town.lanes
        roads = {
            key: len({int(lanes.road[lane]) for lane in junction.entries})
            for key, junction in places.town.junctions.items()
        }
        route = places.junction(
            places.uniform(*cls.before),
            controls=cls.controls,
            commands=cls.commands,
            after=40.0,
            fits=lambda path, s, maneuver: roads.get(maneuver.junction_id) == 3 and lit(path, s),
        )
        return Setting(route, trigger=2.0, speed=8.0, top_speed=11.0)


class VanillaNonSignalizedTurnEncounterStopsign(_AtJunction):
    """Turn at a junction with a stop sign."""

    fails = InfractionKind.STOP_SIGN
    controls = ("stop",)
    commands = TURNS

    def story(self) -> Iterator[None]:
        """Nobody is there, and still one stops."""
        yield from self.through()
