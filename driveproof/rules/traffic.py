"""Other road users over time, and the lights, as arrays over agents and steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.rules.kernels import boxes_touch
from driveproof.rules.states import HEADING, STEPS, VehicleShape, box_centers

AGENT_TYPES = ("vehicle", "pedestrian", "bicycle")
STATIC_TYPES = ("traffic_cone", "barrier", "czone_sign", "generic_object")


@dataclass(frozen=True)
class Track:
    """One agent or object: token, type, box size [m], states ``[T, 5]`` x, y, heading, vx, vy in the world (NaN row: absent)."""

    token: str
    type: str
    length: float
    width: float
    states: ArrayLike


@dataclass(frozen=True)
class Traffic:
    """A tracks over T >= 41 steps.

    ``pose`` ``[A, T, 4]`` is x, y, cosine and sine of the heading of the box centre; ``present`` ``[A, T]``;
    ``speed`` ``[A, T]`` m/s; ``half`` ``[A, 2]`` half length and half width; ``static`` ``[A]`` objects that never
    move by type; ``appears`` ``[A]`` first step present.
    """

    tokens: tuple[str, ...]
    types: tuple[str, ...]
    pose: Float
    present: Bool
    speed: Float
    half: Float
    static: Bool
    appears: Int

    @classmethod
    def of(cls, tracks: Sequence[Track]) -> Traffic:
        """Check and pack tracks; a track that never exists is left out.

        Raises
        ------
        BadInput
            On an unknown type, a box without area, a repeated token, a horizon shorter than 41 states, or a state
            that is neither absent nor finite.
        """
        states = [_states(track, n) for n, track in enumerate(tracks)]
        seen: set[str] = set()
        for n, track in enumerate(tracks):
            if track.token in seen:
                raise BadInput("token appears twice", field=f"agents[{n}] {track.token}")
            seen.add(track.token)
        kept = [n for n, state in enumerate(states) if not np.isnan(state[:, 0]).all()]
        steps = min((len(states[n]) for n in kept), default=STEPS)
        packed = np.array([states[n][:steps] for n in kept]).reshape(len(kept), steps, 5)
        present = ~np.isnan(packed[..., 0])
        packed = np.where(present[..., None], packed, 0.0)
        half = [[tracks[n].length / 2.0, tracks[n].width / 2.0] for n in kept]
        return cls(
            tuple(tracks[n].token for n in kept),
            tuple(tracks[n].type for n in kept),
            np.stack(
                [packed[..., 0], packed[..., 1], np.cos(packed[..., 2]), np.sin(packed[..., 2])], -1
            ),
            present,
            np.hypot(packed[..., 3], packed[..., 4]),
            np.array(half, np.float64).reshape(-1, 2),
            np.array([tracks[n].type in STATIC_TYPES for n in kept], bool),
            present.argmax(-1).astype(np.int64),
        )

    def __len__(self) -> int:
        return len(self.tokens)

    def keep(self, chosen: Bool) -> Traffic:
        """The tracks of which ``chosen`` ``[A]`` is true."""
        index = np.flatnonzero(chosen)
        return replace(
            self,
            tokens=tuple(self.tokens[n] for n in index),
            types=tuple(self.types[n] for n in index),
            pose=self.pose[index],
            present=self.present[index],
            speed=self.speed[index],
            half=self.half[index],
            static=self.static[index],
            appears=self.appears[index],
        )

    def without_contact_at_start(self, ego: Float, shape: VehicleShape) -> Traffic:
        """Drop tracks whose box meets the ego's at step 0 for the whole scene (NAVSIM's log replay)."""
        x, y = box_centers(ego, shape)
        cos, sin = float(np.cos(ego[HEADING])), float(np.sin(ego[HEADING]))
        reach = np.hypot(shape.length, shape.width) / 2.0 + np.hypot(
            self.half[:, 0], self.half[:, 1]
        )
        gap = np.hypot(self.pose[:, 0, 0] - x, self.pose[:, 0, 1] - y)
        chosen = np.ones(len(self), dtype=bool)
        for n in np.flatnonzero(self.present[:, 0] & (gap <= reach + 1e-6)):
            ax, ay, c, s = self.pose[n, 0]
            half = self.half[n]
            size = (shape.length / 2.0, shape.width / 2.0)
            chosen[n] = not boxes_touch(ax - x, ay - y, cos, sin, *size, c, s, *half)
        return self.keep(chosen) if not chosen.all() else self

    def judged_speed(self, *, first_appearance: bool) -> Float:
        """Speeds ``[A, T]`` by which a track counts as stopped: of its first appearance, or of each step."""
        if not first_appearance or not len(self):
            return self.speed
        first = self.speed[np.arange(len(self)), self.appears]
        return np.ascontiguousarray(np.broadcast_to(first[:, None], self.speed.shape))


@dataclass(frozen=True)
class Signals:
    """Lights: the polygon (index into the map) of each governed lane connector, and ``red`` ``[L, >=41]``.

    ``known`` is false where nobody recorded lights; TLC is then unjudged.
    """

    polygon: Int
    red: Bool
    known: bool = True

    @classmethod
    def none(cls) -> Signals:
        """No light at all."""
        return cls(np.zeros(0, np.int64), np.zeros((0, STEPS), bool))

    @classmethod
    def unknown(cls) -> Signals:
        """Lights that the source did not record."""
        return replace(cls.none(), known=False)


def _states(track: Track, number: int) -> Float:
    field = f"agents[{number}] {track.token}"
    if track.type not in AGENT_TYPES + STATIC_TYPES:
        known = ", ".join(AGENT_TYPES + STATIC_TYPES)
        raise BadInput(f"unknown type {track.type!r}", field=field, hint=f"known: {known}")
    for name, value in (("length", track.length), ("width", track.width)):
        if not (np.isfinite(value) and value > 0.0):
            raise BadInput(f"{name} must be positive, got {value}", field=field)
    states = np.asarray(track.states, np.float64)
    if states.ndim != 2 or states.shape[1] != 5:
        raise BadInput("states: expected [x, y, heading, vx, vy] a step", field=field)
    if len(states) < STEPS:
        raise BadInput(f"{len(states)} states, {STEPS} are needed", field=field)
    absent = np.isnan(states).all(-1)
    if not np.isfinite(states[~absent]).all():
        step = int((~np.isfinite(states).all(-1) & ~absent).argmax())
        raise BadInput("not finite", field=f"{field}: states[{step}]")
    return states
