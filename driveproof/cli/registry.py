"""``driveproof registry``: what is in the model registry, and its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from driveproof.cli.console import Console
from driveproof.config import load_params

app = typer.Typer(help="Look into the model registry.", no_args_is_help=True)

StoreRoot = Annotated[Path, typer.Option(help="Where relative paths of the store start.")]


@app.command("list")
def list_command(
    store_root: StoreRoot = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the versions with their aliases, and by what they were measured.

    Example: driveproof registry list
    """
    from driveproof.tracking import list_versions, open_store

    versions = list_versions(open_store(load_params().publish, store_root))
    if as_json:
        rows = [
            {"version": str(v), "aliases": list(v.aliases), "measured": list(v.measured)}
            for v in versions
        ]
        typer.echo(json.dumps(rows, sort_keys=True))
        return
    table = Table("version", "aliases", "measured by")
    for version in versions:
        table.add_row(str(version), ", ".join(version.aliases), ", ".join(version.measured))
    Console().print(table if versions else "nothing is registered yet")


@app.command("resolve")
def resolve_command(
    reference: Annotated[str, typer.Argument(help="name@alias or name/number.")],
    store_root: StoreRoot = Path(),
) -> None:
    """Say which version a reference means now, as name/number: that stays, an alias moves.

    Example: driveproof registry resolve driveproof-policy@challenger
    """
    from driveproof.tracking import find_version, open_store

    typer.echo(str(find_version(open_store(load_params().publish, store_root), reference)))


@app.command("fetch")
def fetch_command(
    reference: Annotated[str, typer.Argument(help="name@alias or name/number.")],
    target: Annotated[Path, typer.Argument(help="Folder for the model's files; must be empty.")],
    store_root: StoreRoot = Path(),
) -> None:
    """Copy the files of a version into a folder.

    Example: driveproof registry fetch driveproof-policy@champion models/champion
    """
    from driveproof.tracking import fetch_model, find_version, open_store

    store = open_store(load_params().publish, store_root)
    version = find_version(store, reference)
    fetch_model(store, version, target)
    typer.echo(f"{version} in {target}")
