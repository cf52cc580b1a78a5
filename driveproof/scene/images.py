"""Loading the pictures that scenes refer to, from files, tar or zip archives, or ranges of a file's bytes."""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from driveproof.errors import BadInput
from driveproof.scene.types import ImageRef

Pixels = NDArray[np.uint8]
"""``[H, W, 3]`` RGB."""


_BYTE_RANGE = re.compile(r"@(\d{1,15})\+(\d{1,9})")


class ImageStore:
    """Opens archives once and keeps the last ``open_archives`` of them open.

    Parameters
    ----------
    root
        Directory that relative paths of references start from.

    Not shared between processes: build one in each worker.
    """

    def __init__(self, root: str | Path = ".", open_archives: int = 16) -> None:
        self._root = Path(root)
        self._limit = open_archives
        self._readers: OrderedDict[str, Callable[[str], bytes]] = OrderedDict()

    def read_bytes(self, ref: ImageRef) -> bytes:
        """The encoded picture; :class:`BadInput` if it is not there."""
        path = self._root / ref.path
        try:
            if not ref.member:
                return path.read_bytes()
            if place := _BYTE_RANGE.fullmatch(ref.member):
                return _read_range(path, int(place[1]), int(place[2]))
            return self._reader(path)(ref.member)
        except (OSError, KeyError, tarfile.TarError, zipfile.BadZipFile) as error:
            raise BadInput(
                f"picture cannot be read: {error}", path=path, field=ref.member
            ) from None

    def load(self, ref: ImageRef) -> Pixels:
        """The picture ``[H, W, 3]`` RGB; :class:`BadInput` if it does not decode."""
        data = np.frombuffer(self.read_bytes(ref), dtype=np.uint8)
        pixels = cv2.imdecode(data, cv2.IMREAD_COLOR) if len(data) else None
        if pixels is None:
            raise BadInput("not a picture", path=self._root / ref.path, field=ref.member)
        return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), dtype=np.uint8)

    def _reader(self, path: Path) -> Callable[[str], bytes]:
        key = str(path)
        if key in self._readers:
            self._readers.move_to_end(key)
            return self._readers[key]
        reader = _zip_reader(path) if path.suffix == ".zip" else _tar_reader(path)
        self._readers[key] = reader
        if len(self._readers) > self._limit:
            self._readers.popitem(last=False)
        return reader


def _read_range(path: Path, offset: int, length: int) -> bytes:
    with open(path, "rb") as stream:
        stream.seek(offset)
        data = stream.read(length)
    if len(data) != length:
        raise OSError("beyond the end of the file")
    return data


def _tar_reader(path: Path) -> Callable[[str], bytes]:
    archive = tarfile.open(path)  # noqa: SIM115  closed when the reader is dropped
    members = {member.name: member for member in archive.getmembers() if member.isfile()}

    def read(name: str) -> bytes:
        stream = archive.extractfile(members[name])
        assert stream is not None  # only regular files are listed
        with stream:
            return stream.read()

    return read


def _zip_reader(path: Path) -> Callable[[str], bytes]:
    archive = zipfile.ZipFile(path)
    return archive.read
