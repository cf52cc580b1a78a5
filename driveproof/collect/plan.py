"""What a situation puts on stage: who stands where, and what they are told. No simulator is needed to plan."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from driveproof.collect.lights import TrafficLights
from driveproof.sim.drivers import Body, Path, SpeedScript, Style, Vehicle
from driveproof.sim.drivers.fleet import Model, spec_of


def body_of(type_id: str) -> Body:
    """The shape of a vehicle model of the library."""
    spec = spec_of(type_id)
    assert spec is not None  # situations name models of the library
    length, width, height = (2.0 * half for half in spec.half_extent)
    return Body(length, width, height, spec.wheelbase, type_id, spec.base_type)


@dataclass(eq=False)
class Placed:
    """A vehicle to be put down with its rear axle at arc length ``s`` of its path.

    Attributes
    ----------
    speed
        m/s along it at the start.
    offset
        Metres left of the path.
    turn
        Radians by which it stands askew.
    parked
        Whether it never moves.
    indicator
        "left", "right", "hazard", or "" for what its driver indicates.
    """

    model: Model
    path: Path
    s: float
    speed: float = 0.0
    offset: float = 0.0
    turn: float = 0.0
    style: Style = field(default_factory=Style)
    script: SpeedScript | None = None
    parked: bool = False
    indicator: str = ""

    @cached_property
    def body(self) -> Body:
        """Its shape."""
        return body_of(self.model.type_id)

    @property
    def s_front(self) -> float:
        """Arc length of the front bumper."""
        return self.s + self.body.front

    @property
    def pose(self) -> tuple[float, float, float]:
        """Box centre and heading."""
        x, y, heading = self.path.pose(self.s, self.offset).tolist()
        rear = self.body.rear
        heading += self.turn
        return x + rear * math.cos(heading), y + rear * math.sin(heading), heading

    @property
    def z(self) -> float:
        """Height of the road there, m."""
        return float(self.path.z[self.path.index(self.s)])


@dataclass(frozen=True)
class Pedestrian:
    """A walker who crosses: blueprint, way, pace (m/s), seconds before the ego's arrival at which it starts."""

    type_id: str
    waypoints: tuple[tuple[float, float], ...]
    pace: float
    trigger_eta: float
    z: float


@dataclass(frozen=True)
class Thing:
    """Something that stands on the road: blueprint, pose, height of the road."""

    type_id: str
    pose: tuple[float, float, float]
    z: float


Hook = Callable[[Vehicle, Sequence[Vehicle]], None]
"""Called before every decision with the ego and the situation's own vehicles as their drivers know them."""


@dataclass
class Plan:
    """A drive to be made.

    Attributes
    ----------
    ego, vehicles, walkers, things
        Who is put down.
    lights
        What the lights show when.
    traffic
        Vehicles kept around the ego.
    ego_clear
        Metres of the ego's way that stay free of them at the start.
    """

    ego: Placed
    lights: TrafficLights
    vehicles: list[Placed] = field(default_factory=list)
    walkers: list[Pedestrian] = field(default_factory=list)
    things: list[Thing] = field(default_factory=list)
    hooks: list[Hook] = field(default_factory=list)
    traffic: int = 12
    ego_clear: float = 45.0
