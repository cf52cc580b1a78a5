"""Who is on the road: vehicles, walkers and things."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

from driveproof.scene import AgentKind
from driveproof.sim.world.bicycle import BicycleState, Limits
from driveproof.sim.world.idm import Style
from driveproof.sim.world.path import Path
from driveproof.sim.world.scripts import SpeedScript


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
    OBSTACLE = "obstacle"
    PASSING = "passing"
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
    colour: tuple[int, int, int] = (128, 128, 128)

    @property
    def rear(self) -> float:
        """Distance from the rear axle forward to the box centre, m."""
        return self.wheelbase / 2.0

    @property
    def front(self) -> float:
        """Distance from the rear axle forward to the front bumper, m."""
        return self.rear + self.length / 2.0


@dataclass(frozen=True)
class LateralPlan:
    """A planned swerve: to ``offset`` metres left between ``begin`` and ``full``, back until ``end``."""

    offset: float
    begin: float
    full: float
    leave: float
    end: float
    agent_id: int

    def at(self, s: float) -> float:
        """Offset at arc length ``s`` of the path, m."""
        up = min(max((s - self.begin) / max(self.full - self.begin, 1e-3), 0.0), 1.0)
        down = min(max((s - self.leave) / max(self.end - self.leave, 1e-3), 0.0), 1.0)
        smooth_up, smooth_down = up * up * (3 - 2 * up), down * down * (3 - 2 * down)
        return self.offset * (smooth_up - smooth_down)


@dataclass(eq=False)
class Vehicle:
    """A vehicle on a path. ``s`` is the arc length of its rear axle.

    ``parked`` vehicles never move and may be passed; ``cleared`` holds the ids of stop signs it has obeyed,
    ``committed`` those of yellow lights it may run because it could not stop comfortably, ``obeyed`` those
    it has begun to stop for;
    ``script_indicator`` says that a situation sets the indicator.
    """

    agent_id: int
    body: Body
    path: Path
    state: BicycleState
    s: float = 0.0
    style: Style = field(default_factory=Style)
    limits: Limits = field(default_factory=Limits)
    parked: bool = False
    script: SpeedScript | None = None
    plan: LateralPlan | None = None
    indicator: str = ""
    script_indicator: bool = False
    cleared: set[str] = field(default_factory=set)
    committed: set[str] = field(default_factory=set)
    obeyed: set[str] = field(default_factory=set)
    waited: float = 0.0
    stuck: float = 0.0
    decision: DriverDecision = DriverDecision(Reason.CRUISE, 0.0)

    kind = AgentKind.VEHICLE

    @classmethod
    def on_path(
        cls, agent_id: int, body: Body, path: Path, s: float, speed: float, offset: float = 0.0
    ) -> Vehicle:
        """Put a vehicle with its rear axle at arc length ``s`` of ``path``, along it."""
        x, y, heading = path.pose(s, offset).tolist()
        return cls(agent_id, body, path, BicycleState(x, y, heading, speed), s=s)

    @property
    def x(self) -> float:
        """Box centre."""
        return self.state.x + self.body.rear * math.cos(self.state.heading)

    @property
    def y(self) -> float:
        """Box centre."""
        return self.state.y + self.body.rear * math.sin(self.state.heading)

    @property
    def z(self) -> float:
        """Height of the road under it, m."""
        return float(self.path.z[self.path.index(self.s)])

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
        return self.plan.at(s) if self.plan is not None else 0.0


@dataclass(eq=False)
class Walker:
    """A pedestrian who walks along straight legs through ``waypoints`` once triggered.

    The walk starts when ``delay`` seconds have passed, or, if ``trigger_eta`` is set, when the ego would
    reach the walker's first crossing point within that many seconds.
    """

    agent_id: int
    body: Body
    waypoints: list[tuple[float, float]]
    pace: float = 1.4
    delay: float = 0.0
    trigger_eta: float | None = None
    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0
    speed: float = 0.0
    z: float = 0.0
    leg: int = 1
    started: bool = False

    kind = AgentKind.PEDESTRIAN

    def __post_init__(self) -> None:
        self.x, self.y = self.waypoints[0]
        if len(self.waypoints) > 1:
            ahead = self.waypoints[1]
            self.heading = math.atan2(ahead[1] - self.y, ahead[0] - self.x)

    @property
    def done(self) -> bool:
        """Whether the last waypoint is reached."""
        return self.leg >= len(self.waypoints)

    def step(self, dt: float) -> None:
        """Walk for ``dt`` seconds."""
        self.speed = 0.0
        left = self.pace * dt
        while left > 0.0 and self.started and not self.done:
            gx, gy = self.waypoints[self.leg]
            dx, dy = gx - self.x, gy - self.y
            distance = math.hypot(dx, dy)
            if distance > 1e-9:
                self.heading = math.atan2(dy, dx)
                move = min(left, distance)
                self.x += dx / distance * move
                self.y += dy / distance * move
                self.speed = self.pace
                left -= move
            if distance <= left + 1e-9 or (self.x, self.y) == (gx, gy):
                self.x, self.y = gx, gy
                self.leg += 1


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
