"""``driveproof score``: judge trajectories by driving rules."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(help="Judge trajectories by driving rules.", no_args_is_help=True)


class _Variant(StrEnum):
    navsim = "navsim"
    corrected = "corrected"


class _Grouping(StrEnum):
    pair = "pair"
    group = "group"


@app.callback()
def _group() -> None:
    """Judge trajectories by driving rules."""


@app.command()
def epdms(
    cases: Annotated[
        list[Path], typer.Argument(help="Cases (JSON, schema navsim-epdms-golden/1).")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    output: Annotated[Path | None, typer.Option(help="Write the JSON to this file.")] = None,
    variant: Annotated[
        _Variant, typer.Option(help="As NAVSIM computes it, or with its known defects repaired.")
    ] = _Variant.navsim,
    grouping: Annotated[
        _Grouping,
        typer.Option(help="Progress is measured against the reference alone, or the whole group."),
    ] = _Grouping.pair,
    details: Annotated[
        bool, typer.Option(help="Add validity, reason, step and agent of every rule.")
    ] = False,
) -> None:
    """Score the proposals of cases by EPDMS; null is unscored, --details says why.

    Example: driveproof score epdms cases/*.json --json
    """
    from rich.progress import track

    from driveproof.errors import BadInput
    from driveproof.files import write_json
    from driveproof.rules import read_case

    results: dict[str, dict[str, dict[str, Any]]] = {}
    for path in track(cases, "scoring", console=_stderr(), transient=True):
        case = read_case(path)
        if case.id in results:
            raise BadInput(f"a case with the id {case.id!r} was read before", path=path)
        if case.world.roads.flawed:
            names = ", ".join(case.world.roads.flawed)
            typer.echo(f"warning: {path}: polygons that cross themselves: {names}", err=True)
        scores = case.score(variant=variant.value, grouping=grouping.value)
        rows: dict[str, dict[str, Any]] = {}
        for index, name in enumerate(case.names):
            rows[name] = dict(scores.row(index))
            if details:
                rows[name]["details"] = {
                    code: asdict(verdict) for code, verdict in scores.verdicts(index).items()
                }
        results[case.id] = rows
    if output is not None:
        write_json(output, results)
    if as_json:
        typer.echo(json.dumps(results, indent=2, allow_nan=False))
    elif output is None:
        _print_table(results)


def _stderr() -> Any:
    from rich.console import Console

    return Console(stderr=True)


def _print_table(results: dict[str, dict[str, dict[str, Any]]]) -> None:
    """One line a proposal; a dash is unscored."""
    from rich.console import Console
    from rich.table import Table

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
