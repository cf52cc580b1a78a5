"""A plain on which drivers drive cars of the real engine along paths given by the test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from driveproof.maps import TownMap
from driveproof.scene import LightState
from driveproof.sim.client import WorldState
from driveproof.sim.drivers import EXPERT_STYLE, Drivers, Path, Style, Vehicle, Walk
from driveproof.sim.drivers.engine_world import EngineWorld
from driveproof.sim.engine.ground import FlatGround

CAR = "vehicle.lincoln.mkz_2020"
FRONT = 4.89 / 2.0
AWAY = 5000.0
"""Paths lie so far north of the town that none of its lanes is near."""
Lights = Callable[[float], Mapping[str, LightState]]


@dataclass
class Plain:
    """A flat world with drivers; x of tests is x of the world, y is ``AWAY`` further north."""

    town: TownMap
    delta_s: float = 0.05
    lights: Lights = field(default=lambda time: {})

    def __post_init__(self) -> None:
        self.world = EngineWorld.of(self.town, delta_s=self.delta_s, ground=FlatGround())
        self.drivers = Drivers(self.world)
        self.walks: list[Walk] = []
        self.state = self.world.state
        self.hits: list[tuple[int, int]] = []

    def car(
        self,
        path: Path,
        front: float,
        speed: float = 0.0,
        *,
        offset: float = 0.0,
        type_id: str = CAR,
        style: Style | None = None,
        expert: bool = False,
        **more: Any,
    ) -> Vehicle:
        """A driven car with its front bumper at arc length ``front``."""
        x, y, heading = path.pose(front - FRONT, offset).tolist()
        actor = self.world.spawn_vehicle(type_id, (x, y, heading), speed=speed)
        role = "ego" if expert else "traffic"
        style = style or (EXPERT_STYLE if expert else Style())
        return self.drivers.add(actor, path, style, role, **more)

    def thing(
        self, x: float, y: float, heading: float = 0.0, type_id: str = CAR, speed: float = 0.0
    ) -> int:
        """Something that nobody drives: a car, a prop."""
        spawn = self.world.spawn_vehicle if type_id.startswith("vehicle") else self.world.spawn_prop
        actor = spawn(type_id, (x, y + AWAY, heading))
        if speed:
            actor.velocity = (speed * np.cos(heading), speed * np.sin(heading), 0.0)
            actor.constant_velocity = (speed, 0.0, 0.0)
        return int(actor.id)

    def walker(self, waypoints: list[tuple[float, float]], **more: Any) -> Walk:
        """A pedestrian who walks through waypoints."""
        points = [(x, y + AWAY) for x, y in waypoints]
        (x0, y0), (x1, y1) = points[:2]
        pose = (x0, y0, float(np.arctan2(y1 - y0, x1 - x0)))
        actor = self.world.spawn_walker("walker.pedestrian.0001", pose)
        walk = Walk(int(actor.id), points, **more)
        self.walks.append(walk)
        return walk

    def step(self, ego: Vehicle | None = None) -> WorldState:
        """One tick: decide on what is seen, act, move."""
        self.state = self.state if self.state.frame else self.world.look()
        state = replace(self.state, lights=dict(self.lights(self.state.time)))
        controls = self.drivers.decide(state)
        ego_id = ego.agent_id if ego is not None else None
        controls |= {walk.actor_id: walk.control(state, ego_id) for walk in self.walks}
        self.world.apply(controls)
        self.state = self.world.tick()
        self.hits += [(hit.actor_id, hit.other_id) for hit in self.state.collisions]
        return self.state

    def run(self, seconds: float, ego: Vehicle | None = None) -> list[WorldState]:
        """The states of so many seconds."""
        return [self.step(ego) for _ in range(round(seconds / self.delta_s))]

    def front(self, vehicle: Vehicle) -> float:
        """Arc length of a car's front bumper now, on the straight path along x."""
        actor = self.state.actors[vehicle.agent_id]
        return actor.x + actor.length / 2.0

    def side(self, vehicle: Vehicle) -> float:
        """Metres left of the x axis now."""
        return self.state.actors[vehicle.agent_id].y - AWAY


def straight(length: float = 600.0, y: float = 0.0, back: bool = False, **road: Any) -> Path:
    """A straight road along x, to be driven eastwards or ``back``."""
    x = np.arange(length)
    x = x[::-1] if back else x
    return Path.of(np.stack([x, np.full_like(x, y + AWAY)], 1), **{"limit": 13.9, **road})
