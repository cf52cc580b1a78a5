"""Stage sft: questions, scenes, codebook and pictures -> models/sft, reports/sft."""

from __future__ import annotations

from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from driveproof.codebook import TrajectoryCodebook
from driveproof.config import load_params
from driveproof.errors import run
from driveproof.files import write_json
from driveproof.mcq import read_items
from driveproof.scene import read_scenes
from driveproof.training.examples import Teacher
from driveproof.training.sft import train
from driveproof.training.single import check_single

ITEMS, SCENES = Path("data/mcq/train.parquet"), Path("data/scenes")
CODEBOOK = Path("data/codebook/codebook.npz")
MODEL, REPORT = Path("models/sft"), Path("reports/sft/sft.json")


def main() -> None:
    """Train the model and write its loss curve."""
    params = load_params()
    check_single(params, "sft")
    items = read_items(ITEMS)
    wanted = {item.record_key for item in items}
    scenes = {s.record_key: s for s in read_scenes(SCENES) if s.record_key in wanted}
    codebook = TrajectoryCodebook.load(CODEBOOK)
    teacher = Teacher(items, scenes, codebook, params.sft, params.mcq, params.seed)
    columns = (TextColumn("training, loss {task.fields[loss]:.3f}"), BarColumn())
    with Progress(*columns, MofNCompleteColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task("training", total=None, loss=float("nan"))
        report = train(
            teacher,
            params.sft,
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
