"""Exports as files: the peers' folder of a JSON a frame, DriveLM's one file, conversations a line each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from driveproof.commenter.campaign import commentaries
from driveproof.commenter.commentary import Commentary
from driveproof.commenter.dataset import read_answers, read_frames
from driveproof.commenter.exports.conversations import (
    CHAIN,
    FrameFlags,
    KeepRatios,
    chains,
    sharegpt,
)
from driveproof.commenter.exports.graph import drivelm, frame_record
from driveproof.files import atomic_dir, atomic_open, check_file, write_json

IMAGES = "{clip}/camera/rgb_front/{frame}.jpg"
"""Where the front picture lies in Bench2Drive's layout, relative to the folder of clips."""
Form = Literal["sharegpt", "chain"]
Progress = Callable[[int], None]


def camera_paths(said: Commentary, clip: str) -> dict[str, str]:
    """Camera → picture in Bench2Drive's layout, relative to the folder of clips."""
    return {
        camera.name: f"{clip}/camera/rgb_{camera.name.removeprefix('CAM_').lower()}/{said.frame.index:05d}.jpg"
        for camera in said.frame.cameras
    }


def _records(
    paths: Iterable[Path], every: int, seed: int
) -> Iterator[tuple[str, int, dict[str, Any]]]:
    for path in paths:
        for name, said in commentaries(path, every):
            record = frame_record(said, name.clip, seed, camera_paths(said, name.clip))
            yield name.clip, said.frame.index, record


def write_peers(
    paths: Sequence[Path],
    out: Path,
    *,
    every: int = 1,
    seed: int = 0,
    progress: Progress | None = None,
) -> int:
    """Write ``OUT/CLIP/00000.json`` for every ``every``-th frame, as Bench2Drive-VL lays them out; how many.

    Raises
    ------
    BadInput
        Naming the archive, the member and the field.
    """
    count = 0
    with atomic_dir(out) as folder:
        for clip, index, record in _records(paths, every, seed):
            (folder / clip).mkdir(exist_ok=True)
            text = json.dumps(record, indent=4, allow_nan=False)
            (folder / clip / f"{index:05d}.json").write_text(text + "\n", encoding="utf-8")
            count += 1
            if progress is not None:
                progress(1)
    return count


def write_drivelm(
    paths: Sequence[Path],
    out: Path,
    *,
    every: int = 1,
    seed: int = 0,
    progress: Progress | None = None,
) -> int:
    """Write one DriveLM file of all clips; how many key frames it has."""
    check_file(out)
    scenes: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    count = 0
    for clip, index, record in _records(paths, every, seed):
        scenes.setdefault(clip, []).append((index, record))
        count += 1
        if progress is not None:
            progress(1)
    write_json(out, drivelm(scenes))
    return count


def write_conversations(
    dataset: Path,
    out: Path,
    form: Form = "sharegpt",
    *,
    ratios: KeepRatios | None = None,
    chain: Sequence[int] = CHAIN,
    images: str = IMAGES,
    seed: int = 0,
) -> int:
    """Write conversations, a JSON a line, from a dataset of ``driveproof comment``; how many.

    Parameters
    ----------
    images
        Path of the picture of a frame with ``{clip}`` and ``{frame}`` (five digits) in it; "" for none.
    """
    flags = {
        (row.clip, row.frame): FrameFlags(
            row.trivial, row.waiting, _images(images, row.clip, row.frame)
        )
        for row in read_frames(dataset)
    }
    rows = read_answers(dataset)
    said = (
        sharegpt(rows, flags, ratios, seed)
        if form == "sharegpt"
        else chains(rows, flags, chain, ratios, seed)
    )
    count = 0
    with atomic_open(out) as stream:
        for conversation in said:
            stream.write(json.dumps(conversation, ensure_ascii=False) + "\n")
            count += 1
    return count


def _images(template: str, clip: str, frame: int) -> tuple[str, ...]:
    if not template:
        return ()
    return (template.replace("{clip}", clip).replace("{frame}", f"{frame:05d}"),)
