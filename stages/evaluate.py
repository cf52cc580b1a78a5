"""Stage evaluate: data/mcq/test.parquet and grid.parquet, data/scenes, models/sft -> reports/evaluate."""

from __future__ import annotations

from pathlib import Path

from driveproof.config import load_params
from driveproof.errors import BadInput, run
from driveproof.evaluation import evaluate, write_evaluation
from driveproof.evaluation.facts import read_facts
from driveproof.mcq import read_items

DATA, OUT = Path("data/mcq"), Path("reports/evaluate")
TRAINED = "transformers:models/sft"


def main() -> None:
    """Ask every policy every question and write what came of it."""
    params = load_params()
    section = params.evaluate
    for key in ("style", "decimals", "frames", "waypoint_every"):
        if TRAINED in section.policies and getattr(section, key) != getattr(params.sft, key):
            raise BadInput(
                "differs from the section sft, so the model would read prompts it never saw",
                path="params.yaml",
                field=f"evaluate.{key}",
            )
    grid = read_items(DATA / "grid.parquet") if section.grid_repeats else []
    items = read_items(DATA / "test.parquet")
    facts = read_facts("data/scenes", {item.record_key for item in items})
    result = evaluate(section, items, grid, facts=facts, seed=params.seed)
    write_evaluation(result, OUT)
    for name, answers in result.runs.items():
        report, cfs = answers.report, answers.cfs.score if answers.cfs else "none"
        print(
            f"{name}: ACC {report.accuracy}, HLD {report.hld}, CFS {cfs}, invalid {report.invalid}"
        )


if __name__ == "__main__":
    run(main)
