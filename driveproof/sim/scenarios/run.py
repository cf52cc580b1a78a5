"""Performing one scenario: place, actors, driver, criteria, and what came of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from driveproof.errors import BadInput, UserError
from driveproof.geometry.arrays import Float
from driveproof.maps import Route
from driveproof.sim.client import Session, SpawnBlocked, WorldState
from driveproof.sim.criteria import Criteria, Infraction
from driveproof.sim.drivers import Drivers, ExpertDriver, ObliviousDriver, Roads
from driveproof.sim.drivers.fleet import EGO
from driveproof.sim.scenarios.base import Scenario, Setting
from driveproof.sim.scenarios.context import Context
from driveproof.sim.scenarios.places import NoPlace, Places
from driveproof.sim.scenarios.registry import SCENARIOS, scenario_type

DriverName = Literal["expert", "oblivious"]
ATTEMPTS = 12
"""How often a scenario is set up anew before it is given up."""
SETTLE_TICKS = 1
TAIL_S = 1.0
"""Seconds that are still watched after an infraction of the oblivious driver."""


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
    driver: DriverName = "expert",
    seed: int = 0,
    town: str | None = None,
    watch: Callable[[WorldState, int], None] | None = None,
) -> ScenarioResult:
    """Stage a scenario somewhere in a town and let a driver go through it.

    Parameters
    ----------
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
    if driver not in get_args(DriverName):
        raise BadInput(f"no driver {driver!r}", hint="expert or oblivious")
    here = session.town.name
    wanted = town or (here if here in kind.towns else kind.towns[0])
    if wanted != here:
        session.load_town(wanted)
    roads = roads_of(session)
    reasons = []
    for attempt in range(ATTEMPTS):
        rng = seeded(seed, name, attempt)
        stage = Stage(session, roads, rng, driver)
        try:
            scenario = stage.open(kind)
        except (NoPlace, SpawnBlocked) as error:
            reasons.append(str(error))
            stage.clear()
            continue
        try:
            stage.play(scenario, watch)
            return stage.result(scenario, name, seed, attempt + 1)
        except (NoPlace, SpawnBlocked) as error:
            reasons.append(str(error))
        finally:
            stage.clear()
    raise NoStage(f"{name} finds no place in {wanted}: {reasons[-1]}")


_ROADS: dict[str, Roads] = {}


def roads_of(session: Session) -> Roads:
    """The roads of the session's town; the last towns are kept."""
    town = session.town
    if town.digest not in _ROADS:
        if len(_ROADS) >= 3:
            del _ROADS[next(iter(_ROADS))]
        _ROADS[town.digest] = Roads(town)
    return _ROADS[town.digest]


class Stage:
    """One performance: the ego, its driver and its criteria around a scenario."""

    def __init__(
        self, session: Session, roads: Roads, rng: np.random.Generator, driver: DriverName
    ) -> None:
        self._session, self._roads, self._rng, self._driver = session, roads, rng, driver
        self._scenario: Scenario | None = None
        self._ego: Any = None

    def open(self, kind: type[Scenario]) -> Scenario:
        """Find a place, put the ego there, and set the scenario up."""
        setting = kind.place(Places(self._roads, self._rng))
        route = slow_down(setting.route, setting.top_speed)
        start = start_pose(setting)
        z = float(route.z[0])
        self._ego = self._session.spawn_vehicle(EGO, start.tolist(), z, "hero", speed=setting.speed)
        self._session.watch_collisions(self._ego)
        self.drivers = Drivers(self._session, self._roads)
        if self._driver == "expert":
            ExpertDriver(self.drivers, self._ego, route)
        else:
            ObliviousDriver(self.drivers, self._ego, route, max(setting.speed, 6.0))
        self.criteria = Criteria(self._session, self._ego.id, route)
        self._start, self._begin = (float(start[0]), float(start[1])), None
        self._session.tick()
        context = Context(
            self._session,
            self._roads,
            self._roads.route_path(route),
            setting.trigger,
            self._ego.id,
            self._rng,
            dict(setting.parameters),
            self.criteria,
        )
        scenario = kind()
        self._scenario = scenario
        context.see(self._session.state)
        scenario.setup(context)
        return scenario

    def play(self, scenario: Scenario, watch: Callable[[WorldState, int], None] | None) -> None:
        """Tick until the ego is through, or fails, or time is over."""
        session, ego = self._session, int(self._ego.id)
        state = session.tick()
        begin, stop = state.time, np.inf
        while True:
            self.criteria.update(state)
            if watch is not None:
                watch(state, ego)
            if self._driver == "oblivious" and self.criteria.failures:
                stop = min(stop, state.time + TAIL_S)
            late = state.time - begin > scenario.limit_s
            if late and not scenario.done:
                self.criteria.scenario_timeout(f"not through after {scenario.limit_s:.0f} s")
            if late or self.criteria.ended or state.time >= stop:
                break
            actors = scenario.step(state)
            controls = self.drivers.decide(state)
            if self._driver == "oblivious" and scenario.hands_off:
                controls[ego].steer = 0.0
            controls[ego] = scenario.disturb(controls[ego])
            session.apply({**actors, **controls})
            state = session.tick()
        self.criteria.finish()
        self.seconds = state.time - begin

    def result(self, scenario: Scenario, name: str, seed: int, attempts: int) -> ScenarioResult:
        """What came of it."""
        return ScenarioResult(
            name,
            self._driver,
            seed,
            self._session.town.name,
            self._start,
            tuple(self.criteria.failures),
            round(self.criteria.completion, 4),
            round(self.seconds, 3),
            scenario.done,
            scenario.actors,
            attempts,
        )

    def clear(self) -> None:
        """Take everybody off the stage."""
        ids = []
        if self._scenario is not None and hasattr(self._scenario, "context"):
            ids += self._scenario.context.cast.ids
        if self._ego is not None:
            ids.append(int(self._ego.id))
        self._session.destroy(ids)


def start_pose(setting: Setting) -> Float:
    """Pose ``[3]`` at which the ego starts."""
    line, s = setting.route.line, setting.start
    heading = float(line.heading(s))
    x, y = line.at(s)
    aside = setting.offset
    return np.array([x - aside * np.sin(heading), y + aside * np.cos(heading), heading])


def slow_down(route: Route, top_speed: float) -> Route:
    """A route whose limits are at most ``top_speed``, m/s."""
    limit = np.fmin(route.speed_limit, top_speed)
    return replace(route, speed_limit=limit)
