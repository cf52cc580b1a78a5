"""Other road users and things of a scripted scene, in the coordinates of the place, and how they look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from driveproof.geometry import points_to_local, poses_to_local
from driveproof.geometry.arrays import Float
from driveproof.judge.scripted.places import Place
from driveproof.scene import AgentKind, AgentTracks

TIMES: Float = np.linspace(-1.5, 5.0, 27)
"""Seconds at which actors are known."""
Colour = tuple[int, int, int]
_PAINT: tuple[Colour, ...] = (
    (190, 60, 50),
    (60, 90, 170),
    (200, 200, 205),
    (70, 75, 80),
    (60, 130, 90),
)
AMBULANCE: Colour = (240, 60, 40)


@dataclass(frozen=True)
class Actor:
    """A road user or thing.

    Attributes
    ----------
    kind, length, width, height
        What it is, metres.
    s, d, turn
        Where it is at t = 0: metres ahead of the ego's rear axle along the lane, metres left of the centre, and heading
        off the lane's.
    vs, vd
        Speed along and across the lane, m/s.
    begins, ends, appears
        When its motion across begins and ends, and when it first exists, seconds.
    look, colour, indicator
        How it is drawn, see :class:`driveproof.render.Box`.
    """

    kind: AgentKind
    length: float
    width: float
    height: float
    s: float
    d: float
    turn: float = 0.0
    vs: float = 0.0
    vd: float = 0.0
    begins: float = -np.inf
    ends: float = np.inf
    appears: float = -np.inf
    look: str = ""
    colour: Colour = (150, 155, 165)
    indicator: str = ""

    def states(self, place: Place) -> Float:
        """World states ``[T, 5]`` x, y, heading, vx, vy at :data:`TIMES`; NaN before it appears."""
        across = np.clip(TIMES, self.begins, self.ends) - np.clip(0.0, self.begins, self.ends)
        poses = place.poses(self.s + self.vs * TIMES, self.d + self.vd * across, self.turn)
        velocity = np.gradient(poses[:, :2], TIMES, axis=0)
        states: Float = np.concatenate([poses, velocity], axis=1)
        states[self.appears > TIMES] = np.nan
        return states


def tracks_of(actors: Sequence[Actor], place: Place, origin: Float) -> AgentTracks:
    """The actors as tracks in the frame of ``origin`` ``[3]`` (the ego pose at t = 0, world)."""
    if not actors:
        return AgentTracks.empty(TIMES)
    world = np.stack([actor.states(place) for actor in actors])
    states = world.copy()
    states[..., :3] = poses_to_local(world[..., :3], origin)
    states[..., 3:] = points_to_local(world[..., 3:], np.array([0.0, 0.0, origin[2]]))
    return AgentTracks(
        tuple(f"{actor.look or actor.kind.value}{n}" for n, actor in enumerate(actors)),
        tuple(actor.kind for actor in actors),
        TIMES,
        np.array([[actor.length, actor.width, actor.height] for actor in actors]),
        states,
        np.asarray(np.isfinite(states).all(-1)),
    )


def car(rng: np.random.Generator, s: float, d: float, **motion: float) -> Actor:
    """A passenger car."""
    length = float(rng.uniform(4.2, 4.9))
    paint = _PAINT[int(rng.integers(len(_PAINT)))]
    made = Actor(AgentKind.VEHICLE, length, 1.9, 1.5, s, d, look="car", colour=paint)
    return replace(made, **motion)  # type: ignore[arg-type]


def standing_car(rng: np.random.Generator, s: float, d: float) -> Actor:
    """A passenger car that stands with its hazard lights on."""
    return replace(car(rng, s, d), indicator="both")


def van(rng: np.random.Generator, s: float, d: float) -> Actor:
    """A standing delivery van or lorry."""
    length = float(rng.uniform(6.6, 7.6))
    return Actor(
        AgentKind.VEHICLE, length, 2.4, 3.0, s, d, look="truck", colour=(205, 200, 190), indicator="both"
    )  # fmt: skip


def ambulance(s: float, d: float, speed: float) -> Actor:
    """An ambulance that comes towards the ego."""
    return Actor(
        AgentKind.VEHICLE, 6.0, 2.2, 2.7, s, d, turn=np.pi, vs=-speed, look="truck", colour=AMBULANCE,
        indicator="both",
    )  # fmt: skip


def cyclist(s: float, d: float, speed: float, turn: float = 0.0) -> Actor:
    """Somebody on a bicycle along the lane (or against it, with ``turn`` = pi)."""
    along = speed if abs(turn) < 1.0 else -speed
    return Actor(
        AgentKind.CYCLIST, 1.8, 0.7, 1.7, s, d, turn=turn, vs=along, look="cyclist", colour=(230, 120, 40)
    )  # fmt: skip


def walker(s: float, d: float, **motion: float) -> Actor:
    """Somebody on foot; faces the way of ``vd`` or along the lane."""
    across = motion.get("vd", 0.0)
    turn = 0.0 if across == 0.0 else float(np.sign(across)) * np.pi / 2.0
    made = Actor(
        AgentKind.PEDESTRIAN, 0.7, 0.7, 1.75, s, d, turn=turn, look="pedestrian", colour=(250, 210, 60)
    )  # fmt: skip
    return replace(made, **motion)  # type: ignore[arg-type]


def cone(s: float, d: float) -> Actor:
    """A traffic cone."""
    return Actor(AgentKind.OBSTACLE, 0.5, 0.5, 0.8, s, d, look="cone", colour=(255, 110, 20))


def barrier(s: float, d: float) -> Actor:
    """A construction barrier across the lane."""
    return Actor(AgentKind.OBSTACLE, 0.6, 1.2, 1.0, s, d, look="barrier", colour=(250, 140, 40))


def debris(s: float, d: float) -> Actor:
    """Something that was lost on the road."""
    return Actor(AgentKind.OBSTACLE, 1.1, 1.1, 0.6, s, d, look="barrier", colour=(110, 80, 60))
