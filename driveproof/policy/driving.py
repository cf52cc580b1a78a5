"""The contract of a policy that drives: what it may see in, keys or pedals out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from driveproof.errors import BadInput
from driveproof.policy.plugin import PLUGIN_FORM, open_plugin
from driveproof.policy.registry import PolicySettings, fits
from driveproof.questions import ActionKeys
from driveproof.scene import Command
from driveproof.scene.images import Pixels

COMMANDS = tuple(command.name.lower() for command in Command)
"""What a navigator can say, in the words of the prompts: follow, left, right, straight, change_left, change_right,
and unknown."""


@dataclass(frozen=True)
class DriveObservation:
    """What a policy may see at a moment of decision; never the truth.

    There is no field for other actors, positions in the world, the map or reference answers, and there must not be.

    Attributes
    ----------
    frame
        Number of the tick since the episode began.
    time_s
        Simulated seconds since the episode began.
    pictures
        Camera name (``CAM_FRONT`` …) to RGB uint8 ``[H, W, 3]``, the oldest first, at least one a camera.
    speed
        The ego's own, m/s.
    command
        The navigator's next command, one of ``COMMANDS``.
    command_distance
        Metres along the route until it holds; nan without one.

    Raises
    ------
    ValueError
        If a shape, a number or the command is none of these.
    """

    frame: int
    time_s: float
    pictures: Mapping[str, Sequence[Pixels]]
    speed: float
    command: str = "follow"
    command_distance: float = math.nan

    def __post_init__(self) -> None:
        if self.frame < 0 or not 0.0 <= self.time_s < math.inf:
            raise ValueError(f"DriveObservation: no such moment: {self.frame}, {self.time_s}")
        if not math.isfinite(self.speed) or math.isinf(self.command_distance):
            raise ValueError("DriveObservation: speed and distance must be finite")
        if self.command not in COMMANDS:
            raise ValueError(f"DriveObservation: no such command: {self.command[:40]!r}")
        for camera, moments in self.pictures.items():
            if not moments:
                raise ValueError(f"DriveObservation: no picture of {camera}")
            for picture in moments:
                _check_picture(camera, picture)


@dataclass(frozen=True)
class Pedals:
    """Direct control: throttle and brake 0 to 1, steer -1 to 1 (right positive, as CARLA's)."""

    throttle: float
    brake: float
    steer: float

    def __post_init__(self) -> None:
        pedals = 0.0 <= self.throttle <= 1.0 and 0.0 <= self.brake <= 1.0
        if not (pedals and -1.0 <= self.steer <= 1.0):
            raise ValueError(f"not a control: {self}")


@dataclass(frozen=True)
class DriveDecision:
    """What to do until the next decision: exactly one of ``keys``, ``controls`` and ``error``.

    Attributes
    ----------
    keys
        Executed by the action module.
    controls
        Held as they are.
    error
        Why there is no decision: the policy's failure, never an exception.
    trace
        What the policy thought, as JSON.
    usage
        Counts of tokens and the like.
    latency_s
        Wall-clock seconds the policy took; never in a stage's outs.
    outage
        The error is no failure of the policy: the server of its model is gone, late or busy, and the drive is to be
        tried again. Said here and never read out of the words of an error, which may hold the policy's own.
    """

    keys: ActionKeys | None = None
    controls: Pedals | None = None
    error: str = ""
    trace: Mapping[str, Any] | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    latency_s: float = 0.0
    outage: bool = False

    def __post_init__(self) -> None:
        given = (self.keys is not None) + (self.controls is not None) + bool(self.error)
        if given != 1:
            raise ValueError("DriveDecision: exactly one of keys, controls and error")
        if self.outage and not self.error:
            raise ValueError("DriveDecision: an outage without an error")
        if not 0.0 <= self.latency_s < math.inf:
            raise ValueError(f"DriveDecision: no such latency: {self.latency_s}")


@runtime_checkable
class DrivingPolicy(Protocol):
    """A policy that drives. It is used by one episode at a time; a failure is a decision with ``error``."""

    @property
    def name(self) -> str:
        """Short name for tables."""
        ...

    @property
    def views(self) -> tuple[str, ...]:
        """Cameras that it wants to see, may be none."""
        ...

    @property
    def history(self) -> int:
        """How many moments of each camera, at least one."""
        ...

    def identity(self) -> dict[str, Any]:
        """What makes the policy reproducible; JSON, without secrets."""
        ...

    def begin(self, episode: str, seed: int) -> None:
        """A new episode: forget everything. ``episode`` names it (route and repeat)."""
        ...

    def decide(self, observation: DriveObservation) -> DriveDecision:
        """What to do now."""
        ...


@dataclass(frozen=True)
class DriverKind:
    """One kind of driving policy: how its specification looks, what it is, how it is opened."""

    form: str
    summary: str
    open: Callable[[str, PolicySettings], DrivingPolicy]


def _random(rest: str, settings: PolicySettings) -> DrivingPolicy:
    from driveproof.policy.drivers import RandomKeys

    return RandomKeys(settings.seed)


def _constant_velocity(rest: str, settings: PolicySettings) -> DrivingPolicy:
    from driveproof.policy.drivers import SteadySpeed

    return SteadySpeed.of(rest)


def _recorded(rest: str, settings: PolicySettings) -> DrivingPolicy:
    from driveproof.policy.replay import RecordedDrive

    return RecordedDrive(rest)


def _wire(rest: str, settings: PolicySettings) -> DrivingPolicy:
    from driveproof.policy.wire.client import WireDriver, connect

    policy = connect(rest, settings, "driving")
    assert isinstance(policy, WireDriver)
    return policy


DRIVERS = {
    "random": DriverKind("random", "keys drawn anew at each decision, seeded", _random),
    "constant_velocity": DriverKind(
        "constant_velocity[:SPEED]",
        "straight wheel at the speed it had, or at SPEED m/s",
        _constant_velocity,
    ),
    "recorded": DriverKind("recorded:RUN_DIR", "the decisions of an earlier run", _recorded),
    "wire": DriverKind("wire:URL[#NAME]", "a policy behind `driveproof policy serve`", _wire),
}
"""Driving policies by the first word of their specification. A new one is one file and one line here."""


def open_driver(spec: str, settings: PolicySettings | None = None) -> DrivingPolicy:
    """Open the driving policy that ``spec`` names, for example ``constant_velocity:8``.

    Models that talk drive through a graph of questions and are opened by the room of reasoning.

    Raises
    ------
    BadInput
        If the kind is unknown, the rest is missing or superfluous, or the policy cannot be opened.
    """
    from driveproof.policy.guard import Guarded

    name, colon, rest = spec.partition(":")
    kind = DRIVERS.get(name)
    if kind is None and colon:
        plugin: DrivingPolicy = open_plugin(spec, {DrivingPolicy: "driving policy"})
        return Guarded(plugin)
    if kind is None:
        known = ", ".join([*sorted(DRIVERS), PLUGIN_FORM])
        raise BadInput(f"no such kind of driving policy: {name}", hint=f"one of {known}")
    if not fits(spec, kind.form):
        raise BadInput(f"not a driving policy: {spec}", hint=f"write {kind.form}")
    return kind.open(rest, settings or PolicySettings())


def _check_picture(camera: str, picture: Pixels) -> None:
    good = isinstance(picture, np.ndarray) and picture.dtype == np.uint8 and picture.ndim == 3
    if not good or picture.shape[-1] != 3 or 0 in picture.shape:
        raise ValueError(f"DriveObservation: {camera} is no RGB picture uint8 [H, W, 3]")
