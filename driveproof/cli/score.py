"""``driveproof score``: judge trajectories by driving rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from driveproof.cli.score_drives import Variant, humans, trajectories

app = typer.Typer(help="Judge trajectories by driving rules.", no_args_is_help=True)
app.command()(trajectories)
app.command()(humans)


class _Grouping(StrEnum):
    pair = "pair"
    group = "group"


Cases = Annotated[list[Path], typer.Argument(help="Cases (JSON, schema navsim-epdms-golden/1).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Output = Annotated[Path | None, typer.Option(help="Write the JSON to this file.")]
Results = dict[str, dict[str, dict[str, Any]]]
"""Case, proposal, rule: value; null is unscored."""


@app.command()
def epdms(
    cases: Cases,
    as_json: AsJson = False,
    output: Output = None,
    variant: Annotated[
        Variant, typer.Option(help="As NAVSIM computes it, or with its known defects repaired.")
    ] = Variant.navsim,
    grouping: Annotated[
        _Grouping,
        typer.Option(help="Progress is measured against the reference alone, or the whole group."),
    ] = _Grouping.pair,
    details: Annotated[
        bool, typer.Option("--details", help="Add validity, reason, step and agent of every rule.")
    ] = False,
) -> None:
    """Score the proposals of cases by EPDMS; null is unscored, --details says why.

    Example: driveproof score epdms cases/*.json --json
    """
    results: Results = {}
    for _, case in _read(cases):
        scores = case.score(variant=variant.value, grouping=grouping.value)
        rows: dict[str, dict[str, Any]] = {}
        for index, name in enumerate(case.names):
            rows[name] = dict(scores.row(index))
            if details:
                verdicts = scores.verdicts(index)
                rows[name]["details"] = {code: asdict(each) for code, each in verdicts.items()}
        results[case.id] = rows
    _deliver(results, as_json, output)


@app.command()
def pdms(
    cases: Cases,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Score the proposals of cases by PDMS, the metric of NAVSIM v1, each against the case's reference.

    Example: driveproof score pdms cases/*.json --json
    """
    from driveproof.errors import BadInput
    from driveproof.rules import score_plans_v1

    results: Results = {}
    for path, case in _read(cases):
        if case.reference is None:
            raise BadInput("PDMS needs it", path=path, field="reference_trajectory")
        scores = score_plans_v1(case.world, case.plans, case.reference)
        results[case.id] = {name: dict(scores.row(n)) for n, name in enumerate(case.names)}
    _deliver(results, as_json, output)


@app.command("two-stage")
def two_stage(
    file: Annotated[Path, typer.Argument(help="Scored frames (schema navsim-twostage-golden/1).")],
    output: Output = None,
) -> None:
    """Aggregate scored frames of pseudo-simulation: weights, stage one, stage two and their product, as JSON.

    Example: driveproof score two-stage frames.json
    """
    from driveproof.files import write_json
    from driveproof.rules import aggregate_file

    results = [asdict(result) for result in aggregate_file(file)]
    if output is not None:
        write_json(output, results)
    typer.echo(json.dumps(results, indent=2, allow_nan=False))


def _read(paths: list[Path]) -> Iterator[tuple[Path, Any]]:
    """Each case with its path, with progress on stderr; warns of flawed maps, refuses an id that comes twice."""
    from driveproof.cli.console import track
    from driveproof.errors import BadInput
    from driveproof.rules import read_case

    seen: set[str] = set()
    for path in track(paths, "scoring"):
        case = read_case(path)
        if case.id in seen:
            raise BadInput(f"a case with the id {case.id!r} was read before", path=path)
        seen.add(case.id)
        if case.world.roads.flawed:
            names = ", ".join(case.world.roads.flawed)
            typer.echo(f"warning: {path}: polygons that cross themselves: {names}", err=True)
        yield path, case


def _deliver(results: Results, as_json: bool, output: Path | None) -> None:
    """Write, print or tabulate the results."""
    from driveproof.files import write_json

    if output is not None:
        write_json(output, results)
    if as_json:
        typer.echo(json.dumps(results, indent=2, allow_nan=False))
    elif output is None:
        _print_table(results)


def _print_table(results: Results) -> None:
    """One line a proposal; a dash is unscored."""
    from rich.table import Table

    from driveproof.cli.console import Console

    columns = list(dict.fromkeys(
        key for rows in results.values() for row in rows.values() for key in row if key != "details"
    ))  # fmt: skip
    table = Table("case", "proposal", *columns)
    for case, rows in results.items():
        for name, row in rows.items():
            cells = [_cell(row.get(column)) for column in columns]
            table.add_row(case, name, *cells)
    Console().print(table)


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
