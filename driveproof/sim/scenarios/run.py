"""Performing one scenario: place, actors, driver, criteria, and what came of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from driveproof.errors import UserError
from driveproof.sim.client import Session, SpawnBlocked
from driveproof.sim.criteria import Infraction
from driveproof.sim.scenarios.base import Scenario
from driveproof.sim.scenarios.context import Context
from driveproof.sim.scenarios.places import NoPlace, Places
from driveproof.sim.scenarios.registry import SCENARIOS, scenario_type
from driveproof.sim.scenarios.stage import (
    DriverFactory,
    DriverName,
    Stage,
    Watch,
    name_of,
    slow_down,
)

ATTEMPTS = 12
"""How often a scenario is set up anew before it is given up."""
SLOWEST = 6.0
"""The oblivious driver's speed where the ego starts slower, m/s."""


class NoStage(UserError):
    """A scenario could not be set up anywhere in a town."""


@dataclass(frozen=True)
class ScenarioResult:
    """What came of a scenario.

    Attributes
    ----------
    name, driver, seed, town
        Which.
    place
        ``x, y`` of the ego's start, right-handed, m.
    infractions
        In order of time, without those that cost nothing.
    completion
        Share of the way, 0 to 1.
    seconds
        Simulated.
    told
        Whether the story came to its end.
    roles
        All role actors by role.
    attempts
        How many setups it took.
    """

    name: str
    driver: str
    seed: int
    town: str
    place: tuple[float, float]
    infractions: tuple[Infraction, ...]
    completion: float
    seconds: float
    told: bool
    roles: dict[str, list[int]]
    attempts: int

    @property
    def kinds(self) -> tuple[str, ...]:
        """The different infractions, in order of time."""
        return tuple(dict.fromkeys(one.kind.value for one in self.infractions))

    @property
    def passed(self) -> bool:
        """Whether the ego came through without an infraction."""
        return self.completion >= 1.0 and not self.infractions


def seeded(seed: int, *key: object) -> np.random.Generator:
    """A generator that depends on ``seed`` and ``key`` only."""
    text = "/".join(map(str, (seed, *key)))
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big"))


def run_scenario(
    session: Session,
    name: str,
    driver: DriverName | DriverFactory = "expert",
    seed: int = 0,
    town: str | None = None,
    watch: Watch | None = None,
) -> ScenarioResult:
    """Stage a scenario somewhere in a town and let a driver go through it.

    Parameters
    ----------
    driver
        One of ours, or a factory that puts another driver into the ego.
    town
        None takes the session's town if the scenario can be staged there, else the preferred one.
    watch
        Called with every state and the ego's id (for pictures).

    Raises
    ------
    BadInput
        If there is no such scenario or driver.
    NoStage
        If the town has no fitting place.
    """
    name = scenario_type(name)
    kind = SCENARIOS[name]
    here = session.town.name
    wanted = town or (here if here in kind.towns else kind.towns[0])
    if wanted != here:
        session.load_town(wanted)
    reasons = []
    for attempt in range(ATTEMPTS):
        stage = Stage(session, driver, name)
        scenario = kind()
        try:
            _open(stage, scenario, seeded(seed, name, attempt))
            start = session.state.actors[stage.ego_id]
            stage.play(scenario, watch)
        except (NoPlace, SpawnBlocked) as error:
            reasons.append(str(error))
            continue
        finally:
            stage.clear(scenario.actor_ids)
        return ScenarioResult(
            name,
            name_of(driver),
            seed,
            wanted,
            (start.x, start.y),
            tuple(stage.criteria.failures),
            round(stage.criteria.completion, 4),
            round(stage.seconds, 3),
            scenario.done,
            scenario.actors,
            attempt + 1,
        )
    raise NoStage(f"{name} finds no place in {wanted}: {reasons[-1]}")


def _open(stage: Stage, scenario: Scenario, rng: np.random.Generator) -> None:
    """Find a place, put the ego there, and set the scenario up."""
    setting = scenario.place(Places(stage.roads, rng))
    route = slow_down(setting.route, setting.top_speed)
    stage.still_lights()
    stage.enter(route, setting.pose, setting.speed, max(setting.speed, SLOWEST))
    context = Context(
        stage.session,
        stage.roads,
        stage.roads.route_path(route),
        setting.trigger,
        stage.ego_id,
        rng,
        dict(setting.parameters),
        stage.criteria,
    )
    context.see(stage.session.state)
    scenario.setup(context)
