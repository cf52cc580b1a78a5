"""``driveproof replay``: a drive to look at."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn

from driveproof.cli.console import Console, Progress, TextColumn


class Video(StrEnum):
    """Films that can be written."""

    MP4 = "mp4"
    GIF = "gif"


def command(
    run: Annotated[Path, typer.Argument(help="Directory of a run of `driveproof drive`.")],
    route: Annotated[
        list[str] | None, typer.Argument(help="Routes (ID, or ID_repN); all without.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the pages.")] = Path("replay"),
    video: Annotated[Video | None, typer.Option(help="Write a film of each drive, too.")] = None,
    most: Annotated[int, typer.Option(min=1, max=5000, help="Moments of a page.")] = 240,
    width: Annotated[int, typer.Option(min=16, max=2000, help="Pixels of the front view.")] = 320,
    above: Annotated[int, typer.Option(min=32, max=2000, help="Pixels from above.")] = 240,
    quality: Annotated[int, typer.Option(min=1, max=100, help="Of the pictures.")] = 70,
) -> None:
    """Write one offline page a drive and an index of the run: pictures, decisions, answers, infractions.

    A drive with a broken file is named in the index, and costs its own page only. Exit codes: 0 everything was
    written; 1 some drives have no page or no film; 2 nothing could be written.

    Example: driveproof replay runs/tiny 1711 --out replay --video mp4
    """
    from driveproof.evaluation.driving.runs import read_run
    from driveproof.report.replay import ReplayStyle, write_replays
    from driveproof.report.replay.pages import chosen

    found = read_run(run)
    routes = route or []
    style = ReplayStyle(most, width, above, quality, "" if video is None else video.value)
    columns = (TextColumn("replay"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("replay", total=len(chosen(found, routes)))
        made = write_replays(found, out, routes, style, lambda key: bar.advance(task))
    console = Console(stderr=True)
    for key, reason in made.broken.items():
        console.print(f"{key}: {reason}", soft_wrap=True)
    typer.echo(f"{len(made.files)} files: {out / 'index.html'}")
    if made.broken:
        raise typer.Exit(1)
