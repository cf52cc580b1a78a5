"""``driveproof report``: build the report from what is there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driveproof.cli.console import Console
from driveproof.config import load_params


def command(
    root: Annotated[Path, typer.Option(help="Repository root.")] = Path(),
) -> None:
    """Build reports/index.html, one offline file, and print its path.

    Chapters whose stage has not run say so.

    Example: driveproof report
    """
    from driveproof.report import build_report

    params = load_params(root / "params.yaml")
    with Console(stderr=True).status("building the report ..."):
        path = build_report(params.report, params.seed, root)
    typer.echo(str(path))
