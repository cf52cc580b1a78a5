"""Running the suites on the data on disk, writing what came out, and saying no."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driveproof.config.validate import ValidateParams
from driveproof.errors import BadInput, GateFailed
from driveproof.files import atomic_dir, write_json
from driveproof.validation.answers import commentary_frames
from driveproof.validation.frames import (
    codebook_frame,
    grid_frame,
    item_frames,
    position_p_value,
    scene_frame,
)
from driveproof.validation.page import render_page
from driveproof.validation.suites import (
    SPLITS,
    Expect,
    answer_suite,
    balance_suite,
    codebook_suite,
    item_suite,
    moment_suite,
    scene_suite,
)

if TYPE_CHECKING:
    import pandas as pd

MAX_EXAMPLES = 5
TABLES = ("scenes", "codebook", "mcq", "vqa")
"""In the order in which they are built."""


@dataclass(frozen=True)
class Check:
    """The outcome of one expectation.

    Attributes
    ----------
    name, says
        As in the suite.
    success
        Whether it holds.
    n, unexpected
        Values looked at, and how many of them break it (0 and 0 for expectations of the whole table).
    observed
        The observed value of an expectation of the whole table, "" otherwise.
    examples
        Up to five keys of rows that break it, with the value.
    """

    name: str
    says: str
    success: bool
    n: int
    unexpected: int
    observed: str
    examples: tuple[str, ...]


@dataclass(frozen=True)
class TableResult:
    """The outcome of a suite on one table."""

    table: str
    rows: int
    checks: tuple[Check, ...]

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if not check.success)


def validate_data(
    root: str | Path, limits: ValidateParams, tables: Sequence[str] = TABLES
) -> tuple[TableResult, ...]:
    """Run the suites of ``tables`` on ``root/data/{scenes,codebook,mcq,vqa}``.

    Raises
    ------
    BadInput
        If a table is absent, unknown or cannot be read at all.
    """
    data = Path(root) / "data"
    runs = {"scenes": _scenes, "codebook": _codebook, "mcq": _mcq, "vqa": _vqa}
    unknown = sorted(set(tables) - set(runs))
    if unknown:
        raise BadInput(f"no such table: {', '.join(unknown)}", hint=f"there are {', '.join(runs)}")
    return tuple(result for name in tables for result in runs[name](data / name, limits))


def _scenes(folder: Path, limits: ValidateParams) -> Iterator[TableResult]:
    yield _run("scenes", scene_frame(folder), "record_key", scene_suite(limits))


def _codebook(folder: Path, limits: ValidateParams) -> Iterator[TableResult]:
    paths = sorted(folder.glob("*.npz"))
    if not paths:
        raise BadInput("no codebook (*.npz) here", path=folder, hint="run dvc repro")
    for path in paths:
        yield _run(f"codebook/{path.stem}", codebook_frame(path), "code", codebook_suite(limits))


def _mcq(folder: Path, limits: ValidateParams) -> Iterator[TableResult]:
    for split, frame in item_frames(folder, SPLITS).items():
        name = f"mcq/{split}"
        items = _run(name, frame, "record_key", item_suite(split, limits))
        balance = _run(name, _balance(split, frame), "split", balance_suite(limits))
        yield TableResult(name, items.rows, items.checks + balance.checks)
    grid = grid_frame(folder)
    if grid is not None and len(grid):
        # cells take their questions from test and may be few or none: their number is no defect
        suite = [expect for expect in item_suite("test", limits) if expect.name != "enough"]
        yield _run("mcq/grid", grid, "record_key", suite)


def _vqa(folder: Path, limits: ValidateParams) -> Iterator[TableResult]:
    answers, moments = commentary_frames(folder)
    yield _run("vqa/answers", answers, "key", answer_suite(limits))
    yield _run("vqa/frames", moments, "key", moment_suite(limits))


def write_results(results: Sequence[TableResult], out: str | Path) -> None:
    """Write ``results.json``, ``summary.json`` and ``index.html`` into ``out``, whole or not at all."""
    failed = sum(len(result.failed) for result in results)
    total = sum(len(result.checks) for result in results)
    with atomic_dir(out) as temporary:
        tables = [asdict(result) for result in results]
        write_json(temporary / "results.json", {"success": not failed, "tables": tables})
        write_json(temporary / "summary.json", {"expectations": total, "failed": failed})
        page = render_page("validation", "results.html.j2", results=results, failed=failed)
        (temporary / "index.html").write_text(page, encoding="utf-8")


def gate(results: Iterable[TableResult]) -> None:
    """Say no if an expectation does not hold.

    Raises
    ------
    GateFailed
        With one line for each expectation that does not hold.
    """
    lines = [
        f"{result.table}/{check.name}: {check.says}; {_evidence(check)}"
        for result in results
        for check in result.failed
    ]
    if lines:
        raise GateFailed("\n  ".join([f"{len(lines)} data expectations do not hold:", *lines]))


def _evidence(check: Check) -> str:
    if check.observed:
        return f"observed {check.observed}"
    return f"{check.unexpected} of {check.n} break it, for example {', '.join(check.examples[:2])}"


def _balance(split: str, frame: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    known = frame.dropna(subset=["oracle_index"]) if len(frame) else frame
    positions = [int(index) for index in known.get("oracle_index", [])]
    options = [int(n) for n in known.get("n_options", [])]
    value = position_p_value(positions, options)
    return pd.DataFrame([{"split": split, "position_p_value": value}])


def _run(table: str, frame: pd.DataFrame, key: str, suite: Sequence[Expect]) -> TableResult:
    import great_expectations as gx

    if not len(frame):  # without rows there are no columns to expect anything of
        suite = [expect for expect in suite if "Table" in expect.kind]
    expectations = [
        getattr(gx.expectations, expect.kind)(**expect.arguments, meta={"name": expect.name})
        for expect in suite
    ]
    keys = {"unexpected_index_column_names": [key]} if len(frame) else {}
    outcome = (
        _whole_frame()
        .get_batch({"dataframe": frame})
        .validate(
            gx.ExpectationSuite(name="suite", expectations=expectations),
            result_format={"result_format": "COMPLETE", **keys},
        )
    )
    by_name = {
        result.expectation_config.meta["name"]: result
        for result in outcome.results
        if result.expectation_config is not None
    }
    checks = tuple(_check(expect, by_name[expect.name], key) for expect in suite)
    return TableResult(table, len(frame), checks)


@cache
def _whole_frame() -> Any:
    """The batch definition "all rows of a frame" of a quiet context in memory (0.5 s to make)."""
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    logging.getLogger("great_expectations").setLevel(logging.ERROR)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    asset = context.data_sources.add_pandas("memory").add_dataframe_asset("table")
    return asset.add_batch_definition_whole_dataframe("whole")


def _check(expect: Expect, outcome: Any, key: str) -> Check:
    if outcome.exception_info.get("raised_exception"):
        raise RuntimeError(f"{expect.name}: {outcome.exception_info}")
    result = outcome.result
    rows = result.get("unexpected_index_list") or []
    column = expect.arguments.get("column")
    examples = [
        str(row[key]) + (f" ({row[column]})" if column in row and column != key else "")
        for row in rows[:MAX_EXAMPLES]
    ]
    observed = result.get("observed_value")
    return Check(
        name=expect.name,
        says=expect.says,
        success=bool(outcome.success),
        n=int(result.get("element_count") or 0),
        unexpected=int(result.get("unexpected_count") or 0),
        observed="" if observed is None else str(observed),
        examples=tuple(examples),
    )
