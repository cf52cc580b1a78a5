"""The stage: an ego with its driver and its criteria, and whatever is shown to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol, get_args

import numpy as np

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.maps import Route, SignalKind
from driveproof.scene import LightState
from driveproof.sim.client import Session, WorldState
from driveproof.sim.criteria import Criteria
from driveproof.sim.drivers import Drivers, ExpertDriver, ObliviousDriver, Roads
from driveproof.sim.drivers.fleet import EGO

DriverName = Literal["expert", "oblivious"]
TAIL_S = 1.0
"""Seconds that are still watched after an infraction of the oblivious driver."""
KEPT_TOWNS = 3
_ROADS: dict[str, Roads] = {}

Watch = Callable[[WorldState, int], None]
"""Called with every state and the ego's id."""


class Pedals(Protocol):
    """What an ego's driver does with its car: pedals 0 to 1, steer -1 to 1 (right positive)."""

    @property
    def throttle(self) -> float:
        """Of the accelerator."""

    @property
    def brake(self) -> float:
        """Of the brake."""

    @property
    def steer(self) -> float:
        """Of the wheel."""


class EgoDriver(Protocol):
    """Somebody else who drives the ego."""

    def control(self, state: WorldState) -> Pedals:
        """What it does until the next tick."""


class DriverFactory(Protocol):
    """Puts a driver into an ego on a stage; ``name`` is what results call it."""

    @property
    def name(self) -> str:
        """What results call the driver."""

    def __call__(self, stage: Stage, ego: Any, route: Route) -> EgoDriver:
        """A driver for the ``carla.Vehicle`` ``ego`` along ``route``."""


class Show(Protocol):
    """What happens around the ego: a scenario, or all those of a route."""

    @property
    def done(self) -> bool:
        """Whether everything has been told."""

    @property
    def overdue(self) -> bool:
        """Whether it is a scenario's timeout if time is over now."""

    @property
    def limit_s(self) -> float:
        """Seconds after which it is over."""

    @property
    def hands_off(self) -> bool:
        """Whether the oblivious driver holds the wheel straight."""

    @property
    def actors(self) -> Mapping[str, Sequence[int]]:
        """Ids of the actors by the roles that they play."""

    def step(self, state: WorldState) -> dict[int, Any]:
        """Controls of the actors for the next step."""

    def disturb(self, control: Any) -> Any:
        """What the car makes of the ego's control."""


def roads_of(session: Session) -> Roads:
    """The roads of the session's town; those of the last towns are kept."""
    town = session.town
    if town.digest not in _ROADS:
        if len(_ROADS) >= KEPT_TOWNS:
            del _ROADS[next(iter(_ROADS))]
        _ROADS[town.digest] = Roads(town)
    return _ROADS[town.digest]


class Stage:
    """One performance. Use :meth:`enter`, then :meth:`play`, then :meth:`clear`.

    Attributes
    ----------
    session, roads
        The simulator and its town.
    story
        The scenario type; "" if there is none or several.
    ego_id, criteria, drivers
        There after :meth:`enter`.
    show
        What is being played, from :meth:`play` on.
    seconds
        Simulated, after :meth:`play`.
    """

    def __init__(
        self, session: Session, driver: DriverName | DriverFactory, story: str = ""
    ) -> None:
        if isinstance(driver, str) and driver not in get_args(DriverName):
            raise BadInput(f"no driver {driver!r}", hint="expert or oblivious")
        self.session, self.roads, self._driver = session, roads_of(session), driver
        self.story = story
        self.show: Show | None = None
        self._guest: EgoDriver | None = None
        self.ego_id = -1
        self.seconds = 0.0

    def enter(
        self,
        route: Route,
        pose: Float,
        speed: float,
        cruise: float = 8.0,
        route_timeout_s: float | None = None,
    ) -> None:
        """Put the ego at a pose ``[3]`` of a route, with a speed, and a driver into it.

        ``cruise`` is the constant speed of the oblivious driver, m/s; ``route_timeout_s`` as of :class:`Criteria`.

        Raises
        ------
        SpawnBlocked
            If something stands there.
        """
        self.session.restart_clock()
        z = float(route.z[0])
        ego = self.session.spawn_vehicle(EGO, pose.tolist(), z, "hero", speed=speed)
        self.ego_id = int(ego.id)
        self.session.watch_collisions(ego)
        self.drivers = Drivers(self.session, self.roads)
        if self._driver == "expert":
            ExpertDriver(self.drivers, ego, route)
        elif self._driver == "oblivious":
            ObliviousDriver(self.drivers, ego, route, cruise)
        else:
            self._guest = self._driver(self, ego, route)
        self.criteria = Criteria(self.session, self.ego_id, route, route_timeout_s=route_timeout_s)
        self.session.tick()

    def still_lights(self) -> None:
        """Freeze all lights on green, so that a performance does not depend on the hour."""
        keys = [s.key for s in self.roads.town.signals if s.kind is SignalKind.TRAFFIC_LIGHT]
        self.session.freeze_lights()
        self.session.set_lights(dict.fromkeys(keys, LightState.GREEN))

    def play(self, show: Show, watch: Watch | None = None) -> None:
        """Tick until the ego is through, or fails, or time is over."""
        session, ego, self.show = self.session, self.ego_id, show
        state = self._tick()
        begin, stop = state.time, np.inf
        while True:
            self.criteria.update(state)
            if watch is not None:
                watch(state, ego)
            if self._driver == "oblivious" and self.criteria.failures:
                stop = min(stop, begin + self.criteria.failures[0].time + TAIL_S)
            late = state.time - begin > show.limit_s or self.criteria.timed_out
            if late and show.overdue:
                self.criteria.scenario_timeout(f"not through after {state.time - begin:.0f} s")
            if late or self.criteria.ended or state.time >= stop:
                break
            actors = show.step(state)
            if self._guest is not None:
                controls = {ego: as_control(self._guest.control(state))}
            else:
                controls = self.drivers.decide(state)
            if self._driver == "oblivious" and show.hands_off:
                controls[ego].steer = 0.0
            controls[ego] = show.disturb(controls[ego])
            session.apply({**actors, **controls})
            state = self._tick()
        self.criteria.finish(self.session.late_collisions())
        self.seconds = state.time - begin

    def _tick(self) -> WorldState:
        """A step; when somebody comes to touch the ego, with all that the collision sensor says of it.

        Its messages come on a socket of their own, sometimes after the step. Those about a contact that is already
        counted are not waited for: an ego that pushes against something for minutes would spend them waiting.
        """
        state = self.session.tick()
        if not self.criteria.contacts.new_touch(state, self.ego_id):
            return state
        late = self.session.late_collisions()
        return replace(state, collisions=(*state.collisions, *late))

    def clear(self, actors: Iterable[int] = ()) -> None:
        """Take the ego and the others off the stage."""
        self.session.destroy([*actors, self.ego_id])


def name_of(driver: DriverName | DriverFactory) -> str:
    """What results call a driver."""
    return driver if isinstance(driver, str) else driver.name


def as_control(pedals: Pedals) -> Any:
    """A ``carla.VehicleControl``."""
    import carla

    return carla.VehicleControl(pedals.throttle, pedals.steer, pedals.brake)


def slow_down(route: Route, top_speed: float) -> Route:
    """A route whose limits are at most ``top_speed``, m/s."""
    return replace(route, speed_limit=np.fmin(route.speed_limit, top_speed))
