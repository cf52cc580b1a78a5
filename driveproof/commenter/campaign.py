"""Commenting on many clips, by several processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from driveproof.commenter.clips import open_clips, windows
from driveproof.commenter.commentary import Commentary, Commenter
from driveproof.commenter.dataset import ClipName, ClipTable
from driveproof.files import atomic_dir, check_folder, write_json
from driveproof.maps import load_town
from driveproof.workers import process_pool


@dataclass(frozen=True)
class CommentTask:
    """One archive or folder of clips to be commented on."""

    number: int
    path: Path
    folder: Path
    every: int
    seed: int


@dataclass(frozen=True)
class CommentRecord:
    """What came of it: clips, frames read and commented on, questions by number, keys given."""

    path: str
    clips: list[str]
    frames: int
    commented: int
    questions: dict[int, int]
    keys: dict[str, int]


def comment_clips(
    paths: Sequence[Path],
    out: Path,
    *,
    every: int = 1,
    seed: int = 0,
    workers: int = 1,
    progress: Callable[[CommentRecord], None] | None = None,
) -> dict[str, Any]:
    """Comment on the clips of ``paths`` into the folder ``out``; returns what ``index.json`` says.

    Every frame is read, for signs are remembered; every ``every``-th is written. The bytes do not depend on
    ``workers``. The folder appears whole or not at all.

    Raises
    ------
    BadInput
        Naming the archive, the member and the field.
    """
    check_folder(out, ["index.json"])
    with atomic_dir(out) as folder:
        tasks = [CommentTask(n, path, folder, every, seed) for n, path in enumerate(paths)]
        records = []
        for record in _run(tasks, workers):
            records.append(record)
            if progress is not None:
                progress(record)
        index = index_of(records, every, seed)
        write_json(folder / "index.json", index)
    return index


def index_of(records: Sequence[CommentRecord], every: int, seed: int) -> dict[str, Any]:
    """Totals and a line for each archive."""
    questions: Counter[int] = Counter()
    keys: Counter[str] = Counter()
    for record in records:
        questions.update(record.questions)
        keys.update(record.keys)
    return {
        "every": every,
        "seed": seed,
        "frames": sum(record.frames for record in records),
        "commented": sum(record.commented for record in records),
        "questions": {str(number): count for number, count in sorted(questions.items())},
        "keys": dict(sorted(keys.items())),
        "sources": [
            {
                k: v
                for k, v in asdict(record).items()
                if k in ("path", "clips", "frames", "commented")
            }
            for record in records
        ],
    }


def _run(tasks: list[CommentTask], workers: int) -> Iterator[CommentRecord]:
    if workers == 1 or len(tasks) == 1:
        yield from map(comment_clip, tasks)
        return
    with process_pool(min(workers, len(tasks))) as pool:
        yield from pool.map(comment_clip, tasks)


def comment_clip(task: CommentTask) -> CommentRecord:
    """Comment on one archive; writes its pair of tables."""
    commented = 0
    questions: Counter[int] = Counter()
    keys: Counter[str] = Counter()
    frames = Counter[str]()
    table = ClipTable(ClipName("", "", ""), task.seed)
    for name, said in commentaries(task.path, task.every, frames):
        commented += 1
        table.name = name
        table.add(said)
        questions.update(key.number for key in said.answers)
        keys[said.decision.keys.text()] += 1
    table.write(task.folder, task.number)
    total = frames.total()
    return CommentRecord(
        task.path.name, list(frames), total, commented, dict(questions), dict(keys)
    )


def commentaries(
    path: Path, every: int = 1, frames: Counter[str] | None = None
) -> Iterator[tuple[ClipName, Commentary]]:
    """What the expert says about every ``every``-th frame of the clips of an archive.

    ``frames`` counts the frames read of each clip: all of them, for the expert remembers signs.

    Raises
    ------
    BadInput
        Naming the archive, the member and the field.
    """
    for clip in open_clips(path):
        name = ClipName(clip.name, clip.town, clip.scenario)
        commenter = Commenter(load_town(clip.town))
        for window in windows(clip.frames):
            if frames is not None:
                frames[clip.name] += 1
            if window.now.index % every == 0:
                yield name, commenter.comment(window)
            else:
                commenter.watch(window)
