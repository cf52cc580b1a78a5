"""Route files on the stage: start a route, and perform the scenarios on it one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.maps import Route
from driveproof.sim.client import Session, SpawnBlocked, WorldState
from driveproof.sim.criteria import Infraction
from driveproof.sim.drivers import Path
from driveproof.sim.routes import RouteSpec, ScenarioSpec, dense_route
from driveproof.sim.scenarios.base import Scenario
from driveproof.sim.scenarios.context import Context
from driveproof.sim.scenarios.places import NoPlace
from driveproof.sim.scenarios.registry import SCENARIOS
from driveproof.sim.scenarios.run import seeded
from driveproof.sim.scenarios.stage import DriverFactory, DriverName, Stage, Watch, name_of

AHEAD_M = 90.0
"""Metres before its trigger at which a scenario's standing actors come."""
GONE_M = 80.0
"""Metres behind the ego at which the actors of a scenario that is over leave."""
SECONDS_A_METRE, LEAST_S = 0.8, 120.0
"""Time that a route may take, where nobody says otherwise."""
NOT_STAGED = (NoPlace, SpawnBlocked, BadInput)
"""No place, no room, or parameters or blueprints that are none: what makes a scenario impossible on a route."""


@dataclass
class RouteShow:
    """All scenarios of a route, each when the ego comes near.

    Attributes
    ----------
    stage, path
        With the ego on it, and its way.
    waiting, playing
        What is to come, and what has been set up.
    skipped
        Scenarios that were not performed, with the reason.
    limit_s
        Seconds that the whole route may take.

    A scenario that could not be staged is ``skipped``; one whose place the ego did not reach is still ``waiting``.
    """

    stage: Stage
    path: Path
    waiting: list[tuple[float, ScenarioSpec]]
    limit_s: float
    seed: int = 0
    playing: dict[str, Scenario] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    hands_off: bool = False
    _near: float | None = None

    @classmethod
    def of(
        cls,
        stage: Stage,
        route: Route,
        spec: RouteSpec,
        seed: int,
        limit_s: float | None = None,
    ) -> RouteShow:
        """The scenarios of a route file's route in the order of the way.

        Those near the ego are set up at once, before it drives: one may move it, as into a parking place.
        Without ``limit_s`` the route may take 120 s, or 0.8 s a metre if that is more.
        """
        arcs = [float(route.line.project([s.trigger.x, s.trigger.y])[0]) for s in spec.scenarios]
        order = np.argsort(arcs, kind="stable").tolist()
        waiting = [(arcs[i], spec.scenarios[i]) for i in order]
        by_length = max(LEAST_S, SECONDS_A_METRE * route.length)
        limit = by_length if limit_s is None else limit_s
        show = cls(stage, stage.roads.route_path(route), waiting, limit, seed)
        show.step(stage.session.state)
        return show

    @property
    def done(self) -> bool:
        """Whether every scenario has been told."""
        return not self.waiting and all(scenario.done for scenario in self.playing.values())

    @property
    def overdue(self) -> bool:
        """Whether a scenario has begun and is not over; one that the ego did not reach cannot be late."""
        return any(one.began and not one.done for one in self.playing.values())

    @property
    def performed(self) -> tuple[str, ...]:
        """Names of the scenarios that have begun."""
        return tuple(name for name, scenario in self.playing.items() if scenario.began)

    @property
    def unstaged(self) -> str:
        """Why none of the route's scenarios could be staged; "" if one could, may still be, or there is none."""
        if self.waiting or self.playing:
            return ""
        return "; ".join(f"{name}: {reason}" for name, reason in self.skipped.items())

    @property
    def actors(self) -> dict[str, list[int]]:
        """The actors of all scenarios by their roles, in the order in which they came."""
        roles: dict[str, list[int]] = {}
        for scenario in self.playing.values():
            for role, numbers in scenario.actors.items():
                roles.setdefault(role, []).extend(numbers)
        return roles

    @property
    def actor_ids(self) -> list[int]:
        """All actors that came."""
        return [number for scenario in self.playing.values() for number in scenario.actor_ids]

    def step(self, state: WorldState) -> dict[int, Any]:
        """Set up what is near, and let all stories go on."""
        ego = state.actors[self.stage.ego_id]
        self._near = s = self.path.project(ego.x, ego.y, self._near)
        while self.waiting and self.waiting[0][0] - s < AHEAD_M:
            self._set_up(*self.waiting.pop(0))
        controls: dict[int, Any] = {}
        for name, scenario in list(self.playing.items()):
            if scenario.done and s > scenario.context.trigger + GONE_M + AHEAD_M:
                self.stage.session.destroy(scenario.actor_ids)
                continue
            if scenario.done:
                scenario.context.free_lights()
            try:
                controls |= scenario.step(state)
            except NOT_STAGED as error:
                self._skip(name, scenario, error)
        return controls

    def _skip(self, name: str, scenario: Scenario, error: Exception) -> None:
        self.skipped[name] = str(error)
        scenario.context.free_lights()
        self.stage.session.destroy(scenario.actor_ids)
        self.playing.pop(name, None)

    def disturb(self, control: Any) -> Any:
        """What all scenarios make of the ego's control."""
        for scenario in self.playing.values():
            control = scenario.disturb(control)
        return control

    def _set_up(self, trigger: float, spec: ScenarioSpec) -> None:
        kind = SCENARIOS.get(spec.type)
        if kind is None:
            self.skipped[spec.name] = f"{spec.type} is not written"
            return
        stage, scenario = self.stage, kind()
        rng = seeded(self.seed, spec.name)
        context = Context(
            stage.session,
            stage.roads,
            self.path,
            trigger,
            stage.ego_id,
            rng,
            spec.parameters,
            stage.criteria,
        )
        context.see(stage.session.state)
        try:
            scenario.setup(context)
        except NOT_STAGED as error:
            self._skip(spec.name, scenario, error)
            return
        self.playing[spec.name] = scenario


@dataclass(frozen=True)
class RouteResult:
    """What came of a route.

    Attributes
    ----------
    route, town, driver
        Which.
    infractions, completion, seconds
        As of a scenario.
    performed, skipped
        Names of the scenarios that took place, and of the others with the reason.
    """

    route: str
    town: str
    driver: str
    infractions: tuple[Infraction, ...]
    completion: float
    seconds: float
    performed: tuple[str, ...]
    skipped: Mapping[str, str]


def story_of(spec: RouteSpec) -> str:
    """The type of a route's scenarios, by which a driver may know what to expect; "" if there are none or several."""
    types = {scenario.type for scenario in spec.scenarios}
    return types.pop() if len(types) == 1 else ""


def start_route(
    stage: Stage, spec: RouteSpec, timeout_s: Callable[[Route], float] | None = None
) -> Route:
    """Put the ego at the begin of a route, in its first weather; the dense way.

    The session must be in the route's town. ``timeout_s`` says after how many seconds the route is a
    ``route_timeout`` (as :class:`Criteria` if None).

    Raises
    ------
    BadInput
        If no road leads along the positions.
    SpawnBlocked
        If something stands at the begin.
    """
    route = dense_route(spec.positions, stage.session.town)
    stage.session.freeze_lights(False)
    weather = spec.weather(0.0)
    if weather:
        stage.session.set_weather(weather)
    x, y = route.line.points[0]
    pose: Float = np.array([x, y, float(route.line.heading(0.0))])
    limit = None if timeout_s is None else timeout_s(route)
    stage.enter(route, pose, 0.0, route_timeout_s=limit)
    return route


def run_route(
    session: Session,
    spec: RouteSpec,
    driver: DriverName | DriverFactory = "expert",
    seed: int = 0,
    watch: Watch | None = None,
) -> RouteResult:
    """Drive a route of a file through its scenarios.

    Raises
    ------
    BadInput, SpawnBlocked
        As :func:`start_route` says, or if the simulator has no such town.
    """
    if session.town.name != spec.town:
        session.load_town(spec.town)
    stage = Stage(session, driver, story_of(spec))
    show: RouteShow | None = None
    try:
        route = start_route(stage, spec)
        show = RouteShow.of(stage, route, spec, seed)
        stage.play(show, watch)
    finally:
        stage.clear(show.actor_ids if show is not None else ())
    return RouteResult(
        spec.key,
        spec.town,
        name_of(driver),
        tuple(stage.criteria.failures),
        round(stage.criteria.completion, 4),
        round(stage.seconds, 3),
        tuple(show.playing),
        dict(show.skipped),
    )
