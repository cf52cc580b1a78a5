"""A stand-in for the official leaderboard, which is no package that could be installed here.

It has the base class with the leaderboard's names and order of calls, the formats of its sensors, and for a world a
kinematic bicycle. What of the leaderboard itself differs from it is not tested.
"""

from __future__ import annotations

import enum
import importlib.util
import math
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from driveproof.action import Ego
from driveproof.maps import Route, TownMap
from driveproof.policy.driving import DriveDecision, DriveObservation
from driveproof.questions import ActionKeys, DirectionKey, SpeedKey
from driveproof.sim.drivers.control import THROTTLES, throttle_curve
from driveproof.sim.drivers.fleet import plant_of

DT, WHEELBASE, EARTH_M = 0.05, 2.9, 6378137.0
GNSS_NOISE = 0.000005
"""Degrees, as the leaderboard's sensors have."""
Gps = Callable[[float, float], tuple[float, float]]


class Track(enum.Enum):
    """As the leaderboard's."""

    SENSORS = "SENSORS"
    MAP = "MAP"


class AutonomousAgent:
    """As the leaderboard's: the plan is thinned out, measurements are handed over with the time."""

    def __init__(self, host: str, port: int) -> None:
        self.track = Track.SENSORS
        self._global_plan: Any = None
        self._global_plan_world_coord: Any = None

    def set_global_plan(self, global_plan_gps: Any, global_plan_world_coord: Any) -> None:
        """Keep every 50th point."""
        self._global_plan = global_plan_gps[::50]
        self._global_plan_world_coord = global_plan_world_coord[::50]


def load_agent(path: Any) -> ModuleType:
    """The agent's module, imported by its path as the leaderboard does, with the stand-in for its base class."""
    names = ("leaderboard", "leaderboard.autoagents", "leaderboard.autoagents.autonomous_agent")
    made = {name: ModuleType(name) for name in names}
    made[names[2]].AutonomousAgent = AutonomousAgent  # type: ignore[attr-defined]
    made[names[2]].Track = Track  # type: ignore[attr-defined]
    before = {name: sys.modules.get(name) for name in names}
    sys.modules.update(made)
    try:
        spec = importlib.util.spec_from_file_location("driveproof_agent", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        for name, old in before.items():
            if old is None:
                del sys.modules[name]
            else:
                sys.modules[name] = old


def leaderboard_gps(latitude: float, longitude: float) -> Gps:
    """The leaderboard's conversion of a right-handed place: Mercator at the map's reference, y to the south."""

    def locate(x: float, y: float) -> tuple[float, float]:
        scale = math.cos(math.radians(latitude))
        east = scale * math.radians(longitude) * EARTH_M + x
        north = scale * EARTH_M * math.log(math.tan(math.radians(90.0 + latitude) / 2.0)) + y
        lon = math.degrees(east / (EARTH_M * scale))
        lat = 2.0 * math.degrees(math.atan(math.exp(north / (EARTH_M * scale)))) - 90.0
        return lat, lon

    return locate


class World:
    """A kinematic bicycle on a route, and what the leaderboard's sensors say of it."""

    def __init__(self, town: TownMap, route: Route, gps: Gps, seed: int = 0) -> None:
        self.town, self.route, self._gps = town, route, gps
        x, y = route.line.points[0]
        self.ego = Ego(float(x), float(y), float(route.line.heading(0.5)), 0.0)
        self.time, self._accel, self._turn = 0.0, 0.0, 0.0
        self._rng = np.random.default_rng(seed)

    def plan(self) -> tuple[list[Any], list[Any]]:
        """The global plan as GPS dictionaries and as transforms, each with a road option."""
        gps, world = [], []
        for x, y in self.route.line.points.tolist():
            lat, lon = self._gps(x, y)
            gps.append(({"lat": lat, "lon": lon, "z": 0.0}, 4))
            place = SimpleNamespace(x=x, y=-y, z=0.0)
            world.append((SimpleNamespace(location=place, rotation=None), 4))
        return gps, world

    def sense(self, cameras: list[dict[str, Any]], *, first: bool) -> dict[str, tuple[int, Any]]:
        """Measurements in the leaderboard's formats; the compass fails in the first tick, as CARLA's may."""
        ego, frame = self.ego, round(self.time / DT)
        lat, lon = np.array(self._gps(ego.x, ego.y)) + GNSS_NOISE * self._rng.standard_normal(2)
        compass = math.nan if first else (math.pi / 2.0 - ego.heading) % math.tau
        found: dict[str, tuple[int, Any]] = {
            "GNSS": (frame, np.array([lat, lon, 0.1])),
            "IMU": (frame, np.array([self._accel, 0.0, 9.81, 0.0, 0.0, -self._turn, compass])),
            "SPEED": (frame, {"speed": ego.speed}),
            "MAP": (frame, {"opendrive": self.town.opendrive}),
        }
        for camera in cameras:
            pixels = np.zeros((camera["height"], camera["width"], 4), dtype=np.uint8)
            pixels[..., 0], pixels[..., 2], pixels[..., 3] = 200, 10, 255  # blue, in BGRA
            found[camera["id"]] = (frame, pixels)
        return found

    def tick(self, control: Any) -> None:
        """Move on by a twentieth of a second."""
        ego, plant = self.ego, plant_of("vehicle.lincoln.mkz_2020")
        push = float(np.interp(control.throttle, THROTTLES, throttle_curve(ego.speed, plant)))
        speed = max(ego.speed + (push - control.brake * plant.brake) * DT, 0.0)
        self._accel = (speed - ego.speed) / DT
        self._turn = -math.tan(control.steer * plant.max_wheel) * speed / WHEELBASE
        heading = ego.heading + self._turn * DT
        self.ego = Ego(
            ego.x + speed * math.cos(heading) * DT,
            ego.y + speed * math.sin(heading) * DT,
            heading,
            speed,
        )
        self.time += DT


class Follower:
    """Follows its lane at about 7 m/s, and remembers what it saw."""

    name = "follower"
    views = ("CAM_FRONT",)
    history = 2
    made: ClassVar[list[Follower]] = []
    """All of this process, the last one last: whoever opens a policy wraps it."""

    def __init__(self) -> None:
        self.made.append(self)
        self.seen: list[DriveObservation] = []
        self.begun: list[str] = []

    def identity(self) -> dict[str, Any]:
        return {"kind": "follower"}

    def begin(self, episode: str, seed: int) -> None:
        self.begun.append(episode)

    def decide(self, observation: DriveObservation) -> DriveDecision:
        self.seen.append(observation)
        speed = SpeedKey.ACCELERATE if observation.speed < 7.0 else SpeedKey.KEEP
        return DriveDecision(ActionKeys(DirectionKey.FOLLOW_LANE, speed), trace={"steps": []})


class Breaks(Follower):
    """Raises at its second decision."""

    name = "breaks"

    def decide(self, observation: DriveObservation) -> DriveDecision:
        if self.seen:
            raise RuntimeError("out of memory")
        return super().decide(observation)


class LosesItsServer(Follower):
    """Says that its model's server is gone."""

    name = "loses"

    def decide(self, observation: DriveObservation) -> DriveDecision:
        return DriveDecision(error="model server: gone", outage=True)
