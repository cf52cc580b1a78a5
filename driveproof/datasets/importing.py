"""From log files to a scene table: cut, count, write whole or not at all."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.datasets.registry import Format, expand, find_format
from driveproof.errors import BadInput
from driveproof.files import atomic_dir, write_json
from driveproof.scene import Log, Scene, WindowReport, WindowRules, scenes_of, write_scenes
from driveproof.scene.types import STEP_S
from driveproof.workers import process_pool

_AHEAD = 4


@dataclass
class FileImport:
    """What one path gave: its scenes, the counts by drive, or the error that made it useless."""

    path: Path
    scenes: list[Scene] = field(default_factory=list)
    reports: dict[str, WindowReport] = field(default_factory=dict)
    error: BadInput | None = None


@dataclass
class ImportReport:
    """Counts of an import: ``import.json``."""

    format: str
    kept: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    logs: list[dict[str, Any]] = field(default_factory=list)
    bad: list[dict[str, str]] = field(default_factory=list)

    def add(self, result: FileImport) -> None:
        """Add the counts of one path."""
        if result.error is not None:
            self.bad.append({"path": result.path.as_posix(), "problem": str(result.error)})
            return
        for key, report in result.reports.items():
            self.kept += report.kept
            self.rejected.update(report.rejected)
            rejected = dict(sorted(report.rejected.items()))
            entry = {"scene_key": key, "path": result.path.as_posix()}
            self.logs.append({**entry, "kept": report.kept, "rejected": rejected})

    def to_json(self) -> dict[str, Any]:
        """Plain values with sorted reasons."""
        return {
            "format": self.format,
            "kept": self.kept,
            "rejected": dict(sorted(self.rejected.items())),
            "logs": self.logs,
            "bad": self.bad,
        }


def import_file(format: str, path: Path, rules: WindowRules) -> FileImport:
    """Cut all scenes out of one path; a :class:`BadInput` is caught and carried in the result."""
    result = FileImport(path)
    try:
        for item in find_format(format).read(path):
            report = result.reports.setdefault(item.scene_key, WindowReport())
            if isinstance(item, Log):
                result.scenes.extend(scenes_of(item, rules, report))
            else:
                result.scenes.extend(_checked(item, rules, report))
    except BadInput as error:
        return FileImport(path, error=error)
    return result


def _checked(scene: Scene, rules: WindowRules, report: WindowReport) -> Iterator[Scene]:
    """A ready-made scene, unless it breaks the rules that windows of logs must keep."""
    path = np.concatenate([np.zeros((1, 2)), scene.waypoints])
    fastest = max(float(np.linalg.norm(np.diff(path, axis=0), axis=1).max()) / STEP_S, scene.speed)
    if fastest > rules.max_speed:
        report.rejected["jump"] += 1
        return
    report.kept += 1
    yield scene


def import_logs(
    format: str,
    paths: Iterable[str | Path],
    out: str | Path,
    rules: WindowRules,
    *,
    skip_bad: bool = False,
    workers: int = 1,
    on_file: Callable[[Path, int], None] | None = None,
) -> ImportReport:
    """Import ``paths`` into the scene table ``out`` (``scenes-*.parquet`` and ``import.json``).

    Parameters
    ----------
    format
        Name of the format.
    skip_bad
        Count and report unreadable paths instead of stopping at the first.
    workers
        Processes; the result does not depend on it.
    on_file
        Called with each path when it is done, and the number of paths.

    Raises
    ------
    BadInput
        At the first unreadable path, or if ``out`` holds something else. Nothing is written then.
    """
    entry, out = find_format(format), Path(out)
    _refuse_foreign(out)
    files = expand(entry, paths)
    report = ImportReport(format)
    with atomic_dir(out) as temporary:
        results = _results(entry, files, rules, workers)
        write_scenes(_scenes(results, report, skip_bad, len(files), on_file), temporary)
        write_json(temporary / "import.json", report.to_json())
    return report


def _refuse_foreign(out: Path) -> None:
    """An import replaces the whole folder, so it may only hold an earlier import."""
    if out.exists() and not out.is_dir():
        raise BadInput("is a file, expected a folder", path=out)
    if out.is_dir() and any(out.iterdir()) and not any(out.glob("scenes-*.parquet")):
        raise BadInput("holds something else than scenes", path=out, hint="choose an empty folder")


def _results(
    entry: Format, files: list[Path], rules: WindowRules, workers: int
) -> Iterator[FileImport]:
    """Results in the order of ``files``; at most a few more than ``workers`` are held."""
    if workers <= 1 or len(files) == 1:
        yield from (import_file(entry.name, path, rules) for path in files)
        return
    with process_pool(workers) as pool:
        rest = iter(files)
        pending: deque[Future[FileImport]] = deque()
        try:
            while True:
                for path in islice(rest, _AHEAD * workers - len(pending)):
                    pending.append(pool.submit(import_file, entry.name, path, rules))
                if not pending:
                    return
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


def _scenes(
    results: Iterator[FileImport],
    report: ImportReport,
    skip_bad: bool,
    total: int,
    on_file: Callable[[Path, int], None] | None,
) -> Iterator[Scene]:
    """Scenes of all results, counted; the second scene of a record key is rejected as a duplicate."""
    seen: set[str] = set()
    for result in results:
        if result.error is not None and not skip_bad:
            raise result.error
        for scene in result.scenes:
            if scene.record_key in seen:
                result.reports[scene.scene_key].kept -= 1
                result.reports[scene.scene_key].rejected["duplicate"] += 1
                continue
            seen.add(scene.record_key)
            yield scene
        report.add(result)
        if on_file is not None:
            on_file(result.path, total)
