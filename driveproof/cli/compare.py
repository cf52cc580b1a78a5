"""``driveproof compare``: two model versions, unit for unit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from driveproof.cli.console import Console
from driveproof.config import load_params
from driveproof.evaluation.unit_scores import Comparison


def command(
    first: Annotated[str, typer.Argument(help="name@alias or name/number.")],
    second: Annotated[str, typer.Argument(help="The other version.")],
    store_root: Annotated[
        Path, typer.Option(help="Where relative paths of the store start.")
    ] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare two model versions on the questions and routes that both were measured on.

    The difference is first minus second, with a paired bootstrap interval over drives and routes.

    Example: driveproof compare driveproof-policy@challenger driveproof-policy@champion
    """
    from driveproof.tracking import compare_versions, find_version, open_store

    store = open_store(load_params().publish, store_root)
    one, other = find_version(store, first), find_version(store, second)
    rows = compare_versions(store, one, other)
    if as_json:
        content = {
            "first": str(one),
            "second": str(other),
            "comparisons": [asdict(row) for row in rows],
        }
        typer.echo(json.dumps(content, sort_keys=True))
        return
    Console().print(comparison_table(rows, str(one), str(other)))


def comparison_table(rows: Sequence[Comparison], first: str, second: str) -> Table:
    """The comparisons for people."""
    table = Table("metric", first, second, "difference [95 %]", "shared", "only one", "lost")
    for row in rows:
        table.add_row(
            row.metric,
            _mean(row.first.mean),
            _mean(row.second.mean),
            str(row.difference),
            str(row.difference.n),
            f"{row.only_first} / {row.only_second}",
            f"{row.lost_first} / {row.lost_second}",
        )
    return table


def _mean(value: float | None) -> str:
    return "unscored" if value is None else f"{value:.3f}"
