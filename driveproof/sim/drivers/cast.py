"""Who is on stage: the agents of a world state, remembered from one state to the next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from driveproof.scene import LightState
from driveproof.sim.client.states import ActorState, WorldState
from driveproof.sim.drivers.agents import Agent, Body, Obstacle, Vehicle, Walker
from driveproof.sim.drivers.roads import Roads

PARKED_S = 2.0
"""Seconds at a stand after which a vehicle without a reason to wait counts as parked."""
PATIENCE_S = 12.0
"""The same near a junction, where reasons to wait are many."""
NEAR_JUNCTION = 18.0
"""Metres."""
QUEUE_GAP = 8.0
"""A vehicle that stands closer than this behind another one waits for it, m."""
LANE_LOST = 1.7
"""Beside its supposed path by more than this, a vehicle follows another one, m."""
COURSE_LOST = 0.5
"""The same for its heading, rad."""
LOOK_EVERY = 0.4
"""Seconds between looks at whether others follow their supposed paths."""
DRIVEN_OVER = 0.15
"""Lower things are driven over, m."""
DEBRIS = "dirtdebris"
HALTING = (LightState.RED, LightState.YELLOW)


@dataclass
class Cast:
    """Keeps a :class:`Vehicle` for every vehicle, ours (``driven``) and others, and rebuilds the rest.

    Attributes
    ----------
    roads
        The town.
    vehicles
        By actor id. Ours must be put here before the first :meth:`see`.
    agents
        All of the last state, by id.
    """

    roads: Roads
    vehicles: dict[int, Vehicle] = field(default_factory=dict)
    agents: list[Agent] = field(default_factory=list)
    time: float | None = None
    dt: float = 0.0
    _looked: float = -math.inf

    def see(self, state: WorldState, driven: Mapping[int, Vehicle]) -> list[Agent]:
        """Take over a state; who has left it is forgotten, unless it is among ``driven``."""
        # rounded, so that a drive does not depend on how long the simulator has been running
        self.dt = 0.0 if self.time is None else max(round(state.time - self.time, 6), 0.0)
        self.time = state.time
        for gone in self.vehicles.keys() - state.actors.keys() - driven.keys():
            del self.vehicles[gone]
        look = round(state.time - self._looked, 6) >= LOOK_EVERY
        if look:
            self._looked = state.time
        self.agents = [
            agent
            for actor in state.actors.values()
            if (agent := self._agent(actor, look)) is not None
        ]
        if look:
            self._judge_standing(state)
        return self.agents

    def _agent(self, actor: ActorState, look: bool) -> Agent | None:
        if actor.kind == "vehicle":
            return self._vehicle(actor, look)
        body = Body.of(actor)
        if actor.kind == "walker":
            return Walker(actor.id, body, actor.x, actor.y, actor.heading, actor.speed, actor.z)
        if actor.height < DRIVEN_OVER or DEBRIS in actor.type_id:
            return None
        return Obstacle(actor.id, body, actor.x, actor.y, actor.heading, actor.z)

    def _vehicle(self, actor: ActorState, look: bool) -> Vehicle:
        vehicle = self.vehicles.get(actor.id)
        if vehicle is None:  # one that nobody of ours drives
            path, _ = self.roads.ahead(actor.x, actor.y, actor.heading)
            vehicle = Vehicle.on(path, actor.id, driven=False)
            vehicle.see(actor, 0.0)
            self.vehicles[actor.id] = vehicle
            return vehicle
        vehicle.see(actor, self.dt)
        if look and not vehicle.driven and vehicle.still < 1.0 and _lost(vehicle):
            vehicle.path, _ = self.roads.ahead(actor.x, actor.y, actor.heading)
            vehicle.see(actor, 0.0, search=True)
        return vehicle

    def _judge_standing(self, state: WorldState) -> None:
        """Tell vehicles that wait from vehicles that are parked, front ones first."""
        others = [v for v in self.vehicles.values() if not v.driven and v.seen]
        for vehicle in others:
            vehicle.parked = vehicle.still >= PARKED_S and not self._waits(vehicle, state)
        for vehicle in others:
            # whoever stands behind one that waits does so too
            if vehicle.parked and any(
                not other.parked and other.still > 0.0 and _behind(vehicle, other)
                for other in self.vehicles.values()
            ):
                vehicle.parked = False

    def _waits(self, vehicle: Vehicle, state: WorldState) -> bool:
        for stop in vehicle.path.stops:
            distance = stop.s - vehicle.s_front
            at_light = stop.kind == "light" and -3.0 < distance < NEAR_JUNCTION
            if at_light and state.lights.get(stop.signal_id) in HALTING:
                return True
        near = any(
            vehicle.s_front > crossing.start - NEAR_JUNCTION and vehicle.s_back < crossing.end
            for crossing in vehicle.path.crossings
        )
        return near and vehicle.still < PATIENCE_S


def _lost(vehicle: Vehicle) -> bool:
    x, y = vehicle.path.point(vehicle.s)
    course = float(vehicle.path.heading[vehicle.path.index(vehicle.s)])
    aside = math.hypot(vehicle.state.x - x, vehicle.state.y - y)
    turned = abs(math.remainder(vehicle.heading - course, math.tau))
    return aside > LANE_LOST or turned > COURSE_LOST or vehicle.s > vehicle.path.length - 40.0


def _behind(vehicle: Vehicle, other: Vehicle) -> bool:
    dx, dy = other.x - vehicle.x, other.y - vehicle.y
    cos, sin = math.cos(vehicle.heading), math.sin(vehicle.heading)
    ahead, aside = dx * cos + dy * sin, abs(dy * cos - dx * sin)
    gap = ahead - (vehicle.body.length + other.body.length) / 2.0
    return ahead > 0.0 and gap < QUEUE_GAP and aside < 1.5
