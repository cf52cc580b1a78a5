"""Background traffic: vehicles that appear around the ego out of sight and leave far away."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from driveproof.maps import LaneKind
from driveproof.scene import Command
from driveproof.sim.world.agents import Vehicle
from driveproof.sim.world.fleet import random_vehicle
from driveproof.sim.world.idm import Style
from driveproof.sim.world.path import Path
from driveproof.sim.world.perception import LEVEL
from driveproof.sim.world.roads import TOP_SPEED, Roads
from driveproof.sim.world.world import World

NEAR, FAR, GONE = 70.0, 105.0, 120.0
"""Metres from the ego: new vehicles appear between the first two, and leave beyond the third."""
SPACING = 11.0
ROUTE = 260.0


@dataclass
class Traffic:
    """Keeps about ``count`` vehicles near the ego. Use it as a ``World.before_step`` hook.

    Attributes
    ----------
    every
        Steps between looks at who comes and goes.
    keep
        Ids of vehicles that never leave (actors of a situation).
    ego_clear
        Metres of the ego's own path ahead in which nobody appears at the start.
    """

    roads: Roads
    rng: np.random.Generator
    count: int = 12
    every: int = 10
    ego_clear: float = 40.0
    keep: set[int] = field(default_factory=set)

    def __call__(self, world: World) -> None:
        """Remove who is far or at the end of its way, add who is missing."""
        if world.steps % self.every:
            return
        world.vehicles[:] = [
            v for v in world.vehicles if v.agent_id in self.keep or _stays(v, world)
        ]
        missing = self.count - sum(not v.parked for v in world.vehicles)
        if missing > 0:
            self.spawn(world, min(missing, 2), NEAR, FAR)

    def fill(self, world: World) -> None:
        """The vehicles of the first moment, everywhere around the ego but right before it."""
        self.spawn(world, self.count, 12.0, FAR)

    def spawn(self, world: World, wanted: int, near: float, far: float) -> None:
        """Add up to ``wanted`` vehicles at distances between ``near`` and ``far`` from the ego."""
        table = self.roads.town.lanes
        distance = np.hypot(*(table.centre[:, :2] - (world.ego.x, world.ego.y)).T)
        kinds = (int(LaneKind.DRIVING), int(LaneKind.BIDIRECTIONAL))
        owner = table.lane_of_point
        fits = (distance > near) & (distance < far) & np.isin(table.kind[owner], kinds)
        fits &= table.junction[owner] < 0
        candidates = np.flatnonzero(fits)
        if not len(candidates):
            return
        for index in self.rng.choice(
            candidates, size=min(wanted * 3, len(candidates)), replace=False
        ):
            if wanted <= 0:
                return
            wanted -= self._add(world, int(index), int(owner[index]))

    def _add(self, world: World, point: int, lane: int) -> bool:
        table = self.roads.town.lanes
        x, y = table.centre[point, :2].tolist()
        z = float(table.centre[point, 2])
        if any(
            abs(a.x - x) + abs(a.y - y) < SPACING and abs(a.z - z) < LEVEL for a in world.agents
        ):
            return False
        if self._disturbs_ego(world, x, y):
            return False
        lanes = self.roads.walk(lane, ROUTE, lambda options: int(self.rng.choice(options)))
        path = self.roads.path(lanes)
        s = float(table.arc[point])
        if path.length - s < 50.0:
            return False
        body = random_vehicle(self.rng)
        style = replace(Style(), speed_factor=float(self.rng.uniform(0.75, 1.0)))
        speed = _start_speed(path, s + body.front, style)
        vehicle = Vehicle.on_path(world.next_id(), body, path, s, speed)
        vehicle.style = style
        world.vehicles.append(vehicle)
        return True

    def _disturbs_ego(self, world: World, x: float, y: float) -> bool:
        ego = world.ego
        s = ego.path.project(x, y)
        px, py = ego.path.point(s)
        lateral = math.hypot(px - x, py - y)
        clear = self.ego_clear if world.steps == 0 else NEAR
        behind = 14.0 + 2.5 * max(0.0, TOP_SPEED - ego.speed)
        return lateral < 2.5 and ego.s - behind < s < ego.s + clear


def update_indicators(world: World) -> None:
    """Set the indicators of all vehicles from what they are about to do. A ``World.before_step`` hook."""
    for vehicle in world.all_vehicles:
        if vehicle.parked or vehicle.script_indicator:
            continue
        vehicle.indicator = _indicator(vehicle)


def _indicator(vehicle: Vehicle) -> str:
    if vehicle.plan is not None and abs(vehicle.plan.offset) > 0.8:
        going = vehicle.s < vehicle.plan.leave
        left = (vehicle.plan.offset > 0.0) == going
        return "left" if left else "right"
    for crossing in vehicle.path.crossings:
        if vehicle.s < crossing.end and vehicle.s_front > crossing.start - 30.0:
            return {Command.LEFT: "left", Command.RIGHT: "right"}.get(crossing.command, "")
    return ""


def _stays(vehicle: Vehicle, world: World) -> bool:
    far = math.hypot(vehicle.x - world.ego.x, vehicle.y - world.ego.y) > GONE
    return not far and vehicle.s_front < vehicle.path.length - 2.0


def _start_speed(path: Path, front: float, style: Style) -> float:
    speed = float(path.cap[path.index(front)]) * style.speed_factor * 0.9
    for stop in path.stops:
        if stop.s > front - 1.0:
            return min(speed, math.sqrt(max(2.0 * 1.5 * (stop.s - front - 2.0), 0.0)))
    return speed
