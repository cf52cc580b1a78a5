"""The recorded clip of a drive, on the clock of the drive."""

from __future__ import annotations

from pathlib import Path

from driveproof.datasets.bench2drive import read as read_clips
from driveproof.errors import BadInput
from driveproof.scene import Log

CLIP_FILE = "clip.tar"
CLIP_BEGINS_S = 0.05
"""Seconds into the episode of a clip's frame 0: the tick of the first decision."""


def read_clip(folder: Path) -> Log | None:
    """The clip in the folder of a drive as a log, None if none was recorded.

    The log's clock is that of its frames, which begins ``CLIP_BEGINS_S`` into the episode.

    Raises
    ------
    BadInput
        If it is broken.
    """
    path = folder / CLIP_FILE
    if not path.exists():
        return None
    found = list(read_clips(path))
    if len(found) != 1:
        raise BadInput(f"holds {len(found)} clips, expected one", path=path)
    return found[0]
