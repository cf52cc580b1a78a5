"""Background traffic: vehicles that appear around the ego out of sight and leave far away."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from driveproof.maps import LaneKind
from driveproof.sim.client import SpawnBlocked
from driveproof.sim.client.states import ActorState, WorldState
from driveproof.sim.drivers.drivers import Drivers
from driveproof.sim.drivers.fleet import length_of, random_vehicle
from driveproof.sim.drivers.idm import Style
from driveproof.sim.drivers.path import Path
from driveproof.sim.drivers.perception import LEVEL
from driveproof.sim.drivers.roads import TOP_SPEED
from driveproof.sim.drivers.world import WorldLike

NEAR, FAR, GONE = 70.0, 105.0, 120.0
"""Metres from the ego: new vehicles appear between the first two, and leave beyond the third."""
SPACING = 11.0
ROUTE = 260.0
ROLE = "background"


@dataclass
class Traffic:
    """Keeps about ``count`` vehicles near the ego. Call :meth:`step` with every state.

    Attributes
    ----------
    world, drivers
        Where they are spawned, and who drives them.
    ego_id
        Around whom.
    rng
        The source of all choices.
    every
        Seconds between looks at who comes and goes.
    ego_clear
        Metres of the ego's own path ahead in which nobody appears at the start.
    """

    world: WorldLike
    drivers: Drivers
    ego_id: int
    rng: np.random.Generator
    count: int = 12
    every: float = 1.0
    ego_clear: float = 40.0
    own: set[int] = field(default_factory=set)
    _next: float = -math.inf

    def step(self, state: WorldState) -> None:
        """Remove who is far or at the end of its way, add who is missing."""
        if state.time < self._next or self.ego_id not in state.actors:
            return
        first = self._next == -math.inf
        self._next = state.time + self.every - 1e-6
        if first:
            self._spawn(state, self.count, 12.0, FAR, self.ego_clear)
            return
        ego = state.actors[self.ego_id]
        gone = sorted(number for number in self.own if not self._stays(number, state, ego))
        for number in gone:
            self.drivers.release(number)
            self.own.discard(number)
        if gone:
            self.world.destroy(gone)
        missing = self.count - len(self.own)
        if missing > 0:
            self._spawn(state, min(missing, 2), NEAR, FAR, NEAR)

    def _spawn(self, state: WorldState, wanted: int, near: float, far: float, clear: float) -> None:
        """Add up to ``wanted`` vehicles at distances between ``near`` and ``far`` from the ego."""
        table, ego = self.drivers.roads.town.lanes, state.actors[self.ego_id]
        distance = np.hypot(*(table.centre[:, :2] - (ego.x, ego.y)).T)
        kinds = (int(LaneKind.DRIVING), int(LaneKind.BIDIRECTIONAL))
        owner = table.lane_of_point
        fits = (distance > near) & (distance < far) & np.isin(table.kind[owner], kinds)
        fits &= table.junction[owner] < 0
        candidates = np.flatnonzero(fits)
        places: list[tuple[float, float]] = []
        number = min(wanted * 3, len(candidates))
        for index in self.rng.choice(candidates, size=number, replace=False).tolist():
            if len(places) >= wanted:
                return
            x, y, z = table.centre[index].tolist()
            crowd = [(a.x, a.y) for a in state.actors.values() if abs(a.z - z) < LEVEL]
            if any(abs(px - x) + abs(py - y) < SPACING for px, py in crowd + places):
                continue
            if not self._disturbs(ego, x, y, clear) and self._add(index, int(owner[index])):
                places.append((x, y))

    def _add(self, point: int, lane: int) -> bool:
        roads = self.drivers.roads
        table = roads.town.lanes
        lanes = roads.walk(lane, ROUTE, lambda options: int(self.rng.choice(options)))
        path = roads.path(lanes)
        s = float(table.arc[point])
        model = random_vehicle(self.rng)
        style = replace(Style(), speed_factor=float(self.rng.uniform(0.75, 1.0)))
        if path.length - s < 50.0:
            return False
        speed = start_speed(path, s + length_of(model.type_id) / 2.0, style)
        x, y, heading = path.pose(s).tolist()
        z = float(table.centre[point, 2])
        try:
            actor = self.world.spawn_vehicle(
                model.type_id, (x, y, heading), z, ROLE, model.colour, speed
            )
        except SpawnBlocked:
            return False
        self.drivers.add(actor, path, style)
        self.own.add(int(actor.id))
        return True

    def _disturbs(self, ego: ActorState, x: float, y: float, clear: float) -> bool:
        vehicle = self.drivers.driven.get(self.ego_id)
        if vehicle is None or not vehicle.seen:
            cos, sin = math.cos(ego.heading), math.sin(ego.heading)
            ahead = (x - ego.x) * cos + (y - ego.y) * sin
            return abs((y - ego.y) * cos - (x - ego.x) * sin) < 2.5 and -20.0 < ahead < clear
        s = vehicle.path.project(x, y)
        px, py = vehicle.path.point(s)
        behind = 14.0 + 2.5 * max(0.0, TOP_SPEED - ego.speed)
        near = math.hypot(px - x, py - y) < 2.5
        return near and vehicle.s - behind < s < vehicle.s + clear

    def _stays(self, number: int, state: WorldState, ego: ActorState) -> bool:
        vehicle = self.drivers.driven[number]
        if not vehicle.seen:
            return True
        if number not in state.actors:
            return False
        far = math.hypot(vehicle.x - ego.x, vehicle.y - ego.y) > GONE
        return not far and vehicle.s_front < vehicle.path.length - 2.0


def start_speed(path: Path, front: float, style: Style) -> float:
    """Speed (m/s) with which a vehicle may appear on a path with its bumper at arc length ``front``."""
    speed = float(path.cap[path.index(front)]) * style.speed_factor * 0.9
    for stop in path.stops:
        if stop.s > front - 1.0:
            return min(speed, math.sqrt(max(2.0 * 1.5 * (stop.s - front - 2.0), 0.0)))
    return speed
