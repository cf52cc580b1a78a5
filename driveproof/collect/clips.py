"""Making one clip: a plan that fits, a drive that nothing spoils, a recorder that writes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from driveproof.collect.episode import Drive, Episode, Spoiled, plan
from driveproof.collect.plan import Plan
from driveproof.collect.staging import NoPlace, seeded
from driveproof.collect.weather import weather
from driveproof.config.collect import CollectParams
from driveproof.datasets.bench2drive_writer import ClipWriter
from driveproof.maps import load_town
from driveproof.sim.client import Session
from driveproof.sim.drivers import Roads
from driveproof.sim.recorder import CAMERAS, Annotator, Mount, Recorder, top_down

DELTA_S = 0.05
"""Step of the simulator: 20 Hz, of which every second one is kept."""


@dataclass(frozen=True)
class ClipTask:
    """A clip to be made: its number, situation and everything that its bytes depend on."""

    number: int
    situation: str
    seed: int
    params: CollectParams
    directory: Path


@dataclass(frozen=True)
class ClipRecord:
    """What became of a task; ``clip`` is "" if every attempt failed. ``rejected`` are the reasons of those."""

    number: int
    situation: str
    clip: str
    town: str
    weather: int
    attempt: int
    seconds: float
    outcome: dict[str, float]
    rejected: tuple[str, ...]


@dataclass(frozen=True)
class Attempt:
    """A plan that fits its town, or the reason why there is none."""

    number: int
    key: str
    town: str
    weather: int
    plan: Plan | None
    reason: str = ""


@lru_cache(maxsize=16)
def roads_of(town: str) -> Roads:
    """The roads of a town, loaded once a process."""
    return Roads(load_town(town))


def attempts(task: ClipTask) -> Iterator[Attempt]:
    """Plans in random towns and weathers, one after another; no simulator is needed."""
    params = task.params
    for number in range(params.attempts):
        key = f"clip/{task.number}/{number}"
        rng = seeded(task.seed, key, "choice")
        town = params.towns[int(rng.integers(len(params.towns)))]
        sky = params.weathers[int(rng.integers(len(params.weathers)))]
        try:
            found = plan(task.situation, roads_of(town), task.seed, key, params.traffic)
        except NoPlace as reason:
            yield Attempt(number, key, town, sky, None, f"no_place: {reason}")
        else:
            yield Attempt(number, key, town, sky, found)


def record_clip(task: ClipTask, session: Session) -> ClipRecord:
    """Try towns and places until a drive succeeds, and write it; the same task gives the same bytes."""
    rejected: list[str] = []
    for attempt in attempts(task):
        if attempt.plan is None:
            rejected.append(attempt.reason)
            continue
        clip = f"{task.situation}_{attempt.town}_Route{task.number:05d}_Weather{attempt.weather}"
        try:
            episode = drive_clip(task, attempt, attempt.plan, session, clip)
        except NoPlace as reason:
            rejected.append(f"no_place: {reason}")
            continue
        except Spoiled as reason:
            rejected.append(f"spoiled: {reason}")
            continue
        return ClipRecord(
            task.number,
            task.situation,
            clip,
            attempt.town,
            attempt.weather,
            attempt.number,
            task.params.seconds,
            episode.outcome(),
            tuple(rejected),
        )
    return ClipRecord(task.number, task.situation, "", "", -1, -1, 0.0, {}, tuple(rejected))


def drive_clip(
    task: ClipTask, attempt: Attempt, staged: Plan, session: Session, clip: str
) -> Episode:
    """Drive a plan and write ``<clip>.tar`` into the task's directory; nothing is left if it is spoiled.

    The town is loaded afresh: actor ids, on which for example walkers' clothes depend, start anew, and no
    earlier drive leaves a trace.
    """
    params, roads = task.params, roads_of(attempt.town)
    session.load_town(attempt.town)
    sky = weather(attempt.weather).values()
    traffic = seeded(task.seed, attempt.key, "traffic")
    drive = Drive(session, roads, staged, traffic, sky)
    noise = seeded(task.seed, f"clip/{task.number}", "gnss")
    annotator = Annotator(roads.town, staged.ego.path, sky, rig(params), noise)
    with ClipWriter(task.directory / f"{clip}.tar") as writer:
        recorder = Recorder(
            session,
            drive.ego,
            annotator,
            writer.add_frame,
            params.lidar_points,
            params.jpeg_quality,
        )
        return drive.run(params.seconds, recorder.record)


def rig(params: CollectParams) -> tuple[Mount, ...]:
    """The cameras of the parameters; the front one and the others have sizes of their own."""
    mounts = [
        CAMERAS[f"rgb_{name}"].resized(
            params.front_width if name == "front" else params.side_width,
            params.front_height if name == "front" else params.side_height,
            params.image_every,
        )
        for name in params.cameras
    ]
    if params.bev_every:
        mounts.append(top_down(params.bev_pixels, params.bev_every))
    return tuple(mounts)
