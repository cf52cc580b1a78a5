"""The state of the world at one time, immutable: what recorders, renderers and servers read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from driveproof.scene import AgentKind, LightState
from driveproof.sim.world.agents import Body, DriverDecision


@dataclass(frozen=True)
class AgentState:
    """One agent: box centre x, y (m), height z of the road (m), heading (rad), speed (m/s) along it, acceleration (m/s²),
    yaw rate (rad/s), wheel angle (rad); ``indicator`` is "left", "right", "hazard" or ""."""

    agent_id: int
    kind: AgentKind
    body: Body
    x: float
    y: float
    heading: float
    speed: float
    z: float = 0.0
    accel: float = 0.0
    yaw_rate: float = 0.0
    steer: float = 0.0
    braking: bool = False
    indicator: str = ""
    parked: bool = False


@dataclass(frozen=True)
class WorldSnapshot:
    """All agents and lights at ``time`` seconds; ``ego`` is also the first of ``agents``."""

    time: float
    ego: AgentState
    agents: tuple[AgentState, ...]
    lights: dict[str, LightState]
    decision: DriverDecision
    ego_s: float
    """Arc length of the ego's rear axle on its path, m."""

    def key(self) -> tuple[Any, ...]:
        """Everything as plain numbers, for exact comparison."""
        rows = tuple(
            (a.agent_id, a.x, a.y, a.heading, a.speed, a.accel, a.steer) for a in self.agents
        )
        lights = tuple(sorted((k, v.value) for k, v in self.lights.items()))
        return (self.time, rows, lights, self.decision.reason.value)
