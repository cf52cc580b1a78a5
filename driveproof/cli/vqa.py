"""``driveproof vqa``: datasets of commentaries, counted and in the forms that others read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from driveproof.cli.console import Console, Progress

app = typer.Typer(
    help="Commentaries: statistics, and exports for others' programs.", no_args_is_help=True
)

Clips = Annotated[
    list[Path], typer.Argument(help="Clips in Bench2Drive's layout: folders or archives.")
]
Every = Annotated[int, typer.Option(min=1, help="Write every so many frames; all are read.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of wordings and of what is kept.")]


class ConversationForm(StrEnum):
    """One question a conversation, or a chain of thought a frame."""

    SHAREGPT = "sharegpt"
    CHAIN = "chain"


@app.command()
def stats(
    dataset: Annotated[Path, typer.Argument(help="Folder of `driveproof comment`.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Count questions, keys and "none" answers of a dataset.

    Example: driveproof vqa stats data/vqa
    """
    from driveproof.commenter.statistics import dataset_statistics

    found = dataset_statistics(dataset)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    table = Table("question", "answers", "of which none")
    for number, count in found["by_question"].items():
        table.add_row(number, str(count), f"{found['none_share'][number]:.0%}")
    Console().print(table)
    for name in ("by_category", "directions", "speeds"):
        row = ", ".join(f"{key} {count}" for key, count in found[name].items())
        typer.echo(f"{name.removeprefix('by_')}: {row}")
    typer.echo(
        f"{found['questions']} questions about {found['frames']} frames of {found['clips']} clips"
    )


@app.command()
def peers(
    paths: Clips,
    out: Annotated[Path, typer.Option(help="Folder for CLIP/00000.json; replaced.")],
    every: Every = 1,
    seed: Seed = 0,
) -> None:
    """Write a JSON a frame in the layout of Bench2Drive-VL.

    Example: driveproof vqa peers data/raw/Accident_Town01_Route00024_Weather2.tar --out peers --every 10
    """
    from driveproof.commenter.exports.files import write_peers

    with _bar() as progress:
        count = write_peers(paths, out, every=every, seed=seed, progress=progress)
    typer.echo(f"{count} frames in {out}")


@app.command()
def drivelm(
    paths: Clips,
    out: Annotated[Path, typer.Option(help="JSON file.")],
    every: Every = 1,
    seed: Seed = 0,
) -> None:
    """Write one file of question graphs in the form of DriveLM.

    Example: driveproof vqa drivelm data/raw/Accident_Town01_Route00024_Weather2.tar --out graph.json --every 10
    """
    from driveproof.commenter.exports.files import write_drivelm

    with _bar() as progress:
        count = write_drivelm(paths, out, every=every, seed=seed, progress=progress)
    typer.echo(f"{count} key frames in {out}")


@app.command()
def conversations(
    dataset: Annotated[Path, typer.Argument(help="Folder of `driveproof comment`.")],
    out: Annotated[Path, typer.Option(help="JSON lines.")],
    form: Annotated[
        ConversationForm, typer.Option(help="A question each, or a chain of thought a frame.")
    ] = ConversationForm.SHAREGPT,
    trivial: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Share to keep of frames in which nothing happens."),
    ] = 0.05,
    waiting: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Share to keep of frames waiting at a red light."),
    ] = 0.10,
    none: Annotated[
        float, typer.Option(min=0.0, max=1.0, help='Share to keep of answers that say "none".')
    ] = 0.2,
    images: Annotated[
        str, typer.Option(help='Picture of a frame, with {clip} and {frame}; "" for none.')
    ] = "{clip}/camera/rgb_front/{frame}.jpg",
    seed: Seed = 0,
) -> None:
    """Write conversations for training from a dataset.

    Example: driveproof vqa conversations data/vqa --form chain --out chains.jsonl --none 0.1
    """
    from driveproof.commenter.exports.conversations import KeepRatios
    from driveproof.commenter.exports.files import write_conversations

    ratios = KeepRatios(trivial, waiting, none)
    count = write_conversations(dataset, out, form.value, ratios=ratios, images=images, seed=seed)
    typer.echo(f"{count} conversations in {out}")


@contextmanager
def _bar() -> Iterator[Callable[[int], None]]:
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("commenting", total=None)
        yield lambda count: bar.advance(task, count)
