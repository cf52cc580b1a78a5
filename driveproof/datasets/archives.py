"""Reading members of folders, tars and zips alike: nothing is ever extracted, every size is limited."""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

from driveproof.datasets.checks import one_line
from driveproof.errors import BadInput
from driveproof.scene.types import ImageRef

MAX_MEMBER_BYTES = 1 << 28
"""Largest member that is read whole (256 MiB)."""
MAX_TOTAL_BYTES = 1 << 36
"""Largest unpacked size of an archive that is listed (64 GiB)."""
MAX_MEMBERS = 2_000_000


class Archive(ABC):
    """Named members below one path; a context manager.

    Member names are relative, with forward slashes. Links and devices are not listed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sizes: dict[str, int] = {}
        self._total = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def read(self, name: str, limit: int = MAX_MEMBER_BYTES) -> bytes:
        """The bytes of a member; :class:`BadInput` if it is absent, broken or larger than ``limit``."""
        if name not in self.sizes:
            raise BadInput("no such member", path=self.path, field=name)
        if self.sizes[name] > limit:
            raise BadInput(f"larger than {limit} bytes", path=self.path, field=name)
        try:
            data = self._read(name, limit + 1)
        except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error) as error:
            raise BadInput(
                f"cannot be read: {one_line(error)}", path=self.path, field=name
            ) from None
        except (NotImplementedError, RuntimeError) as error:  # zip: unknown method, encrypted
            raise BadInput(
                f"cannot be read: {one_line(error)}", path=self.path, field=name
            ) from None
        if len(data) > limit or len(data) != self.sizes[name]:
            raise BadInput("size differs from what is declared", path=self.path, field=name)
        return data

    def ref(self, name: str) -> ImageRef:
        """A reference to a picture among the members."""
        return ImageRef(self.path.as_posix(), name)

    def close(self) -> None:  # noqa: B027  a folder has nothing to close
        """Release the file."""

    @abstractmethod
    def _read(self, name: str, count: int) -> bytes: ...

    def _list(self, name: str, member_bytes: int) -> None:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or "\\" in name or "\0" in name:
            raise BadInput("unsafe member name", path=self.path, field=repr(name)[:80])
        self.sizes[name] = member_bytes
        self._total += member_bytes
        if self._total > MAX_TOTAL_BYTES or len(self.sizes) > MAX_MEMBERS:
            raise BadInput("unpacks to more than 64 GiB or 2 million members", path=self.path)


class _Folder(Archive):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        for file in sorted(path.rglob("*")):
            if file.is_file():
                self._list(file.relative_to(path).as_posix(), file.stat().st_size)

    def _read(self, name: str, count: int) -> bytes:
        with open(self.path / name, "rb") as stream:
            return stream.read(count)

    def ref(self, name: str) -> ImageRef:
        return ImageRef((self.path / name).as_posix())


class _Tar(Archive):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._members: dict[str, tarfile.TarInfo] = {}
        self._tar = tarfile.open(path)  # noqa: SIM115  closed by close()
        try:
            for member in self._tar:
                if member.isreg():
                    name = member.name.removeprefix("./")
                    self._list(name, member.size)
                    self._members[name] = member
            self._check_end()
        except BaseException:
            self.close()
            raise

    def _check_end(self) -> None:
        """tarfile takes a file cut inside a header for complete; a whole tar ends in a block of zeros."""
        stream = self._tar.fileobj
        if isinstance(stream, io.BufferedReader):  # a compressed stream says itself when it is cut
            stream.seek(self._tar.offset)
            if stream.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
                raise tarfile.ReadError("unexpected end of archive")

    def _read(self, name: str, count: int) -> bytes:
        stream = self._tar.extractfile(self._members[name])
        return stream.read(count) if stream is not None else b""

    def ref(self, name: str) -> ImageRef:
        return ImageRef(self.path.as_posix(), self._members[name].name)

    def close(self) -> None:
        self._tar.close()


class _Zip(Archive):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._zip = zipfile.ZipFile(path)
        try:
            for info in self._zip.infolist():
                if not info.is_dir():
                    self._list(info.filename, info.file_size)
        except BaseException:
            self.close()
            raise

    def _read(self, name: str, count: int) -> bytes:
        with self._zip.open(name) as stream:
            return stream.read(count)

    def close(self) -> None:
        self._zip.close()


def open_archive(path: str | Path) -> Archive:
    """Open a folder, a tar (plain or compressed) or a zip.

    Raises
    ------
    BadInput
        If there is nothing, it is none of these, is truncated, or lists an unsafe or oversized member.
    """
    path = Path(path)
    try:
        if path.is_dir():
            return _Folder(path)
        return _Zip(path) if path.suffix == ".zip" else _Tar(path)
    except FileNotFoundError:
        raise BadInput("no such file or folder", path=path) from None
    except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error) as error:
        raise BadInput(f"not a readable archive: {one_line(error)}", path=path) from None


def gunzip(data: bytes, limit: int, path: str | Path, field: str) -> bytes:
    """Decompress one gzip member; :class:`BadInput` if it is truncated, damaged or exceeds ``limit``."""
    machine = zlib.decompressobj(wbits=31)
    try:
        plain = machine.decompress(data, limit)
    except zlib.error as error:
        raise BadInput(f"not gzip: {error}", path=path, field=field) from None
    if not machine.eof:
        problem = f"unpacks to more than {limit} bytes" if machine.unconsumed_tail else "truncated"
        raise BadInput(problem, path=path, field=field)
    return plain
