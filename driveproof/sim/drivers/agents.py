"""Who is on the road, as drivers see them: vehicles with the paths they follow, walkers and things."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from driveproof.geometry.arrays import Float
from driveproof.scene import AgentKind
from driveproof.sim.client.states import ActorState
from driveproof.sim.drivers.fleet import wheelbase_of
from driveproof.sim.drivers.idm import Style
from driveproof.sim.drivers.lateral import LateralPlan
from driveproof.sim.drivers.path import Path
from driveproof.sim.drivers.scripts import SpeedScript

TWO_WHEELS = ("bicycle", "motorcycle")
EGO, TRAFFIC, OBLIVIOUS = "ego", "traffic", "oblivious"
"""Roles: the one that is driven with all care, the others, and one that ignores everybody."""
STANDING = 0.15
"""m/s below which a vehicle stands."""

CRAWL = 3.0
"""m/s below which a vehicle crawls."""


class Reason(StrEnum):
    """Why a driver drives as it does: what limits its speed most."""

    CRUISE = "cruise"
    CURVE = "curve"
    LEAD = "lead"
    CUT_IN = "cut_in"
    RED_LIGHT = "red_light"
    YELLOW_LIGHT = "yellow_light"
    STOP_SIGN = "stop_sign"
    YIELD = "yield"
    PEDESTRIAN = "pedestrian"
    CROSSING = "crossing"
    OBSTACLE = "obstacle"
    PASSING = "passing"
    MERGE = "merge"
    MAKE_ROOM = "make_room"
    SCRIPT = "script"


@dataclass(frozen=True)
class DriverDecision:
    """What a driver decided in a step, and because of whom.

    ``target_speed`` is the speed that the reason leaves in the end (m/s), ``lateral_offset`` the wanted
    offset from the lane centre (m, left positive).
    """

    reason: Reason
    target_speed: float
    agent_id: int | None = None
    signal_id: str | None = None
    lateral_offset: float = 0.0


@dataclass(frozen=True)
class Body:
    """Shape of an agent: full length, width, height (m); the rear axle lies ``rear`` m behind the centre."""

    length: float
    width: float
    height: float
    wheelbase: float = 0.0
    type_id: str = ""
    base_type: str = ""

    @classmethod
    def of(cls, actor: ActorState) -> Body:
        """The shape of an actor."""
        axles = wheelbase_of(actor.type_id, actor.length) if actor.kind == "vehicle" else 0.0
        return cls(actor.length, actor.width, actor.height, axles, actor.type_id, actor.base_type)

    @property
    def rear(self) -> float:
        """Distance from the rear axle forward to the box centre, m."""
        return self.wheelbase / 2.0

    @property
    def front(self) -> float:
        """Distance from the rear axle forward to the front bumper, m."""
        return self.rear + self.length / 2.0


UNSEEN = Body(0.0, 0.0, 0.0)


@dataclass
class Motion:
    """Position of the rear axle (m), heading (rad), speed along it (m/s), acceleration, yaw rate (rad/s)."""

    x: float
    y: float
    heading: float
    speed: float = 0.0
    accel: float = 0.0
    yaw_rate: float = 0.0


@dataclass(eq=False)
class Vehicle:
    """A vehicle and what its driver has in mind.

    Attributes
    ----------
    path, s
        The way it takes (of vehicles that are not ``driven``: what the lanes suggest), and the arc length
        of its rear axle on it, m.
    driven
        Whether a driver of ours moves it.
    parked
        Whether it does not go on by itself and may be passed.
    plan
        Where beside its path it wants to be.
    script, cruise
        What a scenario makes it do, and the speed of an oblivious driver, m/s.
    cleared, committed, obeyed, changed
        Ids of stop signs it has obeyed, of yellow lights it runs because it could not stop comfortably, of
        those it has begun to stop for; beginnings of lane changes it has begun or put off.
    waited, stuck, still, slow
        Seconds it has stood at a sign, for others, and at all, and has been slower than :data:`CRAWL`.
    command, trim, last_speed
        Acceleration last asked for, what is added to reach it (m/s²), and the speed then (m/s).
    backing
        Whether it drives backwards.
    seen, fresh
        Whether it has appeared in a state, and whether its driver has not decided anything yet.
    """

    agent_id: int
    body: Body
    path: Path
    state: Motion
    s: float = 0.0
    z: float = 0.0
    style: Style = field(default_factory=Style)
    role: str = TRAFFIC
    driven: bool = True
    parked: bool = False
    script: SpeedScript | None = None
    cruise: float = 0.0
    plan: LateralPlan | None = None
    indicator: str = ""
    cleared: set[str] = field(default_factory=set)
    committed: set[str] = field(default_factory=set)
    obeyed: set[str] = field(default_factory=set)
    changed: set[float] = field(default_factory=set)
    waited: float = 0.0
    stuck: float = 0.0
    still: float = 0.0
    slow: float = 0.0
    trim: float = 0.0
    command: float = 0.0
    last_speed: float = 0.0
    backing: bool = False
    seen: bool = False
    fresh: bool = True
    decision: DriverDecision = DriverDecision(Reason.CRUISE, 0.0)

    kind = AgentKind.VEHICLE

    @classmethod
    def on(cls, path: Path, agent_id: int, **more: Any) -> Vehicle:
        """A vehicle on a path, not seen yet; ``more`` are further fields."""
        return cls(agent_id, UNSEEN, path, Motion(0.0, 0.0, 0.0), **more)

    def see(self, actor: ActorState, dt: float, *, search: bool = False) -> None:
        """Take over what the actor does now, ``dt`` seconds after the last look.

        ``search`` looks for the place on the whole path instead of near the last one.
        """
        if not self.seen:
            self.body, self.seen, search = Body.of(actor), True, True
        cos, sin = math.cos(actor.heading), math.sin(actor.heading)
        x, y = actor.x - self.body.rear * cos, actor.y - self.body.rear * sin
        self.state = Motion(x, y, actor.heading, actor.speed, actor.accel, actor.yaw_rate)
        self.z = actor.z
        if search:
            self.s = self.path.locate(x, y, actor.heading)
        else:
            self.s = self.path.project(x, y, near=self.s)
        self.still = self.still + dt if abs(actor.speed) < STANDING else 0.0
        self.slow = self.slow + dt if abs(actor.speed) < CRAWL else 0.0

    @property
    def x(self) -> float:
        """Box centre."""
        return self.state.x + self.body.rear * math.cos(self.state.heading)

    @property
    def y(self) -> float:
        """Box centre."""
        return self.state.y + self.body.rear * math.sin(self.state.heading)

    @property
    def heading(self) -> float:
        """Radians."""
        return self.state.heading

    @property
    def speed(self) -> float:
        """m/s along the heading."""
        return self.state.speed

    @property
    def s_front(self) -> float:
        """Arc length of the front bumper."""
        return self.s + self.body.front

    @property
    def s_back(self) -> float:
        """Arc length of the rear bumper."""
        return self.s + self.body.rear - self.body.length / 2.0

    def offset_at(self, s: float) -> float:
        """Planned lateral offset at arc length ``s``."""
        return float(self.plan.at(s)) if self.plan is not None else 0.0

    def offsets(self, s: Float) -> Float:
        """Planned lateral offsets at arc lengths ``s`` ``[K]``."""
        return self.plan.at(s) if self.plan is not None else 0.0 * s


@dataclass(eq=False)
class Walker:
    """A pedestrian: box centre (m), heading (rad), speed along it (m/s)."""

    agent_id: int
    body: Body
    x: float
    y: float
    heading: float
    speed: float = 0.0
    z: float = 0.0

    kind = AgentKind.PEDESTRIAN


@dataclass(eq=False)
class Obstacle:
    """A thing that stands: cone, barrier, warning sign. Pose of the box centre."""

    agent_id: int
    body: Body
    x: float
    y: float
    heading: float = 0.0
    z: float = 0.0

    kind = AgentKind.OBSTACLE
    speed = 0.0


Agent = Vehicle | Walker | Obstacle


def stands(agent: Agent) -> bool:
    """Whether the agent will not move by itself."""
    return agent.kind is AgentKind.OBSTACLE or (isinstance(agent, Vehicle) and agent.parked)
