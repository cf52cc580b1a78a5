"""``driveproof validate``: the data gate."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from driveproof.cli.console import Console
from driveproof.config import load_params

app = typer.Typer(help="Check the data that models are built from.", no_args_is_help=True)

Root = Annotated[Path, typer.Option(help="Repository root: data/ is read there.")]


@app.callback()
def _group() -> None:
    """Keep ``gate`` a command of the group even while it is the only one."""


@app.command("gate")
def gate_command(
    tables: Annotated[
        list[str] | None, typer.Argument(help="scenes, codebook, mcq, vqa; default: all.")
    ] = None,
    root: Root = Path(),
    out: Annotated[Path | None, typer.Option(help="Write JSON and HTML results here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check the data on disk; exit code 1 and one line for each expectation that does not hold.

    Example: driveproof validate gate --out reports/validate
    """
    from driveproof.validation import TABLES, gate, validate_data, write_results

    limits = load_params(root / "params.yaml").validate_
    with Console(stderr=True).status("checking the data ..."):
        results = validate_data(root, limits, tables or TABLES)
    if out is not None:
        write_results(results, out)
    if as_json:
        typer.echo(json.dumps([asdict(result) for result in results], sort_keys=True))
    else:
        for result in results:
            held = len(result.checks) - len(result.failed)
            typer.echo(f"{result.table}: {result.rows} rows, {held}/{len(result.checks)} hold")
    gate(results)
