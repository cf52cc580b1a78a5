"""The world: agents, lights and time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from driveproof.geometry import box_corners, boxes_overlap
from driveproof.sim.world.agents import Obstacle, Vehicle, Walker
from driveproof.sim.world.driver import Situation, decide
from driveproof.sim.world.lights import TrafficLights
from driveproof.sim.world.passing import Agent
from driveproof.sim.world.perception import LEVEL, Surroundings, find_blockers
from driveproof.sim.world.snapshot import AgentState, WorldSnapshot
from driveproof.sim.world.yielding import RightOfWay, meetings_of

PLAN_EVERY = 3
"""Steps between attempts to plan a swerve."""
WALKER_REACH = 0.5
"""Metres before a walker in which a vehicle makes it wait."""
BRAKE_LAMP = -0.4
"""Deceleration (m/s²) from which brake lamps shine; they also do at a stand."""


@dataclass
class World:
    """A world around one ego vehicle. Everything is deterministic: the same calls give the same states.

    ``before_step`` hooks run at the start of every step (traffic that comes and goes, triggers).
    """

    ego: Vehicle
    vehicles: list[Vehicle] = field(default_factory=list)
    walkers: list[Walker] = field(default_factory=list)
    obstacles: list[Obstacle] = field(default_factory=list)
    lights: TrafficLights = field(default_factory=TrafficLights)
    before_step: list[Callable[[World], None]] = field(default_factory=list)
    time: float = 0.0
    steps: int = 0
    collisions: list[tuple[float, int]] = field(default_factory=list)
    right_of_way: RightOfWay = field(default_factory=RightOfWay)

    def __post_init__(self) -> None:
        self.lights.update(self.time)

    @property
    def all_vehicles(self) -> list[Vehicle]:
        """The ego first, then the others."""
        return [self.ego, *self.vehicles]

    @property
    def agents(self) -> list[Agent]:
        """Everybody and everything, the ego first."""
        return [*self.all_vehicles, *self.walkers, *self.obstacles]

    def next_id(self) -> int:
        """An agent id that is free."""
        return max(agent.agent_id for agent in self.agents) + 1

    def step(self, dt: float) -> None:
        """Let ``dt`` seconds pass: all decide on what they see now, then all move."""
        for hook in self.before_step:
            hook(self)
        self._trigger_walkers()
        agents = self.agents
        drivers = [v for v in self.all_vehicles if not v.parked]
        blockers = find_blockers(drivers, Surroundings.of(agents))
        meetings = meetings_of(drivers)
        controls = []
        for driver, ahead in zip(drivers, blockers, strict=True):
            plans = (self.steps + driver.agent_id) % PLAN_EVERY == 0
            now = Situation(
                self.time, dt, ahead, meetings, agents, self.lights, self.right_of_way, plans
            )
            controls.append(decide(driver, now))
        for driver, (accel, steer) in zip(drivers, controls, strict=True):
            driver.state.step(accel, steer, driver.body.wheelbase, dt, driver.limits)
            driver.s = driver.path.project(driver.state.x, driver.state.y, near=driver.s)
        for walker in self.walkers:
            if not self._blocked(walker):
                walker.step(dt)
            else:
                walker.speed = 0.0
        self.steps += 1
        self.time = round(self.time + dt, 9)
        self.lights.update(self.time)
        self.note_collisions()

    def snapshot(self) -> WorldSnapshot:
        """The present state."""
        states = tuple(_state(agent) for agent in self.agents)
        return WorldSnapshot(
            time=self.time,
            ego=states[0],
            agents=states,
            lights=dict(self.lights.states),
            decision=self.ego.decision,
            ego_s=self.ego.s,
        )

    def _trigger_walkers(self) -> None:
        for walker in self.walkers:
            if walker.started or self.time < walker.delay:
                continue
            if walker.trigger_eta is None:
                walker.started = True
                continue
            x, y = walker.waypoints[0]
            cos, sin = math.cos(self.ego.heading), math.sin(self.ego.heading)
            ahead = (x - self.ego.x) * cos + (y - self.ego.y) * sin - self.ego.body.length / 2.0
            walker.started = 0.0 < ahead < walker.trigger_eta * max(self.ego.speed, 1.0)

    def _blocked(self, walker: Walker) -> bool:
        """Whether a vehicle is right before the walker, who then waits."""
        x = walker.x + WALKER_REACH * math.cos(walker.heading)
        y = walker.y + WALKER_REACH * math.sin(walker.heading)
        for vehicle in self.all_vehicles:
            dx, dy = x - vehicle.x, y - vehicle.y
            if abs(dx) + abs(dy) > 12.0:
                continue
            cos, sin = math.cos(vehicle.heading), math.sin(vehicle.heading)
            along, across = abs(dx * cos + dy * sin), abs(dy * cos - dx * sin)
            body = vehicle.body
            if along < body.length / 2.0 + 0.4 and across < body.width / 2.0 + 0.3:
                return True
        return False

    def note_collisions(self) -> None:
        """Append (time, agent id) to ``collisions`` for everybody whom the ego touches now."""
        others = self.agents[1:]
        x, y, z = self.ego.x, self.ego.y, self.ego.z
        near = [a for a in others if abs(a.x - x) + abs(a.y - y) < 20.0 and abs(a.z - z) < LEVEL]
        if not near:
            return
        poses = np.array([[a.x, a.y, a.heading] for a in [self.ego, *near]])
        dimensions = np.array([[a.body.length, a.body.width] for a in [self.ego, *near]])
        corners = box_corners(poses, dimensions[:, 0], dimensions[:, 1])
        for index in np.flatnonzero(boxes_overlap(corners[:1], corners[1:])).tolist():
            self.collisions.append((self.time, near[index].agent_id))


def _state(agent: Agent) -> AgentState:
    state = AgentState(
        agent_id=agent.agent_id,
        kind=agent.kind,
        body=agent.body,
        x=agent.x,
        y=agent.y,
        heading=agent.heading,
        speed=agent.speed,
        z=agent.z,
    )
    if not isinstance(agent, Vehicle):
        return state
    bicycle = agent.state
    standing = bicycle.speed < 0.1 and not agent.parked
    return AgentState(
        agent_id=state.agent_id,
        kind=state.kind,
        body=state.body,
        x=state.x,
        y=state.y,
        heading=state.heading,
        speed=state.speed,
        z=state.z,
        accel=bicycle.accel,
        yaw_rate=bicycle.speed * math.tan(bicycle.steer) / agent.body.wheelbase,
        steer=bicycle.steer,
        braking=bool(standing or bicycle.accel < BRAKE_LAMP),
        indicator=agent.indicator,
        parked=agent.parked,
    )
