"""Building the scripted data: units in every town, their pictures, and the files of the stage ``judge``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2

from driveproof.config.judge import JudgeParams
from driveproof.datasets.splits import split_scenes
from driveproof.errors import BadInput
from driveproof.files import atomic_dir, write_json
from driveproof.judge.archive import PICTURES, write_pictures
from driveproof.judge.clips import Clip, Pair, write_clips, write_pairs
from driveproof.judge.frames import FrameStyle, Looks, draw_frames, encode
from driveproof.judge.scripted.build import Unit, clips_of, generator, make_unit, pairs_of
from driveproof.judge.scripted.places import places_of
from driveproof.judge.scripted.registry import TOPICS
from driveproof.judge.scripted.stats import statistics_of
from driveproof.judge.scripted.topics import Setting
from driveproof.maps import TownMap, load_town
from driveproof.scene import Scene, write_scenes
from driveproof.workers import process_pool

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class _Order:
    """One unit to be made: topic, split, number."""

    topic: str
    split: str
    number: int


_Job = tuple[JudgeParams, int, str, Sequence[_Order], Mapping[str, str]]
"""Parameters, seed, town, its orders, and the split of every place."""


@dataclass(frozen=True)
class _Part:
    """What one town gave: clips with their encoded frames, pairs, scenes, and orders it had no place for."""

    clips: list[tuple[Clip, tuple[bytes, ...]]]
    pairs: list[Pair]
    scenes: list[Scene]
    lost: list[_Order]


def frame_style(params: JudgeParams) -> FrameStyle:
    """The pictures that the parameters ask for."""
    size = params.picture
    return FrameStyle(size.height, size.front_width, size.bev_width, size.ahead, size.behind)


def write_scripted(
    params: JudgeParams,
    seed: int,
    out: str | Path,
    progress: Progress = lambda done, total: None,
) -> dict[str, Any]:
    """Write ``clips.parquet``, ``pairs.parquet``, ``scenes/``, ``pictures.tar`` and ``stats.json``; return the latter.

    Raises
    ------
    BadInput
        If no unit of a topic could be set anywhere in a split that shall have some.
    """
    towns = [load_town(name) for name in params.towns]
    splits = split_places(towns, params.shares.model_dump(), seed)
    orders = _orders(params, seed, splits)
    total, done = sum(map(len, orders.values())), 0
    parts: list[_Part] = []
    jobs = [(params, seed, town, given, splits) for town, given in orders.items() if given]
    for part, job in zip(_made(jobs, params.workers), jobs, strict=True):
        parts.append(part)
        done += len(job[3])
        progress(done, total)
    _check(params, parts)
    with atomic_dir(out) as folder:
        clips = sorted((each for part in parts for each in part.clips), key=lambda c: c[0].key)
        kept = write_pictures(clips, folder / PICTURES, Path(out) / PICTURES)
        pairs = sorted((pair for part in parts for pair in part.pairs), key=lambda pair: pair.key)
        scenes = sorted((s for part in parts for s in part.scenes), key=lambda s: s.record_key)
        write_clips(kept, folder / "clips.parquet")
        write_pairs(pairs, folder / "pairs.parquet")
        write_scenes(scenes, folder / "scenes")
        lost = Counter(order.topic for part in parts for order in part.lost)
        stats = statistics_of(kept, pairs, params.thresholds, dict(sorted(lost.items())))
        write_json(folder / "stats.json", stats)
    return stats


def _orders(params: JudgeParams, seed: int, splits: Mapping[str, str]) -> dict[str, list[_Order]]:
    """Each unit goes to one town that has places for its topic in its split; towns are drawn evenly."""
    places = {name: places_of(load_town(name)) for name in params.towns}
    orders: dict[str, list[_Order]] = {name: [] for name in params.towns}
    for topic in TOPICS.values():
        for split, count in params.units.model_dump().items():
            able = [
                name
                for name, found in places.items()
                if any(topic.fits(each) and splits[each.key] == split for each in found)
            ]
            for number in range(count if able else 0):
                rng = generator(seed, "town", topic.name, split, number)
                order = _Order(topic.name, split, number)
                orders[able[int(rng.integers(len(able)))]].append(order)
    return orders


def split_places(
    towns: Iterable[TownMap], shares: Mapping[str, float], seed: int
) -> dict[str, str]:
    """Place key -> split; every sort of place (what lies beside it, what it is for) is spread by the shares."""
    sorts: dict[str, set[str]] = {}
    for town in towns:
        for place in places_of(town):
            sorts.setdefault(place.key, set()).add(f"{place.kind} {place.left} {place.right}")
    strata = {key: ", ".join(sorted(found)) for key, found in sorts.items()}
    return split_scenes(strata, shares, seed)


def _made(jobs: Sequence[_Job], workers: int) -> Iterator[_Part]:
    """The towns' parts in order, by one process or several."""
    if workers == 1:
        yield from map(_make, jobs)
        return
    with process_pool(min(workers, max(len(jobs), 1))) as pool:
        yield from pool.map(_make, jobs)


def _make(job: _Job) -> _Part:
    """All units of one town; drawn place by place, because the ground of a place is drawn once."""
    params, seed, name, orders, splits = job
    cv2.setNumThreads(1)
    town = load_town(name)
    places = places_of(town)
    part = _Part([], [], [], [])
    units: list[Unit] = []
    for order in orders:
        topic = TOPICS[order.topic]
        own = [place for place in places if splits[place.key] == order.split]
        unit = make_unit(topic, order.number, order.split, own, town, seed, params.variant)
        if unit is None:
            part.lost.append(order)
        else:
            units.append(unit)
    style = frame_style(params)
    for unit in sorted(units, key=lambda u: (u.place.key, u.place.start, u.name)):
        part.pairs.extend(pairs_of(unit, seed))
        part.scenes.extend(made.scene for made in unit.staged)
        for clip, setting, made in clips_of(unit):
            pictures = draw_frames(
                made.scene, clip.plan, made.world.roads, setting.shape, style, town, _looks(setting)
            )
            part.clips.append((clip, tuple(encode(each, params.quality) for each in pictures)))
    return part


def _looks(setting: Setting) -> Looks:
    actors = setting.actors
    return Looks(
        tuple(actor.look for actor in actors),
        tuple(actor.colour for actor in actors),
        tuple(actor.indicator for actor in actors),
    )


def _check(params: JudgeParams, parts: Sequence[_Part]) -> None:
    found = {(clip.topic, clip.split) for part in parts for clip, _ in part.clips}
    for split, count in params.units.model_dump().items():
        for topic in TOPICS:
            if count and (topic, split) not in found:
                raise BadInput(
                    f"no place for topic {topic} in split {split}",
                    field="judge.towns",
                    hint="name more towns, or raise judge.shares of that split",
                )
