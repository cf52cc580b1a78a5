"""Writing without losing what is there: write beside the target, then rename."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from driveproof.errors import BadInput, UserError


class CannotWrite(UserError):
    """The operating system refuses to write a file: no space, no permission."""


@contextmanager
def _refusals(target: Path) -> Iterator[None]:
    """Turn what the operating system refuses at ``target`` into one line that names it."""
    try:
        yield
    except OSError as error:
        raise CannotWrite(f"cannot be written: {error.strerror or error}", path=target) from None


@contextmanager
def atomic_path(target: str | Path, *, durable: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside ``target``; rename it over ``target`` when the block succeeds.

    Nothing is left behind, and an existing target is untouched, when the block raises. A process that is killed
    may leave the temporary file (see :func:`is_leftover`).

    Parameters
    ----------
    durable
        Wait until the content is on the disk, so that a machine that loses power leaves the old file or the new
        one, and never an empty one. Slow; for small files that a long run goes on from.

    Raises
    ------
    UserError
        If ``target`` cannot be written there, or is a folder.
    """
    target = Path(target)
    check_file(target)
    with _refusals(target):
        handle, name = tempfile.mkstemp(
            prefix=f".{target.name}.", suffix=target.suffix, dir=target.parent
        )
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with _refusals(target):
            os.chmod(temporary, 0o644)
            if durable:
                sync(temporary)
            os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def sync(path: str | Path) -> None:
    """Wait until the content of a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_leftover(path: str | Path, target: str) -> bool:
    """Whether ``path`` has the name of a temporary file that :func:`atomic_path` makes for ``target``."""
    name = Path(path).name
    return name.startswith(f".{target}.") and name.endswith(Path(target).suffix)


@contextmanager
def atomic_dir(target: str | Path) -> Iterator[Path]:
    """Yield a temporary directory beside ``target``; it replaces ``target`` when the block succeeds.

    Raises
    ------
    UserError
        If ``target`` cannot be written there, or holds what is no earlier state of the same directory
        (see :func:`check_folder`); it is untouched then.
    """
    target = Path(target)
    check_folder(target)
    target = target.resolve()  # a link to a folder elsewhere stays a link
    retired = target.with_name(f".{target.name}.old")
    with _refusals(target):
        if retired.exists() and not target.exists():  # killed between the two renames below
            os.replace(retired, target)
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        os.chmod(temporary, 0o755)
        yield temporary
        check_folder(target, [path.name for path in temporary.iterdir()])
        with _refusals(target):
            shutil.rmtree(retired, ignore_errors=True)
            if target.exists():
                os.replace(target, retired)
            os.replace(temporary, target)
        shutil.rmtree(retired, ignore_errors=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_file(target: str | Path) -> None:
    """Make the folder of a file that will be written; before long work, so that no result is lost.

    Raises
    ------
    UserError
        If ``target`` is a folder, or cannot be written.
    """
    target = Path(target)
    if target.is_dir():
        raise UserError("is a folder, expected a file to write", path=target)
    _check_parent(target)


def check_folder(target: str | Path, names: Collection[str] = ()) -> None:
    """Whether :func:`atomic_dir` may replace ``target``; before long work, so that no result is lost.

    A replaced folder is gone with all it holds, so it has to be an earlier state of the same output: empty,
    or with one of the same ``names`` in it (checked if there are any) and without folders of other names.

    Raises
    ------
    UserError
        If ``target`` is a file, holds something else, is a working directory, or cannot be written.
    """
    target = Path(target)
    _check_parent(target)
    if not target.exists():
        return
    if not target.is_dir():
        raise UserError("is a file, expected a folder to write", path=target)
    with _refusals(target):
        held = list(target.iterdir())
    above = Path.cwd().is_relative_to(target.resolve())
    foreign = any(path.is_dir() and path.name not in names for path in held)
    if above or foreign or (held and names and not any(path.name in names for path in held)):
        raise UserError(
            "holds something else, which would be lost", path=target, hint="choose a new folder"
        )


def _check_parent(target: Path) -> None:
    with _refusals(target):
        target.absolute().parent.mkdir(parents=True, exist_ok=True)
    if not os.access(target.absolute().parent, os.W_OK):
        raise UserError("cannot be written: the folder is read-only", path=target)


@contextmanager
def atomic_open(target: str | Path, mode: str = "w", *, durable: bool = False) -> Iterator[IO[Any]]:
    """Like :func:`open` for writing, but the target appears whole or not at all; ``durable`` as of atomic_path."""
    encoding = None if "b" in mode else "utf-8"
    with (
        atomic_path(target, durable=durable) as temporary,
        open(temporary, mode, encoding=encoding) as stream,
    ):
        yield stream


def write_json(target: str | Path, value: Any, *, durable: bool = False) -> None:
    """Write ``value`` as indented JSON with sorted keys; NaN and infinity are refused."""
    text = json.dumps(value, indent=2, sort_keys=True, allow_nan=False)
    with atomic_open(target, durable=durable) as stream:
        stream.write(text + "\n")


def read_json(path: str | Path) -> Any:
    """Content of a JSON file from anywhere.

    Raises
    ------
    BadInput
        If it is absent, unreadable or no JSON (or nested so deeply that Python gives up).
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput("no such file", path=path) from None
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", path=path) from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not JSON: {error}", path=path) from None


def sha256_file(path: str | Path) -> str:
    """Hex digest of the file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
