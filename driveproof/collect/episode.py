"""One drive: set the stage, let the expert drive, keep what happened."""

from __future__ import annotations

import math
from dataclasses import dataclass

from driveproof.collect.situations import SITUATIONS
from driveproof.collect.staging import NoPlace, Stage, seeded
from driveproof.scene import LightState
from driveproof.sim.world import Path, World, WorldSnapshot
from driveproof.sim.world.roads import Roads

DT = 0.1
"""Seconds between annotations, and of a step of the world."""
MIN_WAY = 8.0
"""A drive in which the ego moves less than this many metres is of no use."""


class Spoiled(Exception):
    """A drive that must not become data; the text is counted."""


@dataclass(frozen=True)
class Episode:
    """A drive: the ego's path and a snapshot every :data:`DT` seconds."""

    situation: str
    path: Path
    snapshots: tuple[WorldSnapshot, ...]

    @property
    def way(self) -> float:
        """Metres driven."""
        return self.snapshots[-1].ego_s - self.snapshots[0].ego_s

    def outcome(self) -> dict[str, float]:
        """Numbers about the drive for the index: metres, mean speed, hardest braking, seconds at a stand."""
        speeds = [s.ego.speed for s in self.snapshots]
        return {
            "metres": round(self.way, 2),
            "mean_speed": round(sum(speeds) / len(speeds), 3),
            "hardest_braking": round(-min(s.ego.accel for s in self.snapshots), 3),
            "seconds_standing": round(sum(v < 0.5 for v in speeds) * DT, 1),
        }


def drive(
    situation: str, roads: Roads, seed: int, key: str, seconds: float, traffic: int
) -> Episode:
    """Set up a situation from (seed, key) and drive it.

    Raises
    ------
    NoPlace
        If it does not fit the town.
    Spoiled
        If the ego touched somebody, ran a red light, left its path, hardly moved or came to the end of
        the road: "collision", "red_light", "off_path", "no_motion", "end_of_road".
    """
    stage = Stage(roads, seeded(seed, key), traffic=traffic)
    world = SITUATIONS[situation].setup(stage)
    if crowded(world):
        raise NoPlace("actors overlap at the start")
    snapshots = [world.snapshot()]
    for _ in range(round(seconds / DT)):
        before = world.ego.s_front
        world.step(DT)
        snapshots.append(world.snapshot())
        check(world, before)
    episode = Episode(situation, world.ego.path, tuple(snapshots[:-1]))
    if episode.way < MIN_WAY:
        raise Spoiled("no_motion")
    return episode


def check(world: World, front_before: float) -> None:
    """Raise :class:`Spoiled` if the last step broke a rule that data must never show."""
    ego = world.ego
    if world.collisions:
        raise Spoiled("collision")
    if ran_red_light(world, front_before):
        raise Spoiled("red_light")
    x, y = ego.path.point(ego.s, ego.offset_at(ego.s))
    if math.hypot(ego.state.x - x, ego.state.y - y) > 2.0:
        raise Spoiled("off_path")
    if ego.s_front > ego.path.length - 1.0:
        raise Spoiled("end_of_road")


def ran_red_light(world: World, front_before: float) -> bool:
    """Whether the ego's front passed a stop line in the last step while its light was red."""
    return any(
        stop.kind == "light"
        and front_before <= stop.s < world.ego.s_front
        and world.lights.state(stop.signal_id) is LightState.RED
        for stop in world.ego.path.stops
    )


def crowded(world: World) -> bool:
    """Whether the ego touches somebody before anything has moved."""
    world.note_collisions()
    touching = bool(world.collisions)
    world.collisions.clear()
    return touching
