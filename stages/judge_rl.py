"""Stage judge_rl: preferences of the train places, models/judge_sft -> models/judge_rl, reports/judge_rl."""

from __future__ import annotations

from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from driveproof.config import load_params
from driveproof.errors import BadInput, run
from driveproof.evaluation.statistics import bounds_text
from driveproof.judge import read_clips, read_pairs
from driveproof.training.judge_rl_run import JudgeRl, run_judge_rl

DATA = Path("data/judge")
MODELS, REPORT = Path("models/judge_rl"), Path("reports/judge_rl")


def main() -> None:
    """Reinforce the judge from both starts and measure what it gained."""
    params = load_params()
    for key in ("style", "frames"):
        if getattr(params.judge_evaluate, key) != getattr(params.judge_sft, key):
            raise BadInput(
                "differs from the section judge_sft, so the model would read prompts it never saw",
                path="params.yaml",
                field=f"judge_evaluate.{key}",
            )
    plan = JudgeRl(
        read_clips(DATA / "clips.parquet"),
        read_pairs(DATA / "pairs.parquet"),
        params.judge.thresholds,
        params.judge_rl,
        params.judge_sft,
        params.judge_evaluate,
        params.seed,
    )
    columns = (TextColumn("{task.description}, {task.fields[note]}", markup=False), BarColumn())
    with Progress(*columns, MofNCompleteColumn(), TimeRemainingColumn()) as bar:
        rows = {}

        def watch(who: str, what: str, done: int, total: int, reward: float) -> None:
            if (who, what) not in rows:
                rows[who, what] = bar.add_task(f"{who}: {what}", note="")
            note = "" if reward != reward else f"reward {reward:.2f}"
            bar.update(rows[who, what], completed=done, total=total, note=note)

        summary = run_judge_rl(plan, MODELS, REPORT, watch)
    for name, found in summary["starts"].items():
        before, after, gain = (found[key]["strict"] for key in ("before", "after", "gain"))
        print(
            f"{name}: contested pairs {before['mean']:.3f} -> {after['mean']:.3f}, "
            f"gain {gain['mean']:+.3f} [{bounds_text(gain['low'], gain['high'])}]"
        )


if __name__ == "__main__":
    run(main)
