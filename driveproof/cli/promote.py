"""``driveproof promote``: the challenger becomes the champion if the gate holds."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from driveproof.cli.compare import comparison_table
from driveproof.cli.console import Console
from driveproof.config import load_params


def command(
    model: Annotated[
        str, typer.Option(help="Name in the registry; default: promote.model of params.yaml.")
    ] = "",
    store_root: Annotated[
        Path, typer.Option(help="Where relative paths of the store start.")
    ] = Path(),
    only: Annotated[
        list[str] | None,
        typer.Option(help="Refuse unless the challenger is this version, name/number; repeat."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Judge, but move nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Move the alias of the champion to the challenger if every rule of the gate in params.yaml holds.

    Exit code 0: the challenger is the champion now, or was already (with --dry-run: the gate holds). 1: the gate
    does not hold, and nothing was moved.

    Example: driveproof promote --dry-run
    """
    from driveproof.tracking import open_store, promote

    params = load_params()
    settings = params.promote
    if model:
        settings = settings.model_copy(update={"model": model})
    done = promote(
        open_store(params.publish, store_root), settings, dry_run=dry_run, only=only or ()
    )
    same = done.champion is not None and done.champion.number == done.challenger.number
    if as_json:
        content = {
            "challenger": str(done.challenger),
            "champion": str(done.champion) if done.champion else None,
            "comparisons": [asdict(row) for row in done.comparisons],
            "gate": [
                {**verdict.rule.model_dump(), "holds": verdict.holds, "why": verdict.why}
                for verdict in done.verdicts
            ],
            "holds": done.holds,
            "moved": done.moved,
            "already_champion": same,
        }
        typer.echo(json.dumps(content, sort_keys=True))
    elif same:
        typer.echo(f"{done.challenger} is the champion already")
    else:
        rival = str(done.champion or "no champion")
        Console().print(comparison_table(done.comparisons, str(done.challenger), rival))
        for verdict in done.verdicts:
            typer.echo(f"{'holds' if verdict.holds else 'fails'}  {verdict.why}")
        state = "is the champion now" if done.moved else "stays the challenger"
        typer.echo(f"{done.challenger} {state}")
    if not (same or done.holds):
        raise typer.Exit(1)
