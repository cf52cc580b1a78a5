"""Runs of suites under stress: 60 kills during 20 short routes, and two workers against one.

    python -m benchmarks.drive_runs kills   --out reports/drive_kills.json [--kills 60] [--routes 20]
    python -m benchmarks.drive_runs workers --out reports/drive_workers.json

Targets: every route ends once with a true state, records, motion and decisions equal those of an undisturbed run,
nothing is orphaned, memory is flat; two embedded servers are at least 1.6 times as fast as one on idle cores, with
equal results.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from driveproof.drive.begin import begin_run
from driveproof.drive.campaign import disagreements, disturbed
from driveproof.drive.plan import DriveSettings, Record
from driveproof.drive.rundir import RunDirectory
from driveproof.drive.runner import Care, drive
from driveproof.drive.suite import staged_routes
from driveproof.files import write_json
from driveproof.sim.routes import write_routes
from driveproof.sim.scenarios import SCENARIOS

TOWNS = ("Town01", "Town03")
POLICY = "random"

app = typer.Typer()


def write_suite(path: Path, count: int) -> None:
    """Short routes of as many scenarios in two towns."""
    names = [name for name, kind in SCENARIOS.items() if kind.towns[0] in TOWNS]
    write_routes(staged_routes(names[:count], towns=TOWNS, longest_m=80.0), path)


def undisturbed(out: Path, suite: Path, workers: int) -> tuple[RunDirectory, float]:
    """A run without trouble, and its seconds."""
    settings = DriveSettings(record=Record.DECISIONS)
    run = begin_run(out, suite, POLICY, settings)
    began = time.monotonic()
    drive(run, [None] * workers, Care())
    return run, time.monotonic() - began


@app.command()
def kills(
    out: Annotated[Path, typer.Option(help="Report.")] = Path("reports/drive_kills.json"),
    kills: Annotated[int, typer.Option(min=1)] = 60,
    routes: Annotated[int, typer.Option(min=1)] = 20,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    longest_s: Annotated[float, typer.Option(help="Longest pause between two kills.")] = 6.0,
) -> None:
    """Kill simulators, model servers, episodes and the run itself at random moments."""
    with tempfile.TemporaryDirectory() as folder:
        suite = Path(folder) / "suite.xml"
        write_suite(suite, routes)
        reference, seconds = undisturbed(Path(folder) / "reference", suite, 1)
        target = Path(folder) / "run"
        words = ["--serve", POLICY, "--suite", str(suite), "--out", str(target)]
        words += ["--attempts", str(kills + 1)]
        campaign = disturbed(words, kills, seed, (1.0, longest_s))
        run = RunDirectory(target)
        found = disagreements(run, reference)
        states = [status.state.value for _, status in run.statuses()]
        attempts = [len(status.attempts) for _, status in run.statuses()]
    third = max(len(campaign.memory_mb) // 3, 1)
    report: dict[str, Any] = {
        "routes": routes,
        "undisturbed_s": round(seconds, 1),
        "states": {state: states.count(state) for state in sorted(set(states))},
        "attempts": attempts,
        "disagreements": found,
        "memory_mb": {
            "first_third": float(np.median(campaign.memory_mb[:third])),
            "last_third": float(np.median(campaign.memory_mb[-third:])),
            "most": float(max(campaign.memory_mb)),
        },
        **{key: value for key, value in campaign.to_json().items() if key != "memory_mb"},
    }
    _report(out, report)


@app.command()
def workers(
    out: Annotated[Path, typer.Option(help="Report.")] = Path("reports/drive_workers.json"),
    routes: Annotated[int, typer.Option(min=2)] = 16,
) -> None:
    """Drive the same routes with one embedded server and with two."""
    with tempfile.TemporaryDirectory() as folder:
        suite = Path(folder) / "suite.xml"
        write_suite(suite, routes)
        one, alone = undisturbed(Path(folder) / "one", suite, 1)
        two, together = undisturbed(Path(folder) / "two", suite, 2)
        report = {
            "routes": routes,
            "one_worker_s": round(alone, 1),
            "two_workers_s": round(together, 1),
            "times_as_fast": round(alone / together, 2),
            "disagreements": disagreements(two, one),
        }
    _report(out, report)


def _report(out: Path, report: dict[str, Any]) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    write_json(out, report)
    Console().print(report)


if __name__ == "__main__":
    app()
