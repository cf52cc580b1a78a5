"""Writing a clip in Bench2Drive's layout: one tar a drive, the same bytes for the same frames.

Members of ``<clip>.tar``::

    <clip>/anno/00000.json.gz
    <clip>/camera/rgb_front/00000.jpg
"""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from driveproof.files import atomic_path

_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
_JPEG, _PNG = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"


class ClipWriter:
    """Context manager that writes one clip; the tar appears whole or, if the block raises, not at all.

    Parameters
    ----------
    path
        Target, for example ``data/raw/Accident_Town03_Route101_Weather23.tar``; its stem names the clip.

    Same frames give the same bytes: no clock, no user, no file system order enters the archive.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.clip = self.path.name.removesuffix(".gz").removesuffix(".tar")
        if not _SAFE_NAME.fullmatch(self.clip):
            raise ValueError(f"not a clip name: {self.clip!r}")
        self.frames = 0
        self._stack = ExitStack()
        self._archive: tarfile.TarFile | None = None

    def __enter__(self) -> Self:
        temporary = self._stack.enter_context(atomic_path(self.path))
        self._archive = self._stack.enter_context(
            tarfile.open(temporary, "w", format=tarfile.USTAR_FORMAT)
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._archive = None
        self._stack.__exit__(kind, error, trace)

    def add_frame(self, anno: Mapping[str, Any], images: Mapping[str, bytes] | None = None) -> None:
        """Append the next frame (10 Hz).

        Parameters
        ----------
        anno
            The annotation as Bench2Drive writes it (CARLA's left-handed frame, degrees). NaN is refused.
        images
            Camera folder such as ``rgb_front`` -> encoded JPEG or PNG. May be empty.

        Raises
        ------
        ValueError
            If a folder name is unsafe, a picture is neither JPEG nor PNG, or a number is not finite.
        """
        if self._archive is None:
            raise ValueError("ClipWriter is used outside its with block")
        text = json.dumps(anno, separators=(",", ":"), allow_nan=False)
        data = gzip.compress(text.encode(), compresslevel=6, mtime=0)
        self._add(f"anno/{self.frames:05d}.json.gz", data)
        for camera, picture in sorted((images or {}).items()):
            if not _SAFE_NAME.fullmatch(camera):
                raise ValueError(f"not a camera folder: {camera!r}")
            self._add(f"camera/{camera}/{self.frames:05d}.{_suffix(picture)}", picture)
        self.frames += 1

    def _add(self, name: str, data: bytes) -> None:
        assert self._archive is not None  # add_frame has checked
        member = tarfile.TarInfo(f"{self.clip}/{name}")
        member.size, member.mode, member.mtime = len(data), 0o644, 0
        self._archive.addfile(member, io.BytesIO(data))


def _suffix(picture: bytes) -> str:
    if picture.startswith(_JPEG):
        return "jpg"
    if picture.startswith(_PNG):
        return "png"
    raise ValueError("a picture must be JPEG or PNG")
