"""A whole collection: many clips over situations and towns, by several processes, and an index of them."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from driveproof.collect.recorder import ClipRecord, ClipTask, record_clip, roads_of
from driveproof.collect.situations import shares
from driveproof.collect.staging import seeded
from driveproof.collect.weather import weather
from driveproof.config.collect import CollectParams
from driveproof.errors import BadInput
from driveproof.files import atomic_dir, write_json

Progress = Callable[[ClipRecord], None]


def collect(
    params: CollectParams,
    seed: int,
    directory: str | Path,
    progress: Progress | None = None,
) -> list[ClipRecord]:
    """Record ``params.clips`` clips into ``directory`` with an ``index.json``.

    The bytes depend on the parameters (without ``workers``) and the seed only. The directory appears
    whole or not at all.

    Raises
    ------
    MissingMap, BadInput
        If a town, weather or situation is unknown, or no clip could be made at all.
    """
    names = shares(params.weights, params.clips)
    for number in params.weathers:
        weather(number)
    for town in params.towns:
        roads_of(town)
    order = seeded(seed, "campaign").permutation(len(names)).tolist()
    with atomic_dir(directory) as temporary:
        tasks = [
            ClipTask(number, names[index], seed, params, temporary)
            for number, index in enumerate(order)
        ]
        records = []
        for record in _run(tasks, params.workers):
            records.append(record)
            if progress is not None:
                progress(record)
        if not any(record.clip for record in records):
            raise BadInput(
                "no clip could be made", path=directory, hint="other towns, more attempts"
            )
        write_json(temporary / "index.json", index_of(records, params, seed))
    return records


def _run(tasks: list[ClipTask], workers: int) -> Iterator[ClipRecord]:
    if workers == 1 or len(tasks) == 1:
        yield from map(record_clip, tasks)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(tasks)), mp_context=context) as pool:
        yield from pool.map(record_clip, tasks)


def index_of(records: list[ClipRecord], params: CollectParams, seed: int) -> dict[str, Any]:
    """What ``index.json`` says: each clip, and how many setups were rejected for which reason."""
    rejected = Counter(reason for record in records for reason in record.rejected)
    return {
        "seed": seed,
        "params": params.model_dump(mode="json", exclude={"workers"}),
        "clips": [asdict(record) for record in records if record.clip],
        "failed": [asdict(record) for record in records if not record.clip],
        "rejected_setups": dict(sorted(rejected.items())),
        "situations": dict(sorted(Counter(r.situation for r in records if r.clip).items())),
        "towns": dict(sorted(Counter(r.town for r in records if r.clip).items())),
    }
