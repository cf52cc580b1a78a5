"""``driveproof comment``: the expert answers every question about recorded clips."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from driveproof.cli.console import Console, Progress


def command(
    paths: Annotated[
        list[Path], typer.Argument(help="Clips in Bench2Drive's layout: folders or archives.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the answers; replaced.")],
    every: Annotated[
        int, typer.Option(min=1, help="Write every so many frames; all are read.")
    ] = 1,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Of the questions' wordings.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the index as JSON.")] = False,
) -> None:
    """Let the expert (DriveCommenter) answer all questions about every frame of clips.

    Example: driveproof comment data/raw/Accident_Town01_Route00024_Weather2.tar --out data/vqa-one --every 5
    """
    from driveproof.commenter.campaign import comment_clips

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("commenting", total=len(paths))
        index = comment_clips(
            paths,
            out,
            every=every,
            seed=seed,
            workers=workers,
            progress=lambda _: bar.advance(task),
        )
    if as_json:
        typer.echo(json.dumps(index, indent=2))
        return
    asked = sum(index["questions"].values())
    typer.echo(
        f"{asked} answers to {len(index['questions'])} kinds of questions about {index['commented']} frames in {out}"
    )
