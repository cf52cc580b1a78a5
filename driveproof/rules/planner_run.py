"""Runs over files of planners: batches out to worker processes, parts on disk, one table at the end.

A run leaves ``parts/part-*.parquet`` behind until it is whole, so that a killed one can go on where it was.
"""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.errors import BadInput, UserError
from driveproof.files import atomic_path, read_json, write_json
from driveproof.rules.planners import SCORE_SCHEMA, Judge, PlannerRun
from driveproof.rules.proposals import Proposal, read_batches
from driveproof.workers import process_pool


def score_file(
    run: PlannerRun,
    out: Path,
    *,
    workers: int = 1,
    resume: bool = False,
    on_rows: Callable[[int], None] | None = None,
) -> Path:
    """Score all proposals of a run into ``out/scores.parquet``; returns its path.

    Parameters
    ----------
    workers
        Processes; the result does not depend on their number.
    resume
        Go on with the parts of a killed run of the same files and settings; else start anew.
    on_rows
        Called with the number of rows that became ready.

    Raises
    ------
    BadInput
        If a file is malformed, or the parts in ``out`` belong to another run.
    UserError
        If a worker process dies; the finished parts stay.
    """
    parts, identity = out / "parts", run.identity()
    _prepare(out, parts, identity, resume=resume)
    count = 0
    for number, batch, table in _scored(run, parts, workers):
        path = _part(parts, number)
        if table is not None:
            with atomic_path(path) as temporary:
                pq.write_table(table, temporary, compression="zstd")
        count = number + 1
        if on_rows is not None:
            on_rows(batch)
    target = out / "scores.parquet"
    with atomic_path(target) as temporary, pq.ParquetWriter(temporary, SCORE_SCHEMA) as writer:
        for number in range(count):
            writer.write_table(pq.read_table(_part(parts, number), schema=SCORE_SCHEMA))
    shutil.rmtree(parts)
    return target


def _part(parts: Path, number: int) -> Path:
    return parts / f"part-{number:06d}.parquet"


def _prepare(out: Path, parts: Path, identity: dict[str, Any], *, resume: bool) -> None:
    known = parts / "run.json"
    if resume and known.is_file():
        before = read_json(known)
        if not isinstance(before, dict):
            raise BadInput("not readable", path=known, hint="start anew without --resume")
        if before != identity:
            changed = ", ".join(sorted(k for k in identity if before.get(k) != identity[k]))
            hint = "start anew without --resume"
            raise BadInput(f"belongs to a run with other {changed}", path=parts, hint=hint)
        return
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir(parents=True)
    write_json(known, identity)


def _scored(
    run: PlannerRun, parts: Path, workers: int
) -> Iterator[tuple[int, int, pa.Table | None]]:
    """Number, rows and scores of every batch in order; scores are None where the part is there already."""
    batches = enumerate(read_batches(run.proposals, run.batch_rows))
    if workers == 1:
        judge: Judge | None = None
        for number, batch in batches:
            if _part(parts, number).is_file():
                yield number, len(batch), None
                continue
            judge = judge or Judge(run)
            yield number, len(batch), judge(batch)
        return
    pool = process_pool(workers, _start, (run,))
    waiting: deque[tuple[int, int, Future[pa.Table] | None]] = deque()
    try:
        for number, batch in batches:
            there = _part(parts, number).is_file()
            waiting.append((number, len(batch), None if there else pool.submit(_work, batch)))
            while len(waiting) > 2 * workers:
                yield _done(waiting.popleft())
        while waiting:
            yield _done(waiting.popleft())
    finally:
        pool.shutdown(cancel_futures=True)


def _done(entry: tuple[int, int, Future[pa.Table] | None]) -> tuple[int, int, pa.Table | None]:
    number, rows, future = entry
    try:
        return number, rows, None if future is None else future.result()
    except BrokenProcessPool:
        hint = "out of memory? go on with --resume and fewer --workers"
        raise UserError("a worker process died", field=f"batch {number}", hint=hint) from None


_judge: Judge | None = None


def _start(run: PlannerRun) -> None:
    """Give a worker process its judge."""
    global _judge
    _judge = Judge(run)


def _work(batch: list[Proposal]) -> pa.Table:
    if _judge is None:
        raise RuntimeError("the worker was not started")
    return _judge(batch)
