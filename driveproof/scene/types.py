"""Two types for two rights: :class:`Scene` is the privileged truth, :class:`Observation` what a policy may see.

A scene is one moment of decision (t = 0) of a driving log. Its frame is the ego pose at t = 0:
right-handed, x forward, y left, metres, seconds, radians.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

import numpy as np

from driveproof.geometry.arrays import Bool, Float, as_float, check_shape

HORIZON_S = 5.0
STEP_S = 0.5
FUTURE_TIMES: Float = np.linspace(0.5, 5.0, 10)
"""Times of the ten future waypoints, 0.5 .. 5.0 s."""
HISTORY_TIMES: Float = np.linspace(-1.5, 0.0, 4)
"""Times of the four history samples, -1.5 .. 0.0 s; the last is the moment of decision."""
FRONT_CAMERAS = ("front_left", "front", "front_right")
"""The cameras of a policy, in the order in which they are shown."""


class Command(IntEnum):
    """Navigation command, with the numbers of CARLA's ``RoadOption``; 0 where the source has none."""

    UNKNOWN = 0
    LEFT = 1
    RIGHT = 2
    STRAIGHT = 3
    FOLLOW = 4
    CHANGE_LEFT = 5
    CHANGE_RIGHT = 6


class AgentKind(StrEnum):
    """What another road user is."""

    VEHICLE = "vehicle"
    PEDESTRIAN = "pedestrian"
    CYCLIST = "cyclist"
    OBSTACLE = "obstacle"
    """A static thing on the road: cone, barrier, warning sign, debris."""


class LightState(StrEnum):
    """What a traffic light shows."""

    RED = "red"
    YELLOW = "yellow"
    GREEN = "green"
    OFF = "off"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class AgentTracks:
    """Other road users over time.

    Attributes
    ----------
    track_ids, kinds
        N stable names and kinds.
    times
        ``[T]`` seconds, increasing (relative to t = 0 in a scene, absolute in a log).
    dimensions
        ``[N, 3]`` full length, width, height in metres.
    states
        ``[N, T, 5]`` x, y, heading of the box centre and velocity vx, vy; NaN where not valid.
    valid
        ``[N, T]`` whether the track exists then.
    """

    track_ids: tuple[str, ...]
    kinds: tuple[AgentKind, ...]
    times: Float
    dimensions: Float
    states: Float
    valid: Bool

    def __post_init__(self) -> None:
        n, t = len(self.track_ids), len(self.times)
        if len(self.kinds) != n:
            raise ValueError(f"AgentTracks.kinds: expected {n} entries, got {len(self.kinds)}")
        check_shape(self.times, (t,), "AgentTracks.times")
        check_shape(self.dimensions, (n, 3), "AgentTracks.dimensions")
        check_shape(self.states, (n, t, 5), "AgentTracks.states")
        check_shape(self.valid, (n, t), "AgentTracks.valid")
        if not np.isfinite(self.states[self.valid]).all():
            raise ValueError("AgentTracks.states: not finite where valid")

    def __len__(self) -> int:
        return len(self.track_ids)

    @classmethod
    def empty(cls, times: Float | None = None) -> AgentTracks:
        """No agents at the given times (default: only t = 0)."""
        times = np.zeros(1) if times is None else times
        shape = (0, len(times))
        return cls(
            (), (), times, np.zeros((0, 3)), np.zeros((*shape, 5)), np.zeros(shape, dtype=bool)
        )

    def at(self, time: float) -> Float:
        """States ``[N, 5]`` at the sample nearest to ``time``; NaN where not valid."""
        index = int(np.abs(self.times - time).argmin())
        return np.where(self.valid[:, index, None], self.states[:, index], np.nan)


@dataclass(frozen=True)
class TrafficSignal:
    """A traffic light or sign near the ego at t = 0, scene frame.

    ``kind`` is "traffic_light", "stop", "yield" or "speed_limit"; ``value`` is the limit in m/s for the
    latter. ``distance`` is metres along the route to the stop line, NaN if unknown.
    """

    signal_id: str
    kind: str
    position: tuple[float, float]
    state: LightState = LightState.UNKNOWN
    affects_ego: bool = False
    distance: float = float("nan")
    value: float = float("nan")


@dataclass(frozen=True)
class ImageRef:
    """Where one picture lies: a file, a member of a tar or zip archive, or a range of a file's bytes."""

    path: str
    member: str = ""

    @classmethod
    def byte_range(cls, path: str, offset: int, length: int) -> ImageRef:
        """A picture that is embedded in another file, such as a TFRecord: member ``@offset+length``."""
        return cls(path, f"@{offset}+{length}")

    def __str__(self) -> str:
        return f"{self.path}::{self.member}" if self.member else self.path

    @classmethod
    def parse(cls, text: str) -> ImageRef:
        """Inverse of ``str``."""
        path, _, member = text.partition("::")
        return cls(path, member)


Images = Mapping[str, tuple[ImageRef | None, ...]]
"""Camera name -> one reference for each of ``HISTORY_TIMES``, None where there is no picture."""


@dataclass(frozen=True)
class Observation:
    """What a policy may see at the moment of decision, and nothing else.

    Attributes
    ----------
    record_key
        Opaque name of the moment; tells nothing about the future.
    images
        The front cameras at ``HISTORY_TIMES``.
    history
        ``[4, 3]`` ego poses at ``HISTORY_TIMES``, in the ego frame at t = 0 (the last is zero).
    velocity, acceleration
        ``[2]`` of the ego at t = 0, in its own frame, m/s and m/s².
    command
        Navigation instruction.
    """

    record_key: str
    images: Images
    history: Float
    velocity: Float
    acceleration: Float
    command: Command

    @property
    def speed(self) -> float:
        """Speed over ground at t = 0, m/s."""
        return float(np.hypot(*self.velocity))


@dataclass(frozen=True)
class Scene:
    """The privileged truth of one moment of decision: the log's past, future and surroundings.

    Attributes
    ----------
    record_key
        Unique name of the moment: ``source/log/frame``.
    scene_key
        Name of the drive it belongs to; splits never cut through one.
    source
        Format the log came from, for example "bench2drive".
    timestamp_s
        Log time of t = 0.
    history, velocity, acceleration, command, images
        As in :class:`Observation`.
    future
        ``[10, 3]`` logged ego poses at ``FUTURE_TIMES``, ego frame at t = 0.
    agents
        Other road users from -1.5 to 5 s as far as the source knows them (past, present and future).
    signals
        Lights and signs nearby at t = 0.
    town, world_pose
        Map name ("" if none) and ego pose ``[3]`` in that map's right-handed world at t = 0.
    situation
        What the log was recorded for, "" if unknown.
    missing
        Names of what the source cannot tell ("agents", "signals", "images", "acceleration", "command" ...).
    """

    record_key: str
    scene_key: str
    source: str
    timestamp_s: float
    history: Float
    future: Float
    velocity: Float
    acceleration: Float
    command: Command = Command.UNKNOWN
    images: Images = field(default_factory=dict)
    agents: AgentTracks = field(default_factory=AgentTracks.empty)
    signals: tuple[TrafficSignal, ...] = ()
    town: str = ""
    world_pose: Float = field(default_factory=lambda: np.zeros(3))
    situation: str = ""
    missing: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name, shape in (
            ("history", (len(HISTORY_TIMES), 3)),
            ("future", (len(FUTURE_TIMES), 3)),
            ("velocity", (2,)),
            ("acceleration", (2,)),
            ("world_pose", (3,)),
        ):
            array = as_float(getattr(self, name), shape, f"Scene.{name}")
            if not np.isfinite(array).all():
                raise ValueError(f"Scene.{name}: not finite")
            object.__setattr__(self, name, array)

    @property
    def waypoints(self) -> Float:
        """``[10, 2]`` logged future positions, the target of planning."""
        return self.future[:, :2]

    @property
    def speed(self) -> float:
        """Speed over ground at t = 0, m/s."""
        return float(np.hypot(*self.velocity))

    def observe(self, cameras: tuple[str, ...] = FRONT_CAMERAS) -> Observation:
        """What a policy may see of this scene: no future, no other road users, no signals, no map."""
        return Observation(
            record_key=self.record_key,
            images={camera: self.images[camera] for camera in cameras if camera in self.images},
            history=self.history,
            velocity=self.velocity,
            acceleration=self.acceleration,
            command=self.command,
        )
