"""What a scenario is: a place on a route, actors, and a story that begins when the ego comes near."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.maps import Route
from driveproof.sim.client import WorldState
from driveproof.sim.criteria import InfractionKind
from driveproof.sim.routes import Parameter
from driveproof.sim.scenarios.context import Context
from driveproof.sim.scenarios.places import Places

ROUNDING_S = 1e-3
"""Simulators count time in single precision."""


@dataclass(frozen=True)
class Setting:
    """A place where a scenario can be staged.

    Attributes
    ----------
    route
        The ego's way.
    start
        Metres along it at which the ego's middle stands at first.
    trigger
        Metres along it at which the story begins.
    speed
        The ego's speed at the start, m/s.
    top_speed
        Speed that the road allows here, m/s, if lower than its signs.
    offset
        Metres left of the lane's centre at which the ego starts.
    parameters
        As a route file would give them.
    """

    route: Route
    trigger: float
    start: float = 0.5
    speed: float = 8.0
    top_speed: float = 14.0
    offset: float = 0.0
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    @property
    def pose(self) -> Float:
        """Pose ``[3]`` at which the ego starts."""
        heading = float(self.route.line.heading(self.start))
        x, y = self.route.line.at(self.start)
        aside = self.offset
        return np.array([x - aside * np.sin(heading), y + aside * np.cos(heading), heading])


class Scenario(ABC):
    """A scenario. One object is one performance.

    Attributes
    ----------
    towns
        Where it can be staged without a route file, the preferred one first.
    fails
        The infraction that a driver commits who ignores everybody: what the scenario is about.
    limit_s
        Seconds after the trigger within which the ego has to be through.
    hands_off
        Whether the oblivious driver holds the wheel straight (scenarios about keeping control).
    """

    towns: ClassVar[tuple[str, ...]] = ("Town03", "Town05")
    fails: ClassVar[InfractionKind] = InfractionKind.COLLISION_VEHICLE
    limit_s: ClassVar[float] = 40.0
    hands_off: ClassVar[bool] = False

    def __init__(self) -> None:
        self.done = False
        self._story: Iterator[None] | None = None

    @classmethod
    @abstractmethod
    def place(cls, places: Places) -> Setting:
        """A fitting place in a town.

        Raises
        ------
        NoPlace
            If the town has none, or the one drawn does not fit.
        """

    def setup(self, context: Context) -> None:
        """Put the actors that stand or wait into the world, before the ego comes.

        Raises
        ------
        NoPlace, SpawnBlocked
            If the place does not fit after all.
        """
        self.context = context
        self.prepare()

    def prepare(self) -> None:  # noqa: B027 (most scenarios need none)
        """What a scenario puts into the world beforehand; nothing by default."""

    @abstractmethod
    def story(self) -> Iterator[None]:
        """What happens from the trigger on: a generator that yields once a tick."""

    @property
    def began(self) -> bool:
        """Whether the ego has come to the trigger."""
        return self._story is not None

    @property
    def overdue(self) -> bool:
        """Whether it is a scenario's timeout if time is over now."""
        return not self.done

    @property
    def actors(self) -> dict[str, list[int]]:
        """All actors of the scenario by their roles, in the order in which they came."""
        return self.context.cast.roles

    @property
    def actor_ids(self) -> list[int]:
        """All actors, for who clears up; none before :meth:`setup`."""
        return self.context.cast.ids if hasattr(self, "context") else []

    def step(self, state: WorldState) -> dict[int, Any]:
        """Let a tick of the story happen; the controls of the actors, by id."""
        context = self.context
        context.see(state)
        if self._story is None and context.ego_s >= context.trigger:
            self._story = self.story()
        if self._story is not None and not self.done:
            try:
                next(self._story)
            except StopIteration:
                self.done = True
        return context.cast.controls(state, context.ego_id)

    def disturb(self, control: Any) -> Any:
        """What the car makes of the ego's ``carla.VehicleControl``; the same by default."""
        return control

    # --- words for stories -------------------------------------------------------------------------

    def until(self, condition: Callable[[], bool]) -> Iterator[None]:
        """Wait for a condition."""
        while not condition():
            yield

    def seconds(self, duration: float) -> Iterator[None]:
        """Wait for a time."""
        end = self.context.time + duration
        yield from self.until(lambda: self.context.time >= end - ROUNDING_S)

    def ego_past(self, s: float) -> Iterator[None]:
        """Wait until the ego's rear has passed a place of its way."""
        yield from self.until(lambda: self.context.ego_s - 3.0 > s)
