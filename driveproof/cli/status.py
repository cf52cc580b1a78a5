"""``driveproof status``: how far a run is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from driveproof.cli.console import Console

if TYPE_CHECKING:
    from driveproof.drive.rundir import RunDirectory
    from driveproof.drive.status import RouteReport


def command(
    directory: Annotated[Path, typer.Argument(help="Of a run of `driveproof drive`.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Say what of a run is done, running and left, and how it scores so far; at any time, also while it runs.

    Example: driveproof status runs/expert --json
    """
    from driveproof.drive.rundir import RunDirectory
    from driveproof.drive.status import look_at

    run = RunDirectory(directory)
    show(run, look_at(run), as_json)


def show(run: RunDirectory, reports: list[RouteReport], as_json: bool) -> None:
    """Print the state of a run."""
    from driveproof.drive.status import scores_of, totals

    facts: dict[str, Any] = {
        "run": run.path.name,
        "policy": run.plan.policy.model_dump(mode="json"),
        "suite": run.plan.suite.name,
        "totals": totals(reports),
        "over": all(report.state.ended for report in reports),
        "scores": scores_of(run),
    }
    if as_json:
        rows = [report.to_json() for report in reports]
        typer.echo(json.dumps({**facts, "routes": rows}, indent=2))
        return
    console = Console()
    console.print(_table(reports))
    counts = ", ".join(f"{count} {name}" for name, count in facts["totals"].items() if count)
    console.print(f"{facts['policy']['name']} on {facts['suite']}: {counts}")
    scores = facts["scores"]
    for variant, found in (scores or {}).items():
        values = {name: found[name]["mean"] for name in ("driving_score", "success_rate")}
        said = ", ".join(
            f"{name.replace('_', ' ')} {'-' if value is None else f'{value:.2f}'}"
            for name, value in values.items()
        )
        console.print(f"{variant}: {said}")


def _table(reports: list[RouteReport]) -> Table:
    table = Table("route", "repeat", "state", "status", "%", "infractions", "s", "attempts", "why")
    for report in reports:
        record, beat = report.record, report.heartbeat or {}
        share = record.completion if record is not None else beat.get("completion")
        seconds = record.game_s if record is not None else beat.get("game_s")
        table.add_row(
            report.episode.route,
            str(report.episode.repeat),
            report.state.value,
            record.status if record is not None else "",
            "" if share is None else f"{100.0 * share:.0f}",
            ", ".join(dict.fromkeys(one.kind.value for one in record.failures)) if record else "",
            "" if seconds is None else f"{seconds:.1f}",
            str(len(report.status.attempts)),
            report.reason,
        )
    return table
