"""The actors of a scenario: their roles, and who moves them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from driveproof.sim.client import ActorState, Session, WorldState
from driveproof.sim.drivers import Path, Vehicle
from driveproof.sim.drivers.driver import steer_to
from driveproof.sim.drivers.drivers import actuate, halt
from driveproof.sim.drivers.walks import Walk

REACTION_S = 0.4
"""Seconds in which a puppet reaches its speed, if its strength allows."""
FOLLOW_M = 40.0
"""Metres ahead within which a careful puppet sees others."""
KEEP_M = 2.5
"""Metres that a careful puppet keeps to who stands before it."""
SAME_WAY = 0.6
"""Cosine of the angle up to which another one goes the same way."""
FIRM = 4.5
"""Deceleration with which a careful puppet stops behind others, m/s²."""


@dataclass
class Puppet:
    """A vehicle that follows a path at the speed a story tells it.

    Attributes
    ----------
    vehicle
        Where it is on its path.
    speed
        Wanted, m/s; a story changes it.
    accel, brake
        Its strength, m/s².
    careful
        Whether it keeps its distance to those who go the same way before it.
    """

    vehicle: Vehicle
    speed: float
    accel: float = 3.0
    brake: float = 4.0
    careful: bool = False
    held: bool = False

    @property
    def s(self) -> float:
        """Arc length of its rear axle on its path."""
        return self.vehicle.s

    @property
    def actor_id(self) -> int:
        """Its actor id."""
        return self.vehicle.agent_id

    def control(self, state: WorldState, dt: float) -> Any:
        """The ``carla.VehicleControl`` for the next step."""
        actor = state.actors[self.actor_id]
        self.vehicle.see(actor, dt)
        if self.held or self.vehicle.s > self.vehicle.path.length + 60.0:
            return halt()
        wanted = self.speed
        if self.careful:
            wanted = min(wanted, _safe_speed(actor, state))
        pull = (wanted - actor.speed) / REACTION_S
        accel = min(max(pull, -max(self.brake, FIRM if self.careful else 0.0)), self.accel)
        return actuate(self.vehicle, accel, steer_to(self.vehicle), dt)


def _safe_speed(actor: ActorState, state: WorldState) -> float:
    """The speed at which an actor can still stop behind, or follow, who is before it, m/s."""
    cos, sin = math.cos(actor.heading), math.sin(actor.heading)
    safe = math.inf
    for other in state.actors.values():
        if other.id == actor.id or abs(other.z - actor.z) > 3.0:
            continue
        dx, dy = other.x - actor.x, other.y - actor.y
        ahead, aside = dx * cos + dy * sin, abs(dy * cos - dx * sin)
        if not 0.0 < ahead < FOLLOW_M or aside > (actor.width + other.width) / 2.0 + 0.3:
            continue
        if math.cos(other.heading - actor.heading) < SAME_WAY:
            continue  # who crosses has to wait: its driver cannot rely on more
        gap = max(ahead - (actor.length + other.length) / 2.0 - KEEP_M, 0.0)
        along = max(other.vx * cos + other.vy * sin, 0.0)
        safe = min(safe, math.sqrt(along * along + 2.0 * FIRM * 0.6 * gap))
    return safe


@dataclass
class Cast:
    """Who plays: role actors by role, and what moves them."""

    session: Session
    roles: dict[str, list[int]] = field(default_factory=dict)
    puppets: dict[int, Puppet] = field(default_factory=dict)
    walks: dict[int, Walk] = field(default_factory=dict)
    standing: set[int] = field(default_factory=set)
    _time: float | None = None

    def add(self, role: str, actor_id: int) -> int:
        """Publish an actor under a role; its id."""
        self.roles.setdefault(role, []).append(actor_id)
        return actor_id

    def drive(self, actor_id: int, path: Path, speed: float, **more: Any) -> Puppet:
        """Let a vehicle follow a path; ``more`` are fields of :class:`Puppet`."""
        puppet = Puppet(Vehicle.on(path, actor_id), speed, **more)
        self.puppets[actor_id] = puppet
        self.standing.discard(actor_id)
        return puppet

    def park(self, actor_id: int) -> None:
        """Let a vehicle stand with its brakes on."""
        self.puppets.pop(actor_id, None)
        self.standing.add(actor_id)

    def walk(self, walk: Walk) -> Walk:
        """Let a pedestrian go."""
        self.walks[walk.actor_id] = walk
        return walk

    def remove(self, actor_id: int) -> None:
        """Take an actor off the stage; it stays published."""
        for group in (self.puppets, self.walks):
            group.pop(actor_id, None)
        self.standing.discard(actor_id)
        self.session.destroy([actor_id])

    @property
    def ids(self) -> list[int]:
        """All that ever came."""
        return [actor for actors in self.roles.values() for actor in actors]

    def controls(self, state: WorldState, ego_id: int) -> dict[int, Any]:
        """What everybody does in the next step, by actor id."""
        dt = 0.0 if self._time is None else round(state.time - self._time, 6)
        self._time = state.time
        here = state.actors.keys()
        controls = {n: p.control(state, dt) for n, p in self.puppets.items() if n in here}
        controls |= {n: w.control(state, ego_id) for n, w in self.walks.items() if n in here}
        return controls | {n: halt() for n in sorted(self.standing) if n in here}
