"""Pictures on the wire: as bytes, as a path below an allowed folder, or in memory that both sides share."""

from __future__ import annotations

import io
import os
import re
import secrets
import stat
import weakref
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from driveproof.policy.pictures import Pictures
from driveproof.policy.registry import Carrier
from driveproof.policy.wire.codec import MAX_BODY, Refused
from driveproof.policy.wire.messages import (
    MAX_CALL_PIXELS,
    MAX_PIXELS,
    Encoded,
    FilePicture,
    SharedPicture,
    WirePicture,
)
from driveproof.scene import ImageRef
from driveproof.scene.images import Pixels

SHARED = Path("/dev/shm")
"""Where the names of shared memory are files, on Linux."""
FILE_PIXELS = 2_000_000
"""What a picture in a file is taken for when calls are cut: larger than a usual camera's."""
_NAME = re.compile(r"driveproof-wire-(\d{1,10})-[0-9a-f]{32}")


class Receiver:
    """Pictures of one call as pixels; the policy's side. Together they have at most ``MAX_CALL_PIXELS``.

    Parameters
    ----------
    root
        The folder below which files are allowed; None allows none.
    """

    def __init__(self, root: str | Path | None = None) -> None:
        self._root = Path(root).resolve() if root is not None else None
        self._left = MAX_CALL_PIXELS

    def pixels(self, picture: WirePicture) -> Pixels:
        """``[H, W, 3]`` RGB, a copy of its own.

        Raises
        ------
        Refused
            If the picture is none, is not allowed, or is too large.
        """
        if isinstance(picture, SharedPicture):
            self._take(picture.height * picture.width)
            return _shared(picture)
        data = self._file(picture.path) if isinstance(picture, FilePicture) else picture.data
        self._take(_size(data))
        return _decoded(data)

    def _take(self, size: int) -> None:
        """Refuse what is too large before memory is taken for it."""
        if size > MAX_PIXELS:
            raise Refused(413, "picture", f"more than {MAX_PIXELS} pixels")
        if size > self._left:
            raise Refused(413, "picture", f"more than {MAX_CALL_PIXELS} pixels in one call")
        self._left -= size

    def _file(self, name: str) -> bytes:
        if self._root is None:
            raise Refused(403, "file", "this server takes no paths of pictures")
        try:
            path = (self._root / name).resolve()
            if not path.is_relative_to(self._root):
                raise Refused(403, "file", "the path leads out of the allowed folder")
            return _read(path, 0, None)
        except (OSError, ValueError):  # a name with a null byte is a ValueError
            raise Refused(422, "file", f"picture cannot be read: {name[:100]!r}") from None


class Sender:
    """Pictures of requests as they travel; the driving side. Used by one thread at a time.

    Parameters
    ----------
    pictures
        Loads references.
    carrier
        "shared" and "file" only work on one machine; see :meth:`refused`.
    """

    def __init__(self, pictures: Pictures | None = None, carrier: Carrier = "bytes") -> None:
        self._pictures = pictures or Pictures()
        self.carrier: Carrier = carrier if carrier != "shared" or SHARED.is_dir() else "bytes"
        self._memory: _Memory | None = None

    def send(self, images: Sequence[ImageRef | Pixels]) -> list[WirePicture]:
        """The pictures in order; shared ones hold until :meth:`release`. :class:`BadInput` if one is missing."""
        return [self._one(image) for image in images]

    def _one(self, image: ImageRef | Pixels) -> WirePicture:
        if self.carrier == "file" and isinstance(image, ImageRef) and not image.member:
            return FilePicture(path=image.path)
        if self.carrier == "shared" and not isinstance(image, ImageRef):
            pixels = self._pictures.pixels(image)
            if self._memory is None:
                self._memory = _Memory()
            try:
                return self._memory.put(pixels)
            except OSError:  # the memory is full
                pass
        return Encoded(data=self._pictures.encoded(image))

    def release(self) -> None:
        """The answer is there: shared pictures are no longer needed."""
        if self._memory is not None:
            self._memory.clear()

    def refused(self, code: str) -> bool:
        """The server refused the carrier: everything goes as bytes from now on. False if it already did."""
        if code != self.carrier:
            return False
        self.close()
        self.carrier = "bytes"
        return True

    def close(self) -> None:
        """Remove the shared memory."""
        if self._memory is not None:
            self._memory.close()
            self._memory = None


class _Memory:
    """A file of shared memory, written from its start for each call.

    Its name holds the process, so that the memory of a process that was killed is found and removed by the next.
    """

    def __init__(self) -> None:
        _sweep()
        self.name = f"driveproof-wire-{os.getpid()}-{secrets.token_hex(16)}"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._file = os.open(SHARED / self.name, flags, 0o600)
        self._end = 0
        self.close = weakref.finalize(self, _remove, self._file, self.name)

    def put(self, pixels: Pixels) -> SharedPicture:
        data = memoryview(pixels.tobytes())
        offset, written = self._end, 0
        while written < len(data):
            written += os.pwrite(self._file, data[written:], offset + written)
        self._end += len(data)
        height, width, _ = pixels.shape
        return SharedPicture(name=self.name, offset=offset, height=height, width=width)

    def clear(self) -> None:
        self._end = 0


def _remove(descriptor: int, name: str) -> None:
    os.close(descriptor)
    (SHARED / name).unlink(missing_ok=True)


def _sweep() -> None:
    """Remove our shared memory of processes that are gone."""
    for path in SHARED.glob("driveproof-wire-*"):
        match = _NAME.fullmatch(path.name)
        try:
            if match and path.stat().st_uid == os.getuid():
                os.kill(int(match[1]), 0)
        except ProcessLookupError:
            path.unlink(missing_ok=True)
        except (OSError, OverflowError):
            continue


def _shared(picture: SharedPicture) -> Pixels:
    shape = (picture.height, picture.width, 3)
    size = picture.height * picture.width * 3
    if not _NAME.fullmatch(
        picture.name
    ):  # the message says so already; paths are checked where they are made
        raise Refused(422, "shared", "no name of a shared memory")
    try:
        data = _read(SHARED / picture.name, picture.offset, size)
    except OSError:
        raise Refused(422, "shared", "no such shared memory on this machine") from None
    if len(data) != size:
        raise Refused(422, "shared", "beyond the end of the shared memory")
    return np.frombuffer(data, dtype=np.uint8).reshape(shape)


def _read(path: Path, offset: int, size: int | None) -> bytes:
    """Bytes of a regular file. It is read, not mapped: a file that shrinks meanwhile kills no process."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise OSError("not a regular file")
        if size is None and state.st_size > MAX_BODY:
            raise Refused(413, "picture", f"more than {MAX_BODY} bytes")
        stream.seek(offset)
        return stream.read(MAX_BODY if size is None else size)


def pixels_of(picture: WirePicture) -> int:
    """How many pixels a picture will have, for who sends it: of a file a guess, 0 of what is none."""
    if isinstance(picture, SharedPicture):
        return picture.height * picture.width
    if isinstance(picture, FilePicture):
        return FILE_PIXELS
    try:
        return _size(picture.data)
    except Refused:
        return 0


def _size(data: bytes) -> int:
    """The pixels that an encoded picture will have, from its header."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP", "BMP")) as header:
            width, height = header.size
    except Image.DecompressionBombError:
        return MAX_PIXELS**2
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError):
        raise Refused(422, "picture", "not a picture") from None
    return int(width) * int(height)


def _decoded(data: bytes) -> Pixels:
    """RGB pixels of an encoded picture."""
    try:
        found = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        found = None
    if found is None:
        raise Refused(422, "picture", "not a picture")
    return np.asarray(cv2.cvtColor(found, cv2.COLOR_BGR2RGB), dtype=np.uint8)
