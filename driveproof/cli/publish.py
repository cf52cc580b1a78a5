"""``driveproof publish``: record the current build, or a closed-loop run, in MLflow."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from driveproof.cli.console import Console
from driveproof.config import Params, load_params


def command(
    drive: Annotated[
        Path | None,
        typer.Option(help="Run directory of `driveproof drive`, instead of the build."),
    ] = None,
    version: Annotated[
        str,
        typer.Option(help="With --drive: the version that drove, name@alias or name/number."),
    ] = "driveproof-policy@challenger",
    store_root: Annotated[
        Path | None,
        typer.Option(help="Where relative paths of the store start; default: here."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Record parameters, numbers, reports and models of the current build in MLflow.

    One run for each state of dvc.lock, one model version for each content of a model: publishing again changes
    nothing. With --drive, the scores of a closed-loop run are attached to the version that drove. Look at it with:
    mlflow ui --backend-store-uri sqlite:///mlflow.db

    Example: driveproof publish --json
    """
    params = load_params()
    if drive is not None:
        _drive(params, drive, version, store_root or Path(), as_json)
        return
    from driveproof.tracking import publish

    with Console(stderr=True).status("publishing ..."):
        done = publish(params, store_root=store_root)
    if as_json:
        typer.echo(json.dumps(asdict(done), sort_keys=True))
        return
    typer.echo(f"run {done.run_id} ({'new' if done.new_run else 'already recorded'})")
    if not done.models:
        typer.echo("no model was built yet")
    for model in done.models:
        state = "new" if model.new else "already registered"
        typer.echo(f"{model.folder}: {model.name} version {model.version} ({state})")


def _drive(params: Params, folder: Path, reference: str, root: Path, as_json: bool) -> None:
    from driveproof.drive.rundir import RunDirectory
    from driveproof.evaluation.driving.runs import read_run
    from driveproof.tracking import find_version, open_store, publish_drive

    identity = RunDirectory(folder).plan.policy.identity
    run = read_run(folder)
    store = open_store(params.publish, root)
    found = find_version(store, reference)
    run_id = publish_drive(params, found, run.records, store, run.losses, identity)
    if as_json:
        typer.echo(json.dumps({"run_id": run_id, "version": str(found)}, sort_keys=True))
    else:
        typer.echo(f"run {run_id}: {len(run.records)} routes of {found}, {len(run.losses)} lost")
