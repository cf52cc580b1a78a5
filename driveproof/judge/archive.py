"""All pictures of a set of clips in one archive; the clips refer to its members."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from driveproof.judge.clips import Clip
from driveproof.scene import ImageRef

PICTURES = "pictures.tar"


def write_pictures(
    clips: Sequence[tuple[Clip, tuple[bytes, ...]]], path: Path, final: Path
) -> list[Clip]:
    """Write encoded frames to ``path``, without clock and owner; the clips come back with references to ``final``."""
    kept = []
    with tarfile.open(path, "w") as archive:
        for clip, frames in clips:
            names = [f"{clip.key}/{n}.jpg" for n in range(len(frames))]
            for name, data in zip(names, frames, strict=True):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
            refs = tuple(ImageRef(final.as_posix(), name) for name in names)
            kept.append(replace(clip, frames=refs))
    return kept
