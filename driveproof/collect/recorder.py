"""Writing a drive as a clip in Bench2Drive's layout."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from driveproof.collect.annotation import Annotator
from driveproof.collect.episode import Episode, Spoiled, drive
from driveproof.collect.pictures import Painter
from driveproof.collect.rig import rig
from driveproof.collect.staging import NoPlace, seeded
from driveproof.collect.weather import weather
from driveproof.config.collect import CollectParams
from driveproof.datasets.bench2drive_writer import ClipWriter
from driveproof.maps import load_town
from driveproof.sim.world.roads import Roads


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


@lru_cache(maxsize=16)
def roads_of(town: str) -> Roads:
    """The roads of a town, loaded once a process."""
    return Roads(load_town(town))


def record_clip(task: ClipTask) -> ClipRecord:
    """Try towns and places until a drive succeeds, then write it; the same task gives the same bytes."""
    params = task.params
    rejected: list[str] = []
    for attempt in range(params.attempts):
        key = f"clip/{task.number}/{attempt}"
        rng = seeded(task.seed, key, "choice")
        town = params.towns[int(rng.integers(len(params.towns)))]
        number = params.weathers[int(rng.integers(len(params.weathers)))]
        try:
            episode = drive(
                task.situation, roads_of(town), task.seed, key, params.seconds, params.traffic
            )
        except NoPlace as reason:
            rejected.append(f"no_place: {reason}")
            continue
        except Spoiled as reason:
            rejected.append(f"spoiled: {reason}")
            continue
        clip = f"{task.situation}_{town}_Route{task.number:05d}_Weather{number}"
        write_clip(episode, roads_of(town), task, clip, number)
        return ClipRecord(
            task.number,
            task.situation,
            clip,
            town,
            number,
            attempt,
            params.seconds,
            episode.outcome(),
            tuple(rejected),
        )
    return ClipRecord(task.number, task.situation, "", "", -1, -1, 0.0, {}, tuple(rejected))


def write_clip(
    episode: Episode, roads: Roads, task: ClipTask, clip: str, weather_number: int
) -> None:
    """Write ``<clip>.tar`` into the task's directory: an annotation a frame, pictures of some frames."""
    params = task.params
    sky = weather(weather_number)
    mounts = rig(params)
    noise = seeded(task.seed, f"clip/{task.number}", "gnss")
    annotator = Annotator(roads, episode.path, sky, mounts, noise)
    painter = Painter(roads, mounts, sky, params)
    with ClipWriter(task.directory / f"{clip}.tar") as writer:
        for frame, snapshot in enumerate(episode.snapshots):
            writer.add_frame(annotator.annotate(snapshot), painter.paint(snapshot, frame))
