"""All that the expert may know of one moment: plain right-handed values, whatever the source.

Frame: world of the town, x forward, y left of CARLA's axes (right-handed); metres, seconds, radians, m/s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from driveproof.geometry import wrap_angle
from driveproof.geometry.arrays import Float
from driveproof.scene import Command, LightState

Kind = Literal["vehicle", "walker", "prop"]


@dataclass(frozen=True)
class Agent:
    """A road user or thing.

    Attributes
    ----------
    id, type_id, base_type
        As the simulator names it: "162", "vehicle.lincoln.mkz_2020", "car".
    kind
        "vehicle" (two wheels or more), "walker" or "prop".
    x, y, z, heading
        Box centre and heading, world frame; ``z`` is the height of the centre.
    length, width, height
        Full sizes, metres.
    speed
        m/s along the heading.
    brake
        0 to 1.
    lamps
        Bits of CARLA's ``VehicleLightState``.
    colour
        RGB of its paint, None if it has none.
    points
        Lidar points on it; more than it takes to be seen if nobody counted.
    parked
        It does not take part in traffic.
    """

    id: str
    type_id: str
    base_type: str
    kind: Kind
    x: float
    y: float
    z: float
    heading: float
    length: float
    width: float
    height: float
    speed: float = 0.0
    brake: float = 0.0
    lamps: int = 0
    colour: tuple[int, int, int] | None = None
    points: int = 10_000
    parked: bool = False


@dataclass(frozen=True)
class Signal:
    """A traffic light or sign.

    Attributes
    ----------
    id, type_id
        "traffic.traffic_light", "traffic.stop", "traffic.yield", "traffic.speed_limit.60" or a warning
        "static.prop.…".
    x, y
        Where it stands.
    stop
        Where the ego has to stop for it, if the source says so.
    state
        Of a light.
    affects_ego
        Whether it governs the ego.
    """

    id: str
    type_id: str
    x: float
    y: float
    stop: tuple[float, float] | None = None
    state: LightState = LightState.UNKNOWN
    affects_ego: bool = False

    @property
    def limit_kmh(self) -> float | None:
        """The limit of a speed limit sign, km/h."""
        prefix, _, number = self.type_id.rpartition(".")
        return float(number) if prefix == "traffic.speed_limit" else None


@dataclass(frozen=True)
class CameraPose:
    """A pinhole camera: ``world2cam`` ``[4, 4]`` (CARLA's axes: x forward, y right, z up), intrinsics and size."""

    name: str
    world2cam: Float
    intrinsic: Float
    width: int
    height: int


@dataclass(frozen=True)
class Roles:
    """Who a scenario is about: role -> agent ids. Empty offline; then roles are inferred."""

    actors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def ids(self) -> frozenset[str]:
        """All of them."""
        return frozenset(agent for group in self.actors.values() for agent in group)


@dataclass(frozen=True)
class Frame:
    """One moment.

    Attributes
    ----------
    index, time
        Number of the frame and its seconds.
    scenario
        Name of the scenario as route files spell it; "" if unknown.
    ego, agents, signals
        Who and what is there.
    command_near, command_far, near, far
        The navigator's next two commands and the points where they hold (None if it has none).
    weather
        CARLA's weather parameters by name.
    cameras
        The cameras whose pictures a policy sees.
    roles
        Role actors, where the scenario tells.
    """

    index: int
    time: float
    scenario: str
    ego: Agent
    agents: tuple[Agent, ...]
    signals: tuple[Signal, ...]
    command_near: Command = Command.UNKNOWN
    command_far: Command = Command.UNKNOWN
    near: tuple[float, float] | None = None
    far: tuple[float, float] | None = None
    weather: Mapping[str, float] = field(default_factory=dict)
    cameras: tuple[CameraPose, ...] = ()
    roles: Roles = field(default_factory=Roles)

    @cached_property
    def lenses(self) -> tuple[Float, Float, Float]:
        """``[C, 4, 4]`` world to camera, ``[C, 3, 3]`` intrinsics, ``[C, 2]`` width and height; needs a camera."""
        return (
            np.stack([camera.world2cam for camera in self.cameras]),
            np.stack([camera.intrinsic for camera in self.cameras]),
            np.array([[camera.width, camera.height] for camera in self.cameras], dtype=float),
        )

    def local(self, x: float, y: float) -> tuple[float, float]:
        """A world point in the ego frame (x forward, y left)."""
        dx, dy = x - self.ego.x, y - self.ego.y
        cos, sin = np.cos(self.ego.heading), np.sin(self.ego.heading)
        return float(dx * cos + dy * sin), float(dy * cos - dx * sin)

    def local_heading(self, heading: float) -> float:
        """A world heading relative to the ego's, wrapped."""
        return float(wrap_angle(heading - self.ego.heading))
