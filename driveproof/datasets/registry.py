"""The formats: one line each. ``read`` yields logs, or scenes where a format holds bare windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from driveproof.datasets import bench2drive
from driveproof.errors import BadInput
from driveproof.scene import Log, Scene


@dataclass(frozen=True)
class Format:
    """A log format.

    ``claims`` looks at names and first bytes only; ``frame_origin`` is the point of the vehicle that
    the poses follow; ``rate`` and ``missing`` are for people.
    """

    name: str
    description: str
    frame_origin: str
    rate: str
    missing: str
    claims: Callable[[Path], bool]
    read: Callable[[Path], Iterator[Log | Scene]]


# fmt: off
_ALL = (
    Format("bench2drive", "Bench2Drive clips (tar, tar.gz or folder)", "box centre", "10 Hz", "route", bench2drive.claims, bench2drive.read),
)
# fmt: on

FORMATS: dict[str, Format] = {entry.name: entry for entry in _ALL}


def find_format(name: str) -> Format:
    """The format of that name; :class:`BadInput` listing the known ones."""
    if name not in FORMATS:
        raise BadInput(f"unknown format {name!r}", hint=f"one of {', '.join(sorted(FORMATS))}")
    return FORMATS[name]


def sniff(path: str | Path) -> Format:
    """The one format that claims ``path``, or else the first log in it; :class:`BadInput` if none or several do."""
    path = Path(path)
    if not path.exists():
        raise BadInput("no such file or folder", path=path)
    inside = sorted(path.iterdir()) if path.is_dir() else []
    claims = ([entry for entry in _ALL if entry.claims(place)] for place in (path, *inside))
    claimed = next(filter(None, claims), [])
    if len(claimed) != 1:
        names = ", ".join(entry.name for entry in claimed)
        problem = f"may be any of {names}" if claimed else "no format claims this"
        raise BadInput(problem, path=path, hint="say which with --format")
    return claimed[0]


def expand(entry: Format, paths: Iterable[str | Path]) -> list[Path]:
    """``paths`` with folders that are no log themselves replaced by the logs in them, sorted."""
    found: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise BadInput("no such file or folder", path=path)
        if path.is_dir() and not entry.claims(path):
            inside = sorted(child for child in path.iterdir() if entry.claims(child))
            if not inside:
                raise BadInput(f"holds no {entry.name} log", path=path)
            found.extend(inside)
        else:
            found.append(path)
    return found


def open_logs(format: str, paths: Iterable[str | Path]) -> Iterator[Log | Scene]:
    """Yield the logs of ``paths`` in order.

    Raises
    ------
    BadInput
        Naming the file and the field, at the first log that cannot be read.
    """
    entry = find_format(format)
    for path in expand(entry, paths):
        yield from entry.read(path)
