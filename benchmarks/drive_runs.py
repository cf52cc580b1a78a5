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
from driveproof.drive.plan import DriveSettings
from driveproof.drive.rundir import RunDirectory
from driveproof.drive.runner import Care, drive
from driveproof.drive.suite import staged_routes
from driveproof.files import write_json
from driveproof.maps import load_town
from driveproof.sim.drivers import Roads
from driveproof.sim.routes import RouteSpec, write_routes
from driveproof.sim.scenarios import SCENARIOS, Places

TOWNS = ("Town01", "Town02", "Town03")
STEADY, EXPERT = "constant_velocity:8", "expert"
LENGTH_M = 60.0

app = typer.Typer()


def straight_routes(count: int) -> list[RouteSpec]:
    """Straight pieces of road without anybody: eight seconds each at 8 m/s."""
    roads = [Roads(load_town(town)) for town in TOWNS]
    routes = []
    for number in range(count):
        here = roads[number % len(roads)]
        run = Places(here, np.random.default_rng(number)).run(LENGTH_M + 10.0)
        arcs = np.arange(1.0, LENGTH_M, 2.0)
        heights = np.interp(arcs, run.line.arc, run.z)
        positions = np.column_stack([run.line.at(arcs), heights])
        routes.append(RouteSpec(str(number + 1), here.town.name, positions))
    return routes


def scenario_routes(count: int) -> list[RouteSpec]:
    """Short routes of as many scenarios."""
    names = [name for name, kind in SCENARIOS.items() if kind.towns[0] in TOWNS]
    return staged_routes(names[:count], towns=TOWNS)


def undisturbed(
    out: Path, suite: Path, policy: str, workers: int = 1
) -> tuple[RunDirectory, float]:
    """A run without trouble, and its seconds."""
    run = begin_run(out, suite, policy, DriveSettings())
    began = time.monotonic()
    drive(run, [None] * workers, Care())
    return run, time.monotonic() - began


@app.command()
def kills(
    out: Annotated[Path, typer.Option(help="Report.")] = Path("reports/drive_kills.json"),
    kills: Annotated[int, typer.Option(min=1)] = 60,
    routes: Annotated[int, typer.Option(min=1)] = 20,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    longest_s: Annotated[float, typer.Option(help="Longest pause before a kill.")] = 1.2,
) -> None:
    """Kill simulators, model servers, episodes and the run itself at random moments."""
    with tempfile.TemporaryDirectory() as folder:
        suite = Path(folder) / "suite.xml"
        write_routes(straight_routes(routes), suite)
        reference, seconds = undisturbed(Path(folder) / "reference", suite, STEADY)
        target = Path(folder) / "run"
        words = ["--serve", STEADY, "--suite", str(suite), "--out", str(target)]
        words += ["--attempts", str(kills + 1)]
        campaign = disturbed(words, kills, seed, (0.0, longest_s))
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
        write_routes(scenario_routes(routes), suite)
        one, alone = undisturbed(Path(folder) / "one", suite, EXPERT)
        two, together = undisturbed(Path(folder) / "two", suite, EXPERT, workers=2)
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
