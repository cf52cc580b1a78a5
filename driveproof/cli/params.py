"""``driveproof params``: look at, check and overlay the parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
import yaml

from driveproof.config import load_params
from driveproof.config.overlay import apply_overlay

app = typer.Typer(help="Look at, check and overlay params.yaml.", no_args_is_help=True)

Base = Annotated[Path, typer.Option("--params", help="The parameter file.")]


@app.command()
def show(
    overlay: Annotated[list[Path] | None, typer.Argument(help="Overlays on top.")] = None,
    params: Base = Path("params.yaml"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print every parameter with its default filled in.

    Example: driveproof params show params/gpu.yaml
    """
    loaded = load_params(params, overlay or [])
    if as_json:
        typer.echo(loaded.model_dump_json(indent=2, by_alias=True))
    else:
        typer.echo(yaml.safe_dump(loaded.model_dump(mode="json", by_alias=True), sort_keys=False))


@app.command()
def apply(
    overlay: Annotated[Path, typer.Argument(help="The overlay, for example params/gpu.yaml.")],
    params: Base = Path("params.yaml"),
) -> None:
    """Merge an overlay into params.yaml, so that the next `make repro` runs with it.

    Example: driveproof params apply params/small.yaml
    """
    apply_overlay(params, overlay)
    typer.echo(f"{params} now holds the settings of {overlay}; undo with: git checkout {params}")
