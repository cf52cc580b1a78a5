"""``driveproof doctor``: is this checkout and this machine fit to work?"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from driveproof.cli.console import Console
from driveproof.cli.diagnosis import diagnose

_COLOURS = {"ok": "green", "note": "yellow", "bad": "bold red"}


def command(
    carla: Annotated[
        str | None, typer.Option(help="host:port of a simulator that has to be there.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look at versions, maps, git, DVC, GPU, simulator, MLflow and Prefect.

    Exit code 0 if nothing is bad (notes are fine), 1 otherwise.

    Example: driveproof doctor --carla 127.0.0.1:2000
    """
    with Console(stderr=True).status("looking ..."):
        findings = list(diagnose(Path.cwd(), carla))
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        table = Table(box=None, show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for finding in findings:
            colour = _COLOURS[finding.state]
            table.add_row(finding.name, Text(finding.state, style=colour), finding.detail)
        Console().print(table)
    raise typer.Exit(any(finding.state == "bad" for finding in findings))
