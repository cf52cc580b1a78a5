"""Writing without losing what is there: write beside the target, then rename."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def atomic_path(target: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside ``target``; rename it over ``target`` when the block succeeds.

    Nothing is left behind, and an existing target is untouched, when the block raises.
    """
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(
        prefix=f".{target.name}.", suffix=target.suffix, dir=target.parent
    )
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_dir(target: str | Path) -> Iterator[Path]:
    """Yield a temporary directory beside ``target``; it replaces ``target`` when the block succeeds."""
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        os.chmod(temporary, 0o755)
        yield temporary
        retired = target.with_name(f".{target.name}.old")
        shutil.rmtree(retired, ignore_errors=True)
        if target.exists():
            os.replace(target, retired)
        os.replace(temporary, target)
        shutil.rmtree(retired, ignore_errors=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def atomic_open(target: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Like :func:`open` for writing, but the target appears whole or not at all."""
    encoding = None if "b" in mode else "utf-8"
    with atomic_path(target) as temporary, open(temporary, mode, encoding=encoding) as stream:
        yield stream


def write_json(target: str | Path, value: Any) -> None:
    """Write ``value`` as indented JSON with sorted keys; NaN and infinity are refused."""
    text = json.dumps(value, indent=2, sort_keys=True, allow_nan=False)
    with atomic_open(target) as stream:
        stream.write(text + "\n")


def sha256_file(path: str | Path) -> str:
    """Hex digest of the file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
