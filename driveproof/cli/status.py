"""``driveproof status``: how far a run is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from driveproof.cli.console import Console

if TYPE_CHECKING:
    from driveproof.drive.rundir import RunDirectory
    from driveproof.drive.status import RouteReport

WIDE = 1000
"""Columns where there is no terminal."""


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
    if not console.is_terminal:  # a pipe or a file has no edge
        console.width = WIDE
    console.print(_table(reports))
    for report in reports:
        if report.reason:
            console.print(f"{report.episode.key}: {report.reason}", soft_wrap=True)
    counts = ", ".join(f"{count} {name}" for name, count in facts["totals"].items() if count)
    console.print(f"{facts['policy']['name']} on {facts['suite']}: {counts}")
    for variant, found in (facts["scores"] or {}).items():
        values = {name: found[name]["mean"] for name in ("driving_score", "success_rate")}
        said = ", ".join(
            f"{name.replace('_', ' ')} {'-' if value is None else f'{value:.2f}'}"
            for name, value in values.items()
        )
        console.print(f"{variant}: {said}")


def _table(reports: list[RouteReport]) -> Table:
    """A row a route; states are never cut, and fit with the rest into 80 columns."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("route", "rep", "state", "%", "s", "tries", "status", "infractions"):
        words = name in ("status", "infractions")
        table.add_column(name, no_wrap=not words, overflow="fold")
    for report in reports:
        record, beat = report.record, report.heartbeat or {}
        share = record.completion if record is not None else beat.get("completion")
        seconds = record.game_s if record is not None else beat.get("game_s")
        table.add_row(
            report.episode.route,
            str(report.episode.repeat),
            report.state.value,
            "" if share is None else f"{100.0 * share:.0f}",
            "" if seconds is None else f"{seconds:.1f}",
            str(report.status.tries),
            record.status if record is not None else "",
            ", ".join(dict.fromkeys(one.kind.value for one in record.failures)) if record else "",
        )
    return table
