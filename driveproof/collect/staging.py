"""The stage on which situations are set up: places of a town, the ego, traffic around it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from driveproof.collect.lights import TrafficLights, random_lights
from driveproof.collect.plan import Hook, Pedestrian, Placed, Plan, body_of
from driveproof.scene import Command
from driveproof.sim.drivers import Maneuver, Path, Roads
from driveproof.sim.drivers.fleet import EGO, Model, random_vehicle, random_walker
from driveproof.sim.drivers.path import STEP

EGO_MODEL = Model(EGO, (40, 60, 110))
AFTER = 330.0
"""Metres of way planned beyond a situation's place."""
SETTLE = 22.0
"""Metres before the ego without another junction: it could not give way in time."""
TRIES = 20


class NoPlace(Exception):
    """The town has no suitable place, or the place drawn does not fit; the text is counted."""


def seeded(seed: int, *key: object) -> np.random.Generator:
    """A generator that depends on ``seed`` and ``key`` only."""
    text = "/".join(map(str, (seed, *key)))
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "little"))


@dataclass
class Stage:
    """Where a situation is set up. Attributes may be changed by a situation before :meth:`open`.

    Attributes
    ----------
    roads, rng
        The town and the source of all choices.
    traffic
        Vehicles kept around the ego.
    ego_clear
        Metres of the ego's way that stay free of them at the start.
    """

    roads: Roads
    rng: np.random.Generator
    traffic: int = 12
    ego_clear: float = 45.0
    hooks: list[Hook] = field(default_factory=list)
    lights: TrafficLights = field(init=False)

    def __post_init__(self) -> None:
        self.lights = random_lights(self.roads.town, self.rng)

    def uniform(self, low: float, high: float) -> float:
        """A number between ``low`` and ``high``."""
        return float(self.rng.uniform(low, high))

    def choose(self, options: list[int]) -> int:
        """A continuation, turns twice as often as straight on."""
        weights = np.array([2.0 if abs(self.roads.turn([i])) > 0.35 else 1.0 for i in options])
        return int(self.rng.choice(options, p=weights / weights.sum()))

    def maneuver(self, controls: Iterable[str] = (), commands: Iterable[Command] = ()) -> Maneuver:
        """A way through a junction with one of these controls and commands (empty: any)."""
        controls, commands = set(controls), set(commands)
        fits = [
            m
            for m in self.roads.maneuvers
            if (not controls or m.control in controls) and (not commands or m.command in commands)
        ]
        if not fits:
            raise NoPlace("no such junction in the town")
        return fits[int(self.rng.integers(len(fits)))]

    def ego_before(self, maneuver: Maneuver, distance: float) -> Placed:
        """The ego with its front ``distance`` metres before the junction of ``maneuver``, at the road's speed."""
        back = self.roads.walk_back(maneuver.entry, distance + 25.0, self.choose)
        lanes = [*back, maneuver.entry, *maneuver.inner]
        ahead = self.roads.walk(lanes[-1], AFTER, self.choose)
        path = self.roads.path([*lanes, *ahead[1:]])
        lengths = self.roads.town.lanes.length
        start = float(lengths[[*back, maneuver.entry]].sum())
        s = start - distance - body_of(EGO).front
        if s < 3.0:
            raise NoPlace("approach too short")
        soon = min(s + body_of(EGO).front + SETTLE, start - 1.0)
        if any(c.start < soon and c.end + 6.0 > s for c in path.crossings):
            raise NoPlace("starts in another junction")
        return self._ego(path, s)

    def ego_on_run(self, run: float, *, neighbour: bool = False) -> Placed:
        """The ego at the start of ``run`` metres without junction or strong curve.

        ``neighbour`` asks for another lane in the same direction beside it.
        """
        table = self.roads.town.lanes
        lanes = [m.entry for m in self.roads.maneuvers if table.length[m.entry] > 15.0]
        lanes = list(dict.fromkeys(lanes))
        for _ in range(TRIES):
            last = lanes[int(self.rng.integers(len(lanes)))]
            back = self.roads.walk_back(last, run + 20.0, self.choose)
            path = self.roads.path([*back, last, *self.roads.walk(last, AFTER, self.choose)[1:]])
            for s in self.rng.permutation(np.arange(5.0, 80.0, 15.0)).tolist():
                if self._clear_run(path, s, run, neighbour):
                    return self._ego(path, s)
        raise NoPlace("no straight run")

    def _clear_run(self, path: Path, s: float, run: float, neighbour: bool) -> bool:
        if path.length < s + run + 40.0:
            return False
        part = slice(path.index(s), path.index(s + run))
        free = not path.in_junction[part].any() and np.abs(path.curvature[part]).max() < 0.02
        if neighbour:
            beside = np.maximum(path.left_own[part], path.right[part])
            free = free and float(beside.min()) > 4.2
        return bool(free)

    def _ego(self, path: Path, s: float) -> Placed:
        speed = 0.9 * float(path.cap[path.index(s + body_of(EGO).front)])
        return Placed(EGO_MODEL, path, s, speed)

    def lead(self, ego: Placed, gap: float, speed: float, kind: str | None = None) -> Placed:
        """A vehicle ``gap`` metres before the ego's bumper, on the same way."""
        model = random_vehicle(self.rng, kind)
        body = body_of(model.type_id)
        s = ego.s_front + gap + body.length / 2.0 - body.rear
        return Placed(model, ego.path, s, speed)

    def walker(
        self, waypoints: Iterable[tuple[float, float]], pace: float, eta: float, z: float
    ) -> Pedestrian:
        """A pedestrian on a road of height ``z`` who starts ``eta`` seconds before the ego arrives."""
        return Pedestrian(random_walker(self.rng), tuple(waypoints), pace, eta, z)

    def open(self, ego: Placed, vehicles: Iterable[Placed] = ()) -> Plan:
        """The plan with the ego, the situation's own vehicles and traffic."""
        return Plan(
            ego=ego,
            lights=self.lights,
            vehicles=list(vehicles),
            hooks=self.hooks,
            traffic=self.traffic,
            ego_clear=self.ego_clear,
        )


def lane_edge(path: Path, s: float) -> tuple[float, float]:
    """Distances (m) from the centre line to the left and right edge of the carriageway at ``s``."""
    i = path.index(s)
    return float(path.left[i]), float(path.right[i])


def shifted(path: Path, offset: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Path:
    """A path beside ``path``: ``offset`` metres to the left at each of its samples without the tail."""
    count = len(offset)
    heading = path.heading[:count]
    normal = np.stack([-np.sin(heading), np.cos(heading)], axis=-1)
    return Path.of(
        path.xy[:count] + offset[:, None] * normal,
        limit=path.limit[:count],
        z=path.z[:count],
        stops=path.stops,
        crossings=path.crossings,
    )


def samples(path: Path) -> int:
    """Number of samples of a path without its tail."""
    return int(path.length / STEP) + 1
