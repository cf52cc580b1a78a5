"""Stage evaluate: data/mcq/test.parquet (and grid.parquet), models/sft -> reports/evaluation."""

from __future__ import annotations

from pathlib import Path

from driveproof.config import load_params
from driveproof.evaluation import evaluate, write_evaluation
from driveproof.mcq import read_items

ITEMS, GRID, OUT = (
    Path("data/mcq/test.parquet"),
    Path("data/mcq/grid.parquet"),
    Path("reports/evaluation"),
)


def main() -> None:
    """Ask every policy every question and write what came of it."""
    params = load_params()
    section = params.evaluate
    grid = read_items(GRID) if section.grid_repeats and GRID.exists() else []
    result = evaluate(section, read_items(ITEMS), grid, seed=params.seed)
    write_evaluation(result, OUT)
    for name, run in result.runs.items():
        report = run.report
        print(f"{name}: ACC {report.accuracy}, HLD {report.hld}, invalid {report.invalid}")


if __name__ == "__main__":
    main()
