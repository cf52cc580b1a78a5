"""``driveproof distill``: ask a teacher once, then train students on what it said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Distillation: a teacher's answers as a student's targets.", no_args_is_help=True
)

Params = Annotated[Path, typer.Option("--params", help="The parameter file.")]
Overlay = Annotated[list[Path] | None, typer.Option(help="Parameter files on top of params.yaml.")]
Items = Annotated[Path, typer.Option(help="Train questions.")]
Images = Annotated[Path, typer.Option(help="Where paths of pictures start.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("ask")
def ask_command(
    out: Annotated[Path, typer.Option(help="Folder of answers and lineage.")],
    params: Params = Path("params.yaml"),
    overlay: Overlay = None,
    items: Items = Path("data/mcq/train.parquet"),
    scenes: Annotated[Path, typer.Option(help="Scenes, for the expert.")] = Path("data/scenes"),
    images: Images = Path(),
    cache: Annotated[Path, typer.Option(help="Keep a server's answers here.")] = Path(
        ".cache/distill"
    ),
    as_json: Json = False,
) -> None:
    """Ask the teacher of the section distill every question, with and without candidates; cut off, it goes on.

    Example: driveproof distill ask --out data/distill
    """
    from driveproof.cli.console import Console, Progress
    from driveproof.config import load_params
    from driveproof.errors import Unreachable
    from driveproof.files import check_folder
    from driveproof.mcq import read_items
    from driveproof.scene import read_scenes
    from driveproof.training.distill import EXPERT, LINEAGE, ask_teacher, write_targets

    check_folder(out, [LINEAGE])
    loaded = load_params(params, overlay or [])
    asked = read_items(items)
    wanted = {item.record_key for item in asked} if loaded.distill.teacher.who == EXPERT else set()
    known = (
        {s.record_key: s for s in read_scenes(scenes) if s.record_key in wanted} if wanted else {}
    )
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        total = 2 * len(asked) * loaded.distill.teacher.repeats
        task = progress.add_task("asking", total=total)
        answers = ask_teacher(
            asked,
            known,
            loaded.distill,
            loaded.seed,
            image_root=str(images),
            cache_dir=str(cache),
            progress=lambda count: progress.advance(task, count),
        )
    lost = [answer.error for told in answers.values() for answer in told if answer.error]
    if len(lost) == sum(len(told) for told in answers.values()):
        raise Unreachable(f"no answer of the teacher: {lost[0]}")
    lineage = write_targets(answers, asked, loaded.distill, loaded.seed, out)
    if as_json:
        typer.echo(json.dumps(lineage, indent=2, sort_keys=True))
    else:
        typer.echo(f"{lineage['usable']} of {lineage['questions']} questions have targets")
        for mode, reasons in lineage["lost"].items():
            for reason, count in reasons.items():
                typer.echo(f"{mode} {reason}: {count}")


@app.command("train")
def train_command(
    target: Annotated[str, typer.Argument(help="jeft, plan, full or mixed.")],
    out: Annotated[Path, typer.Option(help="Model folder.")],
    targets: Annotated[Path, typer.Option(help="Folder of `distill ask`.")] = Path("data/distill"),
    params: Params = Path("params.yaml"),
    overlay: Overlay = None,
    items: Items = Path("data/mcq/train.parquet"),
    images: Images = Path(),
    report: Annotated[Path | None, typer.Option(help="Write the loss curve here.")] = None,
    checkpoints: Annotated[
        Path | None, typer.Option(help="Folder to resume from after a kill.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Train a student on one kind of targets; all kinds take the same scenes in the same order.

    Example: driveproof distill train full --out models/distill/full
    """
    from driveproof.cli.console import Console, Progress
    from driveproof.config import load_params
    from driveproof.files import check_folder, write_json
    from driveproof.mcq import read_items
    from driveproof.training.distill import Distilled, read_targets, usable
    from driveproof.training.sft import STYLE_FILE, Running, train

    check_folder(out, [STYLE_FILE])
    loaded = load_params(params, overlay or [])
    asked = read_items(items)
    answers = read_targets(targets, asked, loaded.distill)
    lessons = Distilled(usable(answers, asked, loaded.distill), target, loaded.distill, loaded.seed)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("training", total=lessons.steps)
        done = train(
            lessons,
            loaded.distill,
            loaded.seed,
            out,
            images,
            progress=lambda step, steps, loss: progress.update(task, completed=step),
            running=Running(scratch=checkpoints, checkpoint_every=loaded.launch.checkpoint_every),
        )
    done["budget"] = lessons.budget()
    if report is not None:
        write_json(report, done)
    if checkpoints is not None:
        shutil.rmtree(checkpoints)
    last = done["curve"][-1]["loss"] if done["curve"] else float("nan")
    summary = {"target": target, "loss": last, **done["budget"]}
    typer.echo(
        json.dumps(summary, indent=2)
        if as_json
        else f"{target}: {done['budget']['scenes']} scenes, {done['budget']['words']:.1f} supervised words a scene, "
        f"last loss {last}"
    )
