"""Results of VLMEvalKit, whatever their layout.

VLMEvalKit writes ``WORK/MODEL[/T…_G…]/MODEL_DATASET.xlsx`` (replies), ``…_acc.csv``, ``…_score.json`` and their like (scores),
and often ``…_result.xlsx`` with a column ``hit`` (single questions). Names and columns differ by benchmark and version, so
this reader goes by what is in the files.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.errors import BadInput
from driveproof.evaluation.retention_files import (
    SUFFIXES,
    Columns,
    read_columns_of,
    read_json_of,
)

_OVERALL = (
    "overall",
    "accuracy",
    "acc",
    "finalscorenorm",
    "finalscore",
    "score",
    "average",
    "avg",
    "total",
)
"""What the one number of a benchmark is called, the surest first."""
_HITS = ("hit", "correct", "score", "match")
_SCORES = re.compile(r"_(acc|score|metrics|rating|fine|all)$")
_HELPERS = re.compile(
    r"_(acc|score|metrics|rating|fine|all|results?|auxmatch|tmp|response|processed|config|meta|eval|matching|judge\w*)$"
)
_JUDGES = re.compile(r"_(exact_matching|extract_matching|chatgpt[\w.-]*|gpt-[\w.-]*)$")
_RUN = re.compile(r"T\d{8}_G\w*")


@dataclass(frozen=True)
class Result:
    """What one model reached in one benchmark.

    Attributes
    ----------
    score
        The benchmark's own overall number: 0 to 1, or ``points`` where it is no share; None if no file has one.
    hits
        Question -> 0 to 1, empty if there is no file of single questions.
    questions
        How many were asked, None if no file tells.
    points
        Whether the score is neither share nor percentage.
    raw
        The number as it stands in the file, None if no file has one.
    """

    score: float | None = None
    hits: Mapping[str, float] = field(default_factory=dict)
    questions: int | None = None
    points: bool = False
    raw: float | None = None


def read_results(folder: str | Path, model: str = "") -> dict[str, Result]:
    """All benchmarks below a folder of VLMEvalKit, by name.

    Parameters
    ----------
    folder
        Its ``--work-dir``, the folder of a model in it, or that of one run; below it there must be one model.
    model
        The model's name, if the folders are not called so any more.

    Raises
    ------
    BadInput
        If the folder is none, there are several models, or no result.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise BadInput("no such folder", path=folder)
    files = _files(folder, model)
    models = {name for name, _ in files}
    if len(models) > 1:
        raise BadInput(
            f"results of several models: {', '.join(sorted(models))}",
            path=folder,
            hint="name the folder of one of them",
        )
    parts = [(Path(name).stem, path) for (_, name), path in files.items()]
    datasets = {rest for rest, _ in parts if not _HELPERS.search(rest)}
    found: dict[str, Result] = {}
    for rest, path in sorted(parts):
        name = _dataset(rest, datasets)
        found[name] = _join(found.get(name, Result()), _read(rest, path))
    for name, score in _statuses(folder) if files or not _has_scores(folder) else ():
        if found.get(name, Result()).raw is None:
            found[name] = replace(found.get(name, Result()), raw=score)
    found = {name: _scaled(result) for name, result in found.items()}
    if all(result.score is None for result in found.values()):
        raise BadInput(
            "no result of VLMEvalKit here",
            path=folder,
            hint="its files are called MODEL_BENCHMARK_acc.csv and the like; if the folder is not called "
            "MODEL, name the model",
        )
    return found


def _files(folder: Path, model: str) -> dict[tuple[str, str], Path]:
    """(model, name of the file without the model) -> file; of several runs of a model the latest, by its folder's name."""
    found: dict[tuple[str, str], Path] = {}
    runs: dict[tuple[str, str], str] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix not in SUFFIXES or path.name.startswith((".", "~$")) or not path.is_file():
            continue
        above = [part for part in path.absolute().parent.parts[-3:] if not _RUN.fullmatch(part)]
        names = [model] if model else above[::-1]
        name = next((name for name in names if path.name.startswith(f"{name}_")), None)
        if name is None:
            continue
        key = name, path.name[len(name) + 1 :]
        run = path.parent.name if _RUN.fullmatch(path.parent.name) else ""
        if run >= runs.get(key, ""):
            found[key], runs[key] = path, run
    return found


def _has_scores(folder: Path) -> bool:
    """Whether there are files of scores at all, whatever model they are of."""
    tables = (path for path in folder.rglob("*") if path.suffix in SUFFIXES)
    return any(_SCORES.search(path.stem) for path in tables)


def _dataset(rest: str, datasets: set[str]) -> str:
    fitting = [name for name in datasets if rest == name or rest.startswith(f"{name}_")]
    if fitting:
        return max(fitting, key=len)
    bare = _HELPERS.sub("", rest)
    return _JUDGES.sub("", bare)


def _read(rest: str, path: Path) -> Result:
    """What one file tells; nothing if it is of a kind that tells nothing."""
    scores, helper = _SCORES.search(rest), _HELPERS.search(rest)
    if path.suffix == ".json" and scores:
        return Result(raw=_overall_of(read_json_of(path)))
    try:
        columns = {name.lower(): cells for name, cells in _light(path).items()}
    except BadInput:
        if helper and not scores:
            return Result()  # notes of the program to itself
        raise
    hits = _hits(columns) if helper else {}
    if scores and not hits:
        return Result(raw=_overall(path))
    return Result(hits=hits, questions=len(columns["index"]) if "index" in columns else None)


def _light(path: Path) -> Columns:
    return read_columns_of(path, ("index", *_HITS))


def _hits(columns: Columns) -> dict[str, float]:
    name = next((name for name in _HITS if name in columns), None)
    if name is None or "index" not in columns:
        return {}
    values = [_number(cell) for cell in columns[name]]
    if any(value is not None and not 0 <= value <= 1 for value in values):
        return {}
    return {
        index: value
        for index, value in zip(columns["index"], values, strict=True)
        if index and value is not None
    }


def _number(text: str) -> float | None:
    truth = {"true": 1.0, "false": 0.0}.get(text.strip().lower())
    if truth is not None:
        return truth
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _overall(path: Path) -> float | None:
    """The one number of a table of scores."""
    columns = read_columns_of(path)
    by_name = {plain(name): cells for name, cells in columns.items()}
    long = _long(columns)
    if long is not None:
        return long
    for wanted in _OVERALL:
        values = [_number(cell) for cell in by_name.get(wanted, ())]
        known = [value for value in values if value is not None]
        if known:
            return float(np.mean(known))  # one row a split
    return None


def _long(columns: Columns) -> float | None:
    """Of a table with a row a category: the row that is called overall, in the column that is called score."""
    names = list(columns)
    if len(names) < 2:
        return None
    labels = [plain(cell) for cell in columns[names[0]]]
    for wanted in _OVERALL:
        if wanted not in labels:
            continue
        row = labels.index(wanted)
        ordered = sorted(names[1:], key=lambda name: _rank(plain(name)))
        for name in ordered:
            value = _number(columns[name][row])
            if value is not None:
                return value
    return None


def _rank(name: str) -> int:
    return _OVERALL.index(name) if name in _OVERALL else len(_OVERALL)


def _overall_of(value: Any) -> float | None:
    """Breadth first: what stands nearer to the top is meant for all."""
    level = [value]
    for _ in range(6):
        found: dict[str, float] = {}
        below: list[Any] = []
        for entry in level:
            if isinstance(entry, list):
                below += entry
            elif isinstance(entry, dict):
                for key, inner in entry.items():
                    number = _inner(inner)
                    if number is not None:
                        found.setdefault(plain(str(key)), number)
                    else:
                        below.append(inner)
        for wanted in _OVERALL:
            if wanted in found:
                return found[wanted]
        level = below
    return None


def _inner(value: Any) -> float | None:
    """A number, also as text, also as the single row of a column (``{"0": 0.5}``, ``[0.5]``)."""
    if isinstance(value, dict | list) and len(value) == 1:
        value = next(iter(value.values())) if isinstance(value, dict) else value[0]
    return None if isinstance(value, dict | list | None) else _number(str(value))


def _statuses(folder: Path) -> Iterator[tuple[str, float]]:
    """Scores of ``status.json``, which newer versions write beside the files."""
    for path in sorted(folder.rglob("status.json"), reverse=True):  # the latest run first
        content = read_json_of(path)
        runs = content.get("datasets") if isinstance(content, dict) else None
        for name, entry in runs.items() if isinstance(runs, dict) else ():
            score = _overall_of(entry.get("metrics")) if isinstance(entry, dict) else None
            if score is not None:
                yield name, score


def _join(known: Result, more: Result) -> Result:
    return Result(
        raw=more.raw if known.raw is None else known.raw,
        hits=known.hits or more.hits,
        questions=known.questions if more.questions is None else more.questions,
    )


class Unit(StrEnum):
    """What a benchmark's number is."""

    SHARE = "share"
    PERCENT = "percent"
    POINTS = "points"


def _scaled(result: Result) -> Result:
    """In its own unit; without a score of its own the share of its single questions."""
    if result.hits:
        result = replace(result, questions=result.questions or len(result.hits))
    if result.raw is None:
        mean = float(np.mean(list(result.hits.values()))) if result.hits else None
        return replace(result, score=result.score if mean is None else mean)
    return _in_unit(result, _unit(result)[0])


def _unit(result: Result) -> tuple[Unit, bool]:
    """The unit of a raw number, and whether that is sure: a number up to 1 may be a share or a small percentage."""
    raw = result.raw
    assert raw is not None
    if raw > 100:
        return Unit.POINTS, True
    if raw > 1:
        return Unit.PERCENT, False
    if not result.hits:
        return Unit.SHARE, False
    mean = float(np.mean(list(result.hits.values())))
    return (Unit.PERCENT if abs(raw / 100 - mean) < abs(raw - mean) else Unit.SHARE), True


def _in_unit(result: Result, unit: Unit) -> Result:
    raw, points = result.raw, unit is Unit.POINTS
    if raw is None:  # its share of single questions is nothing in points
        return replace(result, score=None, points=True) if points else result
    return replace(result, score=raw / 100 if unit is Unit.PERCENT else raw, points=points)


def in_one_unit(before: Result, after: Result) -> tuple[Result, Result]:
    """Two results of one benchmark, their scores in one unit.

    One number alone does not tell: 88 beside 612 are points and no 88 %, 0.8 beside 45 is a percentage. Points of either
    make both points; a percentage of either makes both percentages, but where single questions say that one is a share.
    """
    units = [_unit(side) for side in (before, after) if side.raw is not None]
    found = {unit for unit, _ in units}
    common = next((u for u in (Unit.POINTS, Unit.PERCENT, Unit.SHARE) if u in found), Unit.SHARE)

    def scaled(side: Result) -> Result:
        sure = side.raw is not None and _unit(side) == (Unit.SHARE, True)
        return _in_unit(side, Unit.SHARE if sure and common is Unit.PERCENT else common)

    return scaled(before), scaled(after)


def plain(name: str) -> str:
    """Letters and digits in lower case: how names are compared."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
