"""One drive: set the stage in a simulator, let the expert drive, keep what happened."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from driveproof.collect.plan import Placed, Plan
from driveproof.collect.situations import SITUATIONS
from driveproof.collect.staging import NoPlace, Stage, seeded
from driveproof.scene import LightState
from driveproof.sim.client import ActorState, Session, SpawnBlocked, WorldState
from driveproof.sim.drivers import (
    DriverDecision,
    Drivers,
    ExpertDriver,
    Path,
    Roads,
    Traffic,
    Vehicle,
    Walk,
)

DT = 0.1
"""Seconds between annotations, and between decisions."""
MIN_WAY = 8.0
"""A drive in which the ego moves less than this many metres is of no use."""
OFF_PATH = 2.0
"""Metres beside the planned way that spoil a drive."""
EGO_ROLE, ROLE = "hero", "situation"


class Spoiled(Exception):
    """A drive that must not become data; the text is counted."""


@dataclass(frozen=True)
class Moment:
    """One step of a drive: what the world was, where the ego was on its way, and what it decided."""

    state: WorldState
    ego: ActorState
    s: float
    decision: DriverDecision


Watcher = Callable[[WorldState, Vehicle, DriverDecision], None]
"""Called at every step with the ego as its driver knows it: a recorder."""


@dataclass(frozen=True)
class Episode:
    """A drive: the ego's path and a moment every :data:`DT` seconds."""

    path: Path
    moments: tuple[Moment, ...]

    @property
    def way(self) -> float:
        """Metres driven."""
        return self.moments[-1].s - self.moments[0].s

    def outcome(self) -> dict[str, float]:
        """Numbers about the drive for the index: metres, mean speed, hardest braking, seconds at a stand."""
        speeds = np.array([m.ego.speed for m in self.moments])
        braking = -np.diff(speeds).min() / DT
        return {
            "metres": round(self.way, 2),
            "mean_speed": round(float(speeds.mean()), 3),
            "hardest_braking": round(float(braking), 3),
            "seconds_standing": round(float((speeds < 0.5).sum() * DT), 1),
        }


def plan(situation: str, roads: Roads, seed: int, key: str, traffic: int) -> Plan:
    """A situation from (seed, key); :class:`NoPlace` if it does not fit the town."""
    return SITUATIONS[situation].setup(Stage(roads, seeded(seed, key), traffic=traffic))


@dataclass
class Drive:
    """A plan on stage.

    Parameters
    ----------
    session
        In the town of the plan, with a step that divides :data:`DT`. Everything in it is destroyed first.
    rng
        The source of the traffic's choices.
    """

    session: Session
    roads: Roads
    plan: Plan
    rng: np.random.Generator
    weather: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        session = self.session
        self._ticks = round(DT / session.delta_s)
        session.clear()
        session.restart_clock()
        session.set_weather(self.weather)
        session.freeze_lights()
        self._shown: dict[str, LightState] = {}
        self._show_lights(0.0)
        self.drivers = Drivers(session, self.roads)
        try:
            self.ego = self._put(self.plan.ego, EGO_ROLE)
            self.expert = ExpertDriver(self.drivers, self.ego, self.plan.ego.path)
            self.others = [self._hire(placed) for placed in self.plan.vehicles]
            self.walks = [self._walk(number) for number in range(len(self.plan.walkers))]
            for thing in self.plan.things:
                session.spawn_prop(thing.type_id, thing.pose, thing.z, ROLE)
        except SpawnBlocked:
            raise NoPlace("actors overlap at the start") from None
        session.watch_collisions(self.ego)
        self.traffic = Traffic(
            session,
            self.drivers,
            self.ego.id,
            self.rng,
            self.plan.traffic,
            ego_clear=self.plan.ego_clear,
        )
        self.state = session.tick()
        self._act()

    def _put(self, placed: Placed, role: str) -> Any:
        return self.session.spawn_vehicle(
            placed.model.type_id, placed.pose, placed.z, role, placed.model.colour, placed.speed
        )

    def _hire(self, placed: Placed) -> Vehicle:
        vehicle = self.drivers.add(
            self._put(placed, ROLE), placed.path, placed.style, script=placed.script
        )
        vehicle.parked, vehicle.indicator = placed.parked, placed.indicator
        return vehicle

    def _walk(self, number: int) -> Walk:
        who = self.plan.walkers[number]
        (x, y), (to_x, to_y) = who.waypoints[:2]
        heading = math.atan2(to_y - y, to_x - x)
        walker = self.session.spawn_walker(who.type_id, (x, y, heading), who.z, ROLE)
        return Walk(walker.id, who.waypoints[1:], who.pace, trigger_eta=who.trigger_eta)

    def _show_lights(self, time: float) -> None:
        states = self.plan.lights.states(time)
        self.session.set_lights({k: v for k, v in states.items() if self._shown.get(k) is not v})
        self._shown = states

    def _act(self) -> None:
        """Let everybody decide on what they see now."""
        state = self.state
        for hook in self.plan.hooks:
            hook(self.expert.vehicle, self.others)
        self.traffic.step(state)
        controls = self.drivers.decide(state)
        for walk in self.walks:
            controls[walk.actor_id] = walk.control(state, self.ego.id)
        self.session.apply(controls)
        self.session.set_lamps(self.drivers.lamps())

    def _advance(self) -> None:
        """Let :data:`DT` seconds pass.

        Raises
        ------
        Spoiled
            "collision".
        """
        for _ in range(self._ticks):
            self.state = self.session.tick()
            self._show_lights(self.state.time)
            if self.state.collisions:
                raise Spoiled("collision")

    def run(self, seconds: float, watcher: Watcher | None = None) -> Episode:
        """Drive for ``seconds``.

        Raises
        ------
        Spoiled
            If the ego touched somebody, ran a red light, left its path, hardly moved or came to the end of
            the road: "collision", "red_light", "off_path", "no_motion", "end_of_road".
        """
        ego, moments = self.expert.vehicle, []
        self.state = self.session.tick()  # now the traffic is there, too
        before = ego.s_front
        for number in range(round(seconds / DT)):
            if number:
                self._advance()
            self._act()
            self._check(before)
            before = ego.s_front
            now = self.state
            moments.append(Moment(now, now.actors[self.ego.id], ego.s, self.expert.decision))
            if watcher is not None:
                watcher(now, ego, self.expert.decision)
        if self.session.late_collisions():
            raise Spoiled("collision")
        episode = Episode(ego.path, tuple(moments))
        if episode.way < MIN_WAY:
            raise Spoiled("no_motion")
        return episode

    def _check(self, front_before: float) -> None:
        """Raise :class:`Spoiled` if the last step broke a rule that data must never show."""
        ego, lights = self.expert.vehicle, self.state.lights
        for stop in ego.path.stops:
            passed = front_before <= stop.s < ego.s_front
            if stop.kind == "light" and passed and lights.get(stop.signal_id) is LightState.RED:
                raise Spoiled("red_light")
        x, y = ego.path.point(ego.s, ego.offset_at(ego.s))
        if math.hypot(ego.state.x - x, ego.state.y - y) > OFF_PATH:
            raise Spoiled("off_path")
        if ego.s_front > ego.path.length - 1.0:
            raise Spoiled("end_of_road")
