"""The recorded clip of a drive, on the clock of the drive."""

from __future__ import annotations

from pathlib import Path

from driveproof.datasets.archives import gunzip, open_archive
from driveproof.datasets.bench2drive import read as read_clips
from driveproof.datasets.checks import malformed, parse_json
from driveproof.errors import BadInput
from driveproof.scene import Log

CLIP_FILE = "clip.tar"
CLIP_BEGINS_S = 0.05
"""Seconds into the episode of a clip's frame 0: the tick of the first decision."""

_MOST_BYTES = 64 << 20


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


def ego_size(folder: Path) -> tuple[float, float]:
    """Length and width of the ego in metres, from the clip's first annotation.

    Raises
    ------
    BadInput
        If the clip is broken, or has no box of the ego.
    """
    path = folder / CLIP_FILE
    with open_archive(path) as archive:
        names = sorted(name for name in archive.sizes if name.endswith(".json.gz"))
        if not names:
            raise BadInput("no annotations here", path=path)
        text = gunzip(archive.read(names[0]), _MOST_BYTES, path, names[0])
        anno = parse_json(text, path, names[0])
        with malformed(path, names[0]):
            boxes = {one["class"]: one for one in reversed(anno["bounding_boxes"])}
            length, width = (2.0 * float(half) for half in boxes["ego_vehicle"]["extent"][:2])
            if not (0.5 < length < 30.0 and 0.3 < width < 6.0):
                raise ValueError(f"an ego of {length:g} m by {width:g} m")
    return length, width
