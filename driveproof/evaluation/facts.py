"""What can be known of a scene from its past: the facts that reasoning is held against.

Two steps keep the future out. :func:`surroundings_of` cuts a scene's tracks at t = 0, and everything below takes its
:class:`Surroundings` and an :class:`~driveproof.scene.Observation`, neither of which holds a future or candidates.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.scene import AgentKind, Observation, Scene, TrafficSignal, read_scenes

REACH_M = 40.0
"""How far ahead a road user may be to be a reason."""
SEEN_M = 60.0
"""How far away a road user may be to be mentioned."""
CORRIDOR_M = (2.0, 4.0)
"""Half width of the way ahead for vehicles and obstacles, and for those on foot or bicycle."""
SAME_SPEED = 1.0
"""Difference of speed along the road, m/s, from which a road user is slower or faster."""
STANDING = 0.5
HORIZON_S = 5.0
BRAKING = 4.0
"""m/s²: a yellow light that takes more than that to stop at is passed."""
CLOSING_S = 6.0
"""Who would be reached within so many seconds at the present speeds demands slowing down."""
BUMPER_M = 2.4
"""From the middle of the ego to its front."""


class Demand(StrEnum):
    """What the evidence demands of the speed within the horizon."""

    STOP = "stop"
    SLOW = "slow"
    FREE = "free"


@dataclass(frozen=True)
class Surroundings:
    """Who and what was around until the moment of decision.

    Attributes
    ----------
    kinds
        N kinds of road users.
    states
        ``[N, 5]`` x, y, heading and velocity vx, vy at t = 0 in the ego frame.
    lengths
        ``[N]`` metres.
    signals
        Lights and signs with their state at t = 0.
    known
        Which of "agents", "signals" the source can tell at all.
    """

    kinds: tuple[AgentKind, ...]
    states: Float
    lengths: Float
    signals: tuple[TrafficSignal, ...]
    known: frozenset[str]


@dataclass(frozen=True)
class SignalFact:
    """A light or sign: "red", "yellow", "green", "off", "stop" or "yield", metres to its line."""

    name: str
    distance: float
    governs: bool


@dataclass(frozen=True)
class UserFact:
    """A road user seen from the ego.

    ``x`` metres ahead to its near end, ``y`` metres left of the ego; ``motion`` is "standing", "slower", "same" or
    "faster" along the ego's axis; ``speed`` over ground in m/s; ``in_way`` whether it is in the corridor ahead.
    """

    kind: str
    x: float
    y: float
    speed: float
    motion: str
    in_way: bool
    name: str = ""
    """A closer name, for example "teal car", where somebody knows it."""


@dataclass(frozen=True)
class SceneFacts:
    """What a good reason may rest on.

    Attributes
    ----------
    record_key
        Which moment.
    speed, acceleration
        Of the ego now, m/s and m/s² along its axis.
    command
        The navigation command in lower case, "unknown" if there is none.
    signal
        The nearest light or sign that governs the ego.
    ahead
        The nearest road user in its way.
    signals, users
        All that are near, those two included.
    known
        Which of "agents" and "signals" the source can tell; what it cannot is neither true nor false.
    """

    record_key: str
    speed: float
    acceleration: float
    command: str
    signal: SignalFact | None
    ahead: UserFact | None
    signals: tuple[SignalFact, ...]
    users: tuple[UserFact, ...]
    known: frozenset[str]

    @property
    def signal_demand(self) -> Demand:
        """What the governing signal demands within the horizon."""
        signal = self.signal
        if signal is None or signal.name in ("green", "off", "unknown"):
            return Demand.FREE
        reachable = signal.distance <= self.speed * HORIZON_S + 5.0
        if signal.name in ("stop", "yield"):
            # who stands at a stop sign may have done what it asks for
            return Demand.SLOW if reachable and self.speed > 2.0 else Demand.FREE
        too_late = self.speed**2 / (2.0 * max(signal.distance, 0.1)) > BRAKING
        if signal.name == "yellow" and too_late:
            return Demand.FREE
        return Demand.STOP if reachable else Demand.FREE

    @property
    def ahead_demand(self) -> Demand:
        """What the road user in the way demands within the horizon."""
        user = self.ahead
        if user is None or user.motion in ("faster", "same"):
            return Demand.FREE
        along = 0.0 if user.motion == "standing" else user.speed
        closing = self.speed - along
        gap = max(user.x - BUMPER_M, 0.0)
        if closing <= 0.0 and gap > 3.0:
            return Demand.FREE
        if gap <= 3.0 or gap / max(closing, 0.1) <= CLOSING_S:
            return Demand.STOP if user.motion == "standing" else Demand.SLOW
        return Demand.FREE

    @property
    def demand(self) -> Demand:
        """The stricter of the two."""
        both = (self.signal_demand, self.ahead_demand)
        return next((d for d in (Demand.STOP, Demand.SLOW) if d in both), Demand.FREE)


def surroundings_of(scene: Scene) -> Surroundings:
    """The surroundings of a scene at t = 0; nothing later than that is read."""
    tracks = scene.agents
    past = np.flatnonzero(tracks.times <= 1e-6)
    here = np.zeros(0, dtype=np.int64)
    states = np.zeros((0, 5))
    if len(past) and len(tracks):
        now = int(past[-1])
        here = np.flatnonzero(tracks.valid[:, now])
        states = np.asarray(tracks.states[here, now], dtype=np.float64)
    known = {"agents", "signals"} - scene.missing
    return Surroundings(
        kinds=tuple(tracks.kinds[int(n)] for n in here),
        states=states,
        lengths=np.asarray(tracks.dimensions[here, 0], dtype=np.float64),
        signals=scene.signals,
        known=frozenset(known),
    )


def facts_of(observation: Observation, around: Surroundings) -> SceneFacts:
    """The facts of a moment.

    The nearest governing signal and the nearest road user in the corridor are the same that the expert names in
    its first turn, so that a faithful expert is found faithful.
    """
    signals = _signals(around)
    users = _users(around, observation.speed)
    governing = [signal for signal in signals if signal.governs]
    blocking = [user for user in users if user.in_way and user.x < REACH_M]
    return SceneFacts(
        record_key=observation.record_key,
        speed=observation.speed,
        acceleration=float(observation.acceleration[0]),
        command=observation.command.name.lower(),
        signal=min(governing, key=lambda s: s.distance, default=None),
        ahead=min(blocking, key=lambda u: u.x, default=None),
        signals=signals,
        users=users,
        known=around.known,
    )


def read_facts(directory: str | Path, keys: Collection[str] | None = None) -> dict[str, SceneFacts]:
    """The facts of the scenes of a table by record key; of ``keys`` only, if given.

    Raises
    ------
    BadInput
        If the table cannot be read.
    """
    wanted = None if keys is None else set(keys)
    return facts_by_key(
        scene for scene in read_scenes(directory) if wanted is None or scene.record_key in wanted
    )


def facts_by_key(scenes: Iterable[Scene]) -> dict[str, SceneFacts]:
    """Record key -> facts."""
    return {s.record_key: facts_of(s.observe(), surroundings_of(s)) for s in scenes}


def _signals(around: Surroundings) -> tuple[SignalFact, ...]:
    found = [
        SignalFact(
            name=signal.state.value if signal.kind == "traffic_light" else signal.kind,
            distance=max(signal.distance, 0.0)
            if np.isfinite(signal.distance)
            else float(np.hypot(*signal.position)),
            governs=signal.affects_ego,
        )
        for signal in around.signals
        if signal.kind != "speed_limit"
    ]
    return tuple(sorted(found, key=lambda s: (s.distance, s.name)))


def _users(around: Surroundings, ego_speed: float) -> tuple[UserFact, ...]:
    found = []
    for kind, state, length in zip(around.kinds, around.states, around.lengths, strict=True):
        x, y = float(state[0]), float(state[1])
        if np.hypot(x, y) > SEEN_M:
            continue
        wide = kind in (AgentKind.PEDESTRIAN, AgentKind.CYCLIST)
        near = x - float(length) / 2.0
        found.append(
            UserFact(
                kind=kind.value,
                x=near,
                y=y,
                speed=float(np.hypot(state[3], state[4])),
                motion=_motion(state, ego_speed),
                in_way=near > 0.0 and abs(y) < CORRIDOR_M[wide],
            )
        )
    return tuple(sorted(found, key=lambda u: (np.hypot(u.x, u.y), u.kind)))


def _motion(state: Float, ego_speed: float) -> str:
    if np.hypot(state[3], state[4]) < STANDING:
        return "standing"
    difference = float(state[3]) - ego_speed
    if abs(difference) < SAME_SPEED:
        return "same"
    return "slower" if difference < 0 else "faster"
