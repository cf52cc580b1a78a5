"""Stage vqa_sft: the expert's answers about train clips -> models/vqa_sft/MODE, reports/vqa_sft."""

from __future__ import annotations

from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from driveproof.commenter.moments import clips_of_split
from driveproof.config import load_params
from driveproof.errors import run
from driveproof.files import write_json
from driveproof.training.vqa_models import train_models

CLIPS, DATA, SPLITS = Path("data/raw"), Path("data/vqa"), Path("data/scenes/splits.json")
MODELS, REPORT = Path("models/vqa_sft"), Path("reports/vqa_sft/vqa_sft.json")


def main() -> None:
    """Train a model for each mode and write the loss curves."""
    params = load_params()
    clips = clips_of_split(SPLITS, "train")
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn()) as bar:
        task = bar.add_task("reading", total=None)
        reports = train_models(
            DATA,
            sorted(CLIPS.glob("*.tar")),
            clips,
            params.vqa_sft,
            params.seed,
            MODELS,
            progress=lambda mode, step, steps, loss: bar.update(
                task, description=f"{mode}, loss {loss:.3f}", completed=step, total=steps
            ),
        )
    write_json(REPORT, reports)
    for mode, report in reports.items():
        print(f"{mode}: {report['parameters']} parameters, loss {report['curve'][-1]['loss']}")


if __name__ == "__main__":
    run(main)
