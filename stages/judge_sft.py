"""Stage judge_sft: scripted clips of the train places -> models/judge_sft, reports/judge_sft."""

from __future__ import annotations

from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from driveproof.config import load_params
from driveproof.errors import run
from driveproof.files import write_json
from driveproof.judge import read_clips
from driveproof.training.judge import JudgeLessons
from driveproof.training.sft import train

CLIPS = Path("data/judge/clips.parquet")
MODEL, REPORT = Path("models/judge_sft"), Path("reports/judge_sft/judge_sft.json")


def main() -> None:
    """Train the judge and write its loss curve."""
    params = load_params()
    section = params.judge_sft
    clips = read_clips(CLIPS, ["train"])
    lessons = JudgeLessons(clips, params.judge.thresholds, section, params.seed)
    columns = (TextColumn("training, loss {task.fields[loss]:.3f}"), BarColumn())
    with Progress(*columns, MofNCompleteColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task("training", total=None, loss=float("nan"))
        report = train(
            lessons,
            section,
            params.seed,
            MODEL,
            progress=lambda step, steps, loss: bar.update(
                task, completed=step, total=steps, loss=loss
            ),
        )
    write_json(REPORT, report)
    print(f"{report['parameters']} parameters, last loss {report['curve'][-1]['loss']}")


if __name__ == "__main__":
    run(main)
