"""The driving side for the official leaderboard: its agent sends measurements, and gets pedals.

One drive at a time. What the agent (``driveproof/sim/leaderboard/driveproof_agent.py``) sends is what its sensors
measure and the plan; where the ego is gets estimated from that, keys are executed by the action module, and decisions
and motion are written as in a run of ``driveproof drive``.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import deque
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from driveproof.action import ActionModule, Ego
from driveproof.drive.eyes import mounts_of
from driveproof.drive.leaderboard_plan import route_of
from driveproof.drive.localisation import Earth, Localiser
from driveproof.drive.navigator import Navigator
from driveproof.drive.notes import DecisionLog, MotionLog
from driveproof.drive.openers import open_policy
from driveproof.drive.plan import DriveSettings
from driveproof.drive.seat import ModelLost, PolicyBroke, guarded
from driveproof.errors import BadInput, Unreachable
from driveproof.geometry import from_carla_points
from driveproof.maps import Route, TownMap, town_from_opendrive
from driveproof.policy.driving import DriveDecision, DriveObservation, DrivingPolicy
from driveproof.policy.seeds import derive_seed
from driveproof.scene.images import Pixels
from driveproof.sim.client import ActorState, WorldState
from driveproof.sim.drivers import Roads
from driveproof.sim.drivers.fleet import plant_of
from driveproof.sim.recorder import Mount

VERSION = 1
EGO_TYPE, EGO_ID = "vehicle.lincoln.mkz_2020", 1
LENGTH, WIDTH, HEIGHT = 4.89, 2.06, 1.49
"""The leaderboard's ego, metres."""
MAX_PIXELS = 4096 * 4096
_SLACK = 1e-6

Real = Annotated[float, Field(allow_inf_nan=False)]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Begin(_Message):
    """A drive begins: the plan ``[x, y, z]`` in CARLA's frame and as latitude and longitude, and the roads."""

    episode: Annotated[str, Field(max_length=300)] = ""
    plan: Annotated[
        list[Annotated[list[Real], Field(min_length=3, max_length=3)]], Field(min_length=2)
    ]
    gps: list[Annotated[list[Real], Field(min_length=2, max_length=2)]]
    opendrive: str
    time: Real


class Step(_Message):
    """A tick: what the sensors measured, and which pictures (camera, height, width) follow."""

    time: Real
    gnss: Annotated[list[Real], Field(min_length=3, max_length=3)]
    imu: Annotated[list[Real | None], Field(min_length=7, max_length=7)]
    speed: Real
    pictures: list[tuple[str, int, int]] = []


class Told(NamedTuple):
    """Pedals and steer (right positive) until the next tick, and from when on pictures are wanted, seconds."""

    throttle: float
    brake: float
    steer: float
    wanted: float


class LeaderboardDriver:
    """Drives for the leaderboard's agent.

    Parameters
    ----------
    spec
        The policy, as for ``driveproof drive``; the expert cannot drive here, for it reads the simulator.
    settings
        Rate, graph, mode, sizes of pictures, seed.
    out
        Folder for a folder a drive, each with ``decisions.jsonl`` and ``motion.parquet``; None writes nothing.

    Raises
    ------
    BadInput
        If there is no such policy, or it needs what only a simulator knows.
    """

    def __init__(self, spec: str, settings: DriveSettings, out: Path | None = None) -> None:
        self.policy: DrivingPolicy = open_policy(spec, settings)
        self.mounts = mounts_of(self.policy.views, settings.pictures)
        self._settings, self._out = settings, out
        self._drives = 0
        self._town: TownMap | None = None
        self._drive: _Drive | None = None

    def health(self) -> dict[str, Any]:
        """The version, and the cameras as the leaderboard wants them specified."""
        cameras = [_camera(mount) for mount in self.mounts]
        return {"version": VERSION, "policy": self.policy.name, "cameras": cameras}

    def begin(self, content: bytes) -> dict[str, Any]:
        """A drive begins; one that goes on is ended."""
        told = _message(Begin, content)
        self.end()
        if len(told.gps) != len(told.plan):
            raise BadInput(f"{len(told.gps)} places for {len(told.plan)} points of the plan")
        town = self._town_of(told.opendrive)
        plan = from_carla_points(told.plan)
        route = route_of(plan, town)
        earth = Earth.of(told.gps, plan[:, :2])
        self._drives += 1
        asked = _safe(told.episode)
        folder = None if self._out is None else _fresh(self._out, asked)
        name = folder.name if folder is not None else asked or _numbered(self._drives)
        # of the route, not of how many were driven before it: a bridge that was started again drives it alike
        place = asked or hashlib.sha256(json.dumps(told.plan).encode()).hexdigest()
        seed = derive_seed(self._settings.seed, "leaderboard", place)
        self.policy.begin(asked or name, seed)
        self._drive = _Drive(self.policy, self._settings, town, route, earth, folder, told.time)
        return {"drive": name}

    def step(self, content: bytes) -> dict[str, Any]:
        """A tick: a line of JSON, then the pictures (BGRA) one after the other."""
        if self._drive is None:
            raise BadInput("no drive has begun")
        head, _, rest = content.partition(b"\n")
        told = _message(Step, head)
        pictures = _pictures(told.pictures, rest)
        return self._drive.step(told, pictures)._asdict()

    def end(self) -> dict[str, Any]:
        """The drive is over; what was noted is written."""
        if self._drive is not None:
            self._drive.close()
            self._drive = None
        return {}

    def _town_of(self, opendrive: str) -> TownMap:
        """The town of OpenDRIVE text; the last one is kept."""
        if self._town is None or self._town.opendrive != opendrive:
            self._town = town_from_opendrive("leaderboard", opendrive)
        return self._town


class _Drive:
    """One drive: localisation, decisions at fixed moments, the action module at every tick."""

    def __init__(
        self,
        policy: DrivingPolicy,
        settings: DriveSettings,
        town: TownMap,
        route: Route,
        earth: Earth,
        folder: Path | None,
        begin: float,
    ) -> None:
        self._policy, self._period = policy, 1.0 / settings.rate_hz
        self._module = ActionModule.on_route(town, route)
        self._module.plant = plant_of(EGO_TYPE)
        self._navigator = Navigator(Roads(town).route_path(route), EGO_ID)
        self._localiser = Localiser(earth, float(self._module.way.headings[0]))
        self._folder, self._begin, self._time = folder, begin, begin
        self._log, self._motion = DecisionLog(folder), MotionLog()
        self._seen: dict[str, deque[Pixels]] = {
            name: deque(maxlen=max(policy.history, 1)) for name in policy.views
        }
        self._slot, self._ticks = begin, 0
        self._held: Any = None
        self._told: Any = None

    def step(self, told: Step, pictures: dict[str, Pixels]) -> Told:
        dt = told.time - self._time if self._ticks else 0.0
        if dt < 0.0 or (self._ticks and dt == 0.0):
            raise BadInput("time does not go on", field="time")
        self._time = told.time
        imu = [math.nan if value is None else value for value in told.imu]
        ego = self._localiser.update(told.gnss[0], told.gnss[1], imu[6], told.speed, dt)
        state = self._state(ego, imu, told.gnss[2])
        self._navigator.see(state)
        completion = min((self._module.index or 0) / max(len(self._module.way) - 1, 1), 1.0)
        self._motion.add(state.time, state.actors[EGO_ID], self._told, completion)
        self._ticks += 1
        if told.time >= self._slot - _SLACK:
            self._slot += self._period
            self._decide(ego, pictures)
        self._told = self._held if self._held is not None else self._module.control(ego)
        pedals = self._told
        return Told(pedals.throttle, pedals.brake, pedals.steer, self._slot)

    def _state(self, ego: Ego, imu: Sequence[float], height: float) -> WorldState:
        """What is known of the world: the ego alone."""
        actor = ActorState(
            EGO_ID,
            EGO_TYPE,
            "vehicle",
            "hero",
            ego.x,
            ego.y,
            height,
            ego.heading,
            ego.speed * math.cos(ego.heading),
            ego.speed * math.sin(ego.heading),
            ego.speed,
            _known(imu[0]),
            -_known(imu[5]),
            LENGTH,
            WIDTH,
            HEIGHT,
            "car",
        )
        return WorldState(self._ticks, round(self._time - self._begin, 9), {EGO_ID: actor})

    def _decide(self, ego: Ego, pictures: dict[str, Pixels]) -> None:
        """Ask the policy; its error leaves the last decision in force, a lost server ends the drive."""
        for name, seen in self._seen.items():
            if name not in pictures:
                raise BadInput("the picture of this camera is missing", field=name)
            seen.append(pictures[name])
            while len(seen) < (seen.maxlen or 1):
                seen.appendleft(seen[0])
        shown = {name: tuple(seen) for name, seen in self._seen.items()}
        observation = self._navigator.observation(shown)
        decision = self._asked(observation)
        self._log.add(observation, decision, observation.time_s)
        if decision.outage:
            raise Unreachable(decision.error)
        if decision.keys is not None:
            self._held = None
            self._module.decide(decision.keys, ego)
        elif decision.controls is not None:
            self._held = decision.controls

    def _asked(self, observation: DriveObservation) -> DriveDecision:
        """The policy's decision; whatever it raises is its error, and no end of the drive."""
        try:
            decision = guarded(lambda: self._policy.decide(observation))
        except ModelLost as error:
            raise Unreachable(str(error)) from None
        except PolicyBroke as error:
            return DriveDecision(error=str(error))
        if not isinstance(decision, DriveDecision):
            return DriveDecision(error=f"the policy gave no decision: {type(decision).__name__}")
        return decision

    def close(self) -> None:
        self._log.close()
        if self._folder is not None:
            self._motion.write(self._folder)


def _camera(mount: Mount) -> dict[str, Any]:
    """A mount as the leaderboard specifies sensors: left-handed metres and degrees."""
    return {
        "type": "sensor.camera.rgb",
        "x": mount.x,
        "y": mount.y,
        "z": mount.z,
        "roll": 0.0,
        "pitch": mount.pitch,
        "yaw": mount.yaw,
        "width": mount.width,
        "height": mount.height,
        "fov": mount.fov,
        "id": mount.sensor,
    }


def _message(kind: type[Any], content: bytes) -> Any:
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or None
        raise BadInput(f"not a message of the agent: {first['msg']}", field=field) from None


def _pictures(listed: Sequence[tuple[str, int, int]], data: bytes) -> dict[str, Pixels]:
    """RGB pictures by camera, from BGRA bytes one after the other."""
    found: dict[str, Pixels] = {}
    start = 0
    for name, height, width in listed:
        if not 0 < height * width <= MAX_PIXELS or min(height, width) < 1:
            raise BadInput(f"no picture has {height} x {width} pixels", field=name)
        end = start + 4 * height * width
        if end > len(data):
            raise BadInput("its pixels are missing", field=name)
        pixels = np.frombuffer(data[start:end], dtype=np.uint8).reshape(height, width, 4)
        found[name] = np.ascontiguousarray(pixels[..., 2::-1])
        start = end
    if start != len(data):
        raise BadInput("there is more than the pictures")
    return found


def _safe(episode: str) -> str:
    """A drive's name as a folder's, "" if nothing is left of it."""
    safe = "".join(char if char.isalnum() or char in "-_." else "_" for char in episode)
    return safe.strip("._")[:150]


def _numbered(number: int) -> str:
    return f"drive_{number:04d}"


def _fresh(out: Path, name: str) -> Path:
    """A folder that nobody wrote into before: a drive again, or a bridge started again, overwrites nothing."""
    out.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        folder = out / (
            _numbered(number) if not name else name if number == 1 else f"{name}_{number}"
        )
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise AssertionError("unreachable")


def _known(value: float) -> float:
    return value if math.isfinite(value) else 0.0
