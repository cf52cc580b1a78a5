"""A driving log as every adapter yields it: one continuous drive, in one world frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from driveproof.geometry.arrays import Float, Int, as_float, check_shape
from driveproof.scene.log_map import LogMap
from driveproof.scene.types import AgentTracks, Command, ImageRef, TrafficSignal


@dataclass(frozen=True)
class Log:
    """One continuous drive.

    Attributes
    ----------
    source, log_id
        Format name and the drive's own name; ``source/log_id`` becomes the scene key.
    times
        ``[T]`` seconds, strictly increasing.
    poses
        ``[T, 3]`` ego x, y, heading in a right-handed world.
    velocity, acceleration
        ``[T, 2]`` in the ego's own frame at each time, or None where the source has none: velocity is
        then differentiated from the poses, acceleration from the velocity.
    command
        ``[T]`` of :class:`Command` numbers, or None.
    agents
        Tracks in the same world and clock, or None.
    signals
        Frame index -> signals seen then, world frame.
    images
        Camera -> (times ``[K]``, K references).
    anchors
        Frame indices at which a decision may be cut out; None for "on the grid that the caller asks for".
    frame_origin
        What point of the vehicle the poses follow: "rear_axle", "box_center", "camera", "vehicle".
    missing
        What the source cannot tell.
    ego_size
        Length and width of the ego vehicle in metres, or None.
    load_map
        Reads the map that comes with the log, in the same world, when somebody wants it; None where there is none.
    """

    source: str
    log_id: str
    times: Float
    poses: Float
    velocity: Float | None = None
    acceleration: Float | None = None
    command: Int | None = None
    agents: AgentTracks | None = None
    signals: Mapping[int, tuple[TrafficSignal, ...]] = field(default_factory=dict)
    images: Mapping[str, tuple[Float, tuple[ImageRef, ...]]] = field(default_factory=dict)
    anchors: tuple[int, ...] | None = None
    frame_names: tuple[str, ...] | None = None
    frame_origin: str = "rear_axle"
    town: str = ""
    situation: str = ""
    missing: frozenset[str] = frozenset()
    ego_size: tuple[float, float] | None = None
    load_map: Callable[[], LogMap] | None = None

    def __post_init__(self) -> None:
        n = len(self.times)
        object.__setattr__(self, "times", as_float(self.times, (n,), "Log.times"))
        object.__setattr__(self, "poses", as_float(self.poses, (n, 3), "Log.poses"))
        for name in ("velocity", "acceleration"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, as_float(value, (n, 2), f"Log.{name}"))
        if self.command is not None:
            check_shape(np.asarray(self.command), (n,), "Log.command")
        if self.frame_names is not None and len(self.frame_names) != n:
            raise ValueError(f"Log.frame_names: expected {n} entries, got {len(self.frame_names)}")

    @property
    def scene_key(self) -> str:
        """Unit of splitting."""
        return f"{self.source}/{self.log_id}"

    def command_at(self, index: int) -> Command:
        """Navigation command of a frame."""
        return Command(int(self.command[index])) if self.command is not None else Command.UNKNOWN
