"""The same routes driven by several policies, and what came of it side by side, without anything of the clock."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from driveproof.config.drive import DriveParams
from driveproof.drive.begin import begin_run, model_server, served_spec
from driveproof.drive.plan import DriveSettings, Record, parse_pictures
from driveproof.drive.rundir import RUN_FILE, SUITE_FILE, RunDirectory
from driveproof.drive.runner import Care, Report, drive
from driveproof.drive.states import STATE_FILE, RouteStatus, write_status
from driveproof.drive.status import look_at, lost, scores_of
from driveproof.errors import BadInput, UserError
from driveproof.evaluation.driving.answers import answers_of
from driveproof.evaluation.driving.runs import read_run
from driveproof.files import atomic_dir, write_json

CLOCK = {"latency_s": 0.0, "system_s": 0.0}
"""Fields of wall-clock time, and what stands for them in outs."""
SUMMARY_FILE = "drive.json"


class RoutesLost(UserError):
    """Routes of a policy ended without saying anything about it."""

    exit_code = 1


def drive_all(
    params: DriveParams,
    seed: int,
    out: str | Path,
    report: Callable[[str], Report] = lambda policy: lambda key, status: None,
) -> dict[str, Any]:
    """Drive the suite with every policy into ``out``; returns what ``drive.json`` says.

    Below ``out`` each policy has a folder that is a run directory, and the bytes depend on parameters and seed only.

    Parameters
    ----------
    report
        Makes what is called when a route's state changes, for a policy.

    Raises
    ------
    RoutesLost
        If a route is lost: that is no result of a policy, and a rerun is due.
    BadInput
        If suite or a policy are none.
    """
    names = [folder_name(policy) for policy in params.policies]
    if len(set(names)) < len(names):
        raise BadInput("two policies have the same folder", field="drive.policies")
    rows = {}
    with atomic_dir(out) as folder, tempfile.TemporaryDirectory() as work:
        for name, policy in zip(names, params.policies, strict=True):
            run = _drive(params, seed, policy, Path(work) / name, report(policy))
            timeless(run, folder / name)
            rows[name] = {"policy": policy, **_results(RunDirectory(folder / name), seed)}
        write_json(folder / SUMMARY_FILE, rows)
    return rows


def folder_name(policy: str) -> str:
    """The name of a policy's folder: the letters and digits of its specification."""
    text = policy.removeprefix("transformers:models/")
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "policy"


def settings_of(params: DriveParams, seed: int) -> DriveSettings:
    """How the stage drives."""
    return DriveSettings(
        seed=seed,
        repeats=params.repeats,
        rate_hz=params.rate_hz,
        record=Record(params.record),
        truth=params.truth,
        pictures=parse_pictures(f"{params.front_width}x{params.front_height}"),
    )


def _drive(
    params: DriveParams, seed: int, policy: str, folder: Path, report: Report
) -> RunDirectory:
    settings = settings_of(params, seed)
    spec, served = served_spec(policy, "")
    with model_server(served, seed) as model:
        run = begin_run(
            folder, params.suite, spec, settings, limit=params.limit, served=served, model=model
        )
        drive(run, [None] * params.workers, Care(budget=params.attempts), report, model)
    gone = lost(look_at(run))
    if gone:
        first = gone[0]
        raise RoutesLost(
            f"{len(gone)} routes are lost, the first: {first.reason}",
            field=f"{policy}, route {first.episode.route}",
        )
    return run


def _results(run: RunDirectory, seed: int) -> dict[str, Any]:
    answers = answers_of(read_run(run.path), seed=seed) if run.plan.settings.truth else None
    routes = []
    for found in look_at(run):
        row = found.to_json()
        row.pop("attempts")
        routes.append(row)
    return {
        "name": run.plan.policy.name,
        "privileged": list(run.plan.policy.privileged),
        "scores": scores_of(run),
        "answers": None if answers is None else answers.to_json(),
        "routes": routes,
    }


def timeless(run: RunDirectory, target: Path) -> None:
    """Copy a finished run without anything that the clock or the machine has decided."""
    (target / "routes").mkdir(parents=True)
    shutil.copyfile(run.path / SUITE_FILE, target / SUITE_FILE)
    write_json(target / RUN_FILE, run.plan.model_dump(mode="json"))
    for episode, status in run.statuses():
        source, folder = run.folder(episode), target / "routes" / episode.key
        folder.mkdir()
        write_status(folder, RouteStatus(state=status.state, reason=status.reason))
        for path in sorted(source.iterdir()):
            if path.suffix in (".parquet", ".tar"):
                shutil.copyfile(path, folder / path.name)
            elif path.suffix == ".jsonl":
                rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
                text = "".join(json.dumps(without_clock(row)) + "\n" for row in rows)
                (folder / path.name).write_text(text, encoding="utf-8")
            elif path.suffix == ".json" and path.name != STATE_FILE:
                write_json(folder / path.name, without_clock(json.loads(path.read_bytes())))


def without_clock(value: Any) -> Any:
    """Plain values with fields of wall-clock time set to nothing."""
    if isinstance(value, dict):
        return {key: CLOCK.get(key, without_clock(item)) for key, item in value.items()}
    return [without_clock(item) for item in value] if isinstance(value, list) else value
