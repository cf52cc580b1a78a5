"""``driveproof scenes``: import driving logs and look at the result."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table

from driveproof.cli.console import Console, Progress
from driveproof.errors import BadInput, GateFailed, UserError
from driveproof.files import read_json, write_json
from driveproof.scene import Command, WindowRules, read_columns

app = typer.Typer(help="Import driving logs and look at scenes.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("import")
def import_(
    paths: Annotated[list[Path], typer.Argument(help="Log files, or folders of them.")],
    out: Annotated[Path, typer.Option(help="Folder of the scene table; replaced as a whole.")],
    format: Annotated[str, typer.Option(help="See `driveproof scenes formats`.")] = "auto",
    stride: Annotated[float, typer.Option(min=0.01, help="Seconds between moments.")] = 0.5,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    skip_bad: Annotated[bool, typer.Option(help="Count unreadable logs, do not stop.")] = False,
    force: Annotated[bool, typer.Option(help="Replace a table that is there, splits too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Cut scenes out of driving logs. Exit code 1 if no moment could be used.

    Example: driveproof scenes import --format nuscenes logs/nuscenes --out data/mine
    """
    from driveproof.datasets import import_logs, sniff

    if out.exists() and not force:
        raise UserError("is there already", path=out, hint="--force replaces it")
    paths = [_relative(path) for path in paths]
    name = sniff(paths[0]).name if format == "auto" else format
    rules = WindowRules(stride_s=stride)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("logs", total=None)
        report = import_logs(
            name,
            paths,
            out,
            rules,
            skip_bad=skip_bad,
            workers=workers,
            on_file=lambda path, total: progress.update(task, total=total, advance=1),
        )
    if as_json:
        typer.echo(json.dumps(report.to_json(), sort_keys=True))
    else:
        _print_counts(f"{report.kept} scenes in {out}, rejected moments by reason", report.rejected)
    for bad in report.bad:
        typer.echo(f"skipped: {bad['problem']}", err=True)
    if not report.kept:
        raise GateFailed(
            "no moment could be used", path=out, hint="one needs 1.5 s of past and 5 s of future"
        )


@app.command()
def split(
    directory: Annotated[Path, typer.Argument(help="A scene table.")],
    train: Annotated[float, typer.Option(min=0, max=1, help="Share of drives to train on.")] = 0.7,
    dev: Annotated[float, typer.Option(min=0, max=1, help="Share of drives to tune on.")] = 0.1,
    seed: Annotated[int, typer.Option(min=0, help="Which drives go where.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Assign every drive of a table to train, dev or test (the rest), evenly over situations: splits.json.

    Example: driveproof scenes split data/mine --train 0.8 --dev 0.1
    """
    from driveproof.datasets import split_scenes

    if train + dev > 1.0:
        raise UserError("the shares of train and dev sum to more than 1", field="--train, --dev")
    columns = read_columns(directory, ["scene_key", "situation"]).to_pydict()
    situations = dict(zip(columns["scene_key"], columns["situation"], strict=True))
    shares = {"train": train, "dev": dev, "test": max(1.0 - train - dev, 0.0)}
    splits = split_scenes(situations, shares, seed)
    write_json(directory / "splits.json", splits)
    counts = Counter(splits.values())
    if as_json:
        typer.echo(json.dumps(dict(sorted(counts.items()))))
    else:
        _print_counts("drives by split", counts)


@app.command()
def formats(as_json: AsJson = False) -> None:
    """List the log formats.

    Example: driveproof scenes formats
    """
    from driveproof.datasets import FORMATS

    keys = ("name", "description", "frame_origin", "rate", "missing")
    rows = [{key: getattr(entry, key) for key in keys} for entry in FORMATS.values()]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    table = Table(Column("name", no_wrap=True), *(key.replace("_", " ") for key in keys[1:]))
    for row in rows:
        table.add_row(*row.values())
    Console().print(table)


@app.command()
def show(
    directory: Annotated[Path, typer.Argument(help="A scene table.")] = Path("data/scenes"),
    as_json: AsJson = False,
) -> None:
    """Count scenes by source, situation and command.

    Example: driveproof scenes show data/scenes --json
    """
    columns = read_columns(directory, ["scene_key", "source", "situation", "command"]).to_pydict()
    commands = Counter(Command(number).name.lower() for number in columns["command"])
    summary: dict[str, Any] = {
        "scenes": len(columns["source"]),
        "drives": len(set(columns["scene_key"])),
        "source": dict(sorted(Counter(columns["source"]).items())),
        "situation": dict(sorted(Counter(columns["situation"]).items())),
        "command": dict(sorted(commands.items())),
        "rejected": _rejected(directory / "import.json"),
    }
    if as_json:
        typer.echo(json.dumps(summary, sort_keys=True))
        return
    typer.echo(f"{summary['scenes']} scenes of {summary['drives']} drives")
    for name in ("source", "situation", "command", "rejected"):
        _print_counts(name, summary[name])


def _rejected(path: Path) -> dict[str, int]:
    """Reasons from the import's own report, where it is there."""
    if not path.is_file():
        return {}
    try:
        return dict(read_json(path)["rejected"])
    except (ValueError, KeyError, TypeError):
        raise BadInput("not a report of an import", path=path) from None


def _relative(path: Path) -> Path:
    """``path`` from the working folder if it lies inside, so that a table can move with its logs."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _print_counts(title: str, counts: dict[str, int] | Counter[str]) -> None:
    table = Table(title, "n")
    for name, count in sorted(counts.items()):
        table.add_row(name or "(none)", str(count))
    Console().print(table)
