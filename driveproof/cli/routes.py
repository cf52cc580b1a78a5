"""``driveproof routes``: look at, check and rewrite the leaderboard's route files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from driveproof.cli.console import Console, track

if TYPE_CHECKING:
    from driveproof.sim.routes import Finding, RouteSpec

app = typer.Typer(help="Route files: list, lint and convert.", no_args_is_help=True)

Files = Annotated[list[Path], typer.Argument(help="Route files (.xml).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Maps = Annotated[Path, typer.Option("--maps", help="Folder with own .xodr or .xodr.gz files.")]


@app.command()
def show(files: Files, as_json: AsJson = False) -> None:
    """List the routes of files: town, positions, scenarios.

    Example: driveproof routes show bench2drive220.xml
    """
    rows: list[dict[str, Any]] = [
        {
            "route": route.key,
            "town": route.town,
            "positions": len(route.positions),
            "scenarios": [scenario.type for scenario in route.scenarios],
            "weathers": len(route.weathers),
        }
        for route in _parse(files)
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    table = Table(*rows[0])
    for row in rows:
        types: Counter[str] = Counter(row["scenarios"])
        text = ", ".join(f"{n} {name}" if n > 1 else name for name, n in types.items())
        table.add_row(*(text if key == "scenarios" else str(row[key]) for key in row))
    Console().print(table)


@app.command()
def lint(
    files: Files,
    maps: Maps = Path("data/maps"),
    as_json: AsJson = False,
    strict: Annotated[bool, typer.Option(help="Warnings fail, too.")] = False,
) -> None:
    """Check routes against their towns; errors (off the road, no way) give exit code 1.

    Example: driveproof routes lint bench2drive220.xml --json
    """
    from driveproof.maps import load_town
    from driveproof.sim.routes import Severity, lint_routes
    from driveproof.sim.scenarios import SCENARIOS

    routes = _parse(files)
    checked = lint_routes(routes, set(SCENARIOS), lambda name: load_town(name, maps))
    rows = list(
        track(
            checked,
            "checking",
            total=len(routes),
        )
    )
    counts = Counter(finding.severity for _, found in rows for finding in found)
    if as_json:
        typer.echo(json.dumps([_row(route, found) for route, found in rows], indent=2))
    else:
        _print(rows)
        numbers = ", ".join(f"{counts[level]} {level.value}s" for level in Severity)
        Console().print(f"{len(routes)} routes: {numbers}")
    if counts[Severity.ERROR] or (strict and counts[Severity.WARNING]):
        raise typer.Exit(1)


@app.command()
def convert(
    files: Files,
    out: Annotated[Path, typer.Option("--out", help="The route file to write.")],
    town: Annotated[str | None, typer.Option(help="Only routes of this town.")] = None,
    scenario: Annotated[str | None, typer.Option(help="Only routes with this type.")] = None,
) -> None:
    """Write the routes of files into one, with canonical names and tags.

    Example: driveproof routes convert bench2drive220.xml --town Town05 --out town05.xml
    """
    from driveproof.errors import BadInput
    from driveproof.sim.routes import canonical, suggestion, write_routes

    wanted = canonical(scenario) if scenario is not None else None
    if scenario is not None and wanted is None:
        near = suggestion(scenario)
        raise BadInput(
            f"no scenario type {scenario!r}", hint=f"did you mean {near}?" if near else None
        )
    chosen = [
        route
        for route in _parse(files)
        if (town is None or route.town == town)
        and (wanted is None or any(item.type == wanted for item in route.scenarios))
    ]
    if not chosen:
        raise BadInput("no route fits the filter")
    write_routes(chosen, out)
    Console(stderr=True).print(f"{len(chosen)} routes in {out}")


def _parse(files: list[Path]) -> list[RouteSpec]:
    from driveproof.sim.routes import parse_routes

    return [route for path in files for route in parse_routes(path)]


def _row(route: RouteSpec, found: list[Finding]) -> dict[str, object]:
    return {
        "route": route.key,
        "town": route.town,
        "scenarios": [scenario.type for scenario in route.scenarios],
        "findings": [
            {
                "severity": finding.severity.value,
                "kind": finding.kind.value,
                "where": finding.where,
                "text": finding.text,
            }
            for finding in found
        ],
    }


def _print(rows: list[tuple[RouteSpec, list[Finding]]]) -> None:
    table = Table("route", "town", "severity", "finding", "where", "text")
    for route, found in rows:
        for item in found:
            table.add_row(
                route.key, route.town, item.severity.value, item.kind.value, item.where, item.text
            )
    if table.row_count:
        Console().print(table)
