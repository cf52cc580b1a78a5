"""``driveproof publish``: record the current build in MLflow."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from driveproof.config import load_params


def command(
    store_root: Annotated[
        Path | None,
        typer.Option(help="Where relative paths of the store start; default: here."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Record parameters, numbers, reports and the model of the current build in MLflow.

    One run for each state of dvc.lock, one model version for each content of the model: publishing again
    changes nothing. Look at it with: mlflow ui --backend-store-uri sqlite:///mlflow.db

    Example: driveproof publish --json
    """
    from driveproof.tracking import publish

    params = load_params()
    with Console(stderr=True).status("publishing ..."):
        done = publish(params, store_root=store_root)
    if as_json:
        typer.echo(json.dumps(asdict(done), sort_keys=True))
        return
    typer.echo(f"run {done.run_id} ({'new' if done.new_run else 'already recorded'})")
    if done.model_version is None:
        typer.echo("no model was built yet")
    else:
        state = "new" if done.new_version else "already registered"
        typer.echo(f"model {done.model_name} version {done.model_version} ({state})")
