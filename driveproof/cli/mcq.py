"""``driveproof mcq``: build, count and look at AD-MCQ questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from driveproof.mcq import McqItem

app = typer.Typer(
    help="AD-MCQ: planning as a choice among explicit trajectories.", no_args_is_help=True
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Items = Annotated[Path, typer.Argument(help="A parquet file of questions.")]


@app.command()
def build(
    scenes: Annotated[Path, typer.Option(help="Directory of scene shards.")],
    codebook: Annotated[Path, typer.Option(help="Codebook (.npz).")],
    out: Annotated[Path, typer.Option(help="Directory to write.")],
    splits: Annotated[
        Path | None, typer.Option(help="Scene key -> split; default SCENES/splits.json.")
    ] = None,
    params: Annotated[
        Path | None, typer.Option(help="params.yaml whose section mcq is used; default built-in.")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Base seed of candidates and order.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Build train, dev, test and the difficulty grid.

    Example: driveproof mcq build --scenes data/scenes --codebook data/codebook/codebook.npz --out data/mcq
    """
    from rich.text import Text

    from driveproof.cli.console import Console
    from driveproof.codebook import TrajectoryCodebook
    from driveproof.codebook.trajectories import load_splits
    from driveproof.config import load_params
    from driveproof.config.mcq import McqParams
    from driveproof.files import check_folder
    from driveproof.mcq.source import read_moments
    from driveproof.mcq.write import write_mcq

    check_folder(out, ["stats.json"])
    section = load_params(params).mcq if params is not None else McqParams()
    with Console(stderr=True).status("reading scenes") as status:
        stats = write_mcq(
            read_moments(scenes),
            load_splits(splits or scenes / "splits.json"),
            TrajectoryCodebook.load(codebook),
            section,
            seed,
            out,
            lambda step: status.update(Text(f"building {step}")),
        )
    if as_json:
        typer.echo(json.dumps(stats, indent=2))
        return
    for name, split in stats["splits"].items():
        _print_counts(name, split)


@app.command()
def stats(path: Items, as_json: Json = False) -> None:
    """Count questions and measure their separation.

    Example: driveproof mcq stats data/mcq/test.parquet
    """
    from driveproof.mcq import read_items
    from driveproof.mcq.stats import describe

    found = describe(read_items(path))
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    _print_counts(str(path), found)
    _print_separation(found["separation"])


@app.command()
def show(
    path: Items,
    record: Annotated[str, typer.Argument(help="Record key, or an unambiguous part of one.")],
    as_json: Json = False,
) -> None:
    """Show one question with its answer.

    Example: driveproof mcq show data/mcq/test.parquet bench2drive/FreeDrive_Town01_Route00000_Weather8/00115
    """
    from rich.table import Table

    from driveproof.cli.console import Console
    from driveproof.mcq import read_items
    from driveproof.mcq.separation import option_errors

    item = _find(read_items(path), record, path)
    errors = option_errors(item)
    rows = [
        {
            "option": chr(ord("A") + i),
            "kind": item.option_kinds[i],
            "code": int(item.option_codes[i]),
            "similarity": round(float(item.similarities[i]), 4),
            "ade_to_log_m": round(float(errors[i]), 3),
            "end_m": item.options[i, -1].round(2).tolist(),
        }
        for i in range(item.n_options)
    ]
    about: dict[str, Any] = {
        "record_key": item.record_key,
        "split": item.split,
        "drive_class": item.drive_class,
        "situation": item.situation,
        "command": item.observation.command.name,
        "speed_mps": round(item.observation.speed, 2),
        "logged_end_m": item.waypoints[-1].round(2).tolist(),
    }
    if as_json:
        typer.echo(json.dumps({**about, "options": rows}, indent=2))
        return
    table = Table(*rows[0], title=" · ".join(f"{k} {v}" for k, v in about.items()))
    for row in rows:
        style = "bold" if row["kind"] == "oracle" else None
        table.add_row(*(str(value) for value in row.values()), style=style)
    Console().print(table)


def _find(items: list[McqItem], record: str, path: Path) -> McqItem:
    from driveproof.errors import BadInput

    exact = [item for item in items if item.record_key == record]
    found = exact or [item for item in items if record in item.record_key]
    keys = sorted({item.record_key for item in found})
    if len(keys) != 1:
        hint = f"for example {items[0].record_key}" if items and not keys else None
        problem = f"{len(keys)} records match" if keys else "no record matches"
        raise BadInput(problem, path=path, field=record, hint=hint)
    return found[0]


def _print_counts(title: str, found: dict[str, Any]) -> None:
    from rich.table import Table

    from driveproof.cli.console import Console

    table = Table("what", "which", "count", title=f"{title}: {found['items']} questions")
    for what in ("classes", "sources", "options", "oracle_positions", "rejected"):
        for which, count in found.get(what, {}).items():
            table.add_row(what, which, str(count))
    Console().print(table)


def _print_separation(found: dict[str, Any]) -> None:
    from rich.table import Table

    from driveproof.cli.console import Console
    from driveproof.codebook.paper import TABLE_10
    from driveproof.mcq.separation import STATISTICS

    table = Table("quantity", *STATISTICS, "n", "paper (mean … p95)", title="separation")
    for name, paper in TABLE_10.items():
        row = found[name]
        figures = ["-" if row[s] is None else f"{row[s]:.2f}" for s in STATISTICS]
        table.add_row(name, *figures, str(row["n"]), " ".join(f"{v:g}" for v in paper))
    Console().print(table)
    if found["median_gap"] is not None:
        share = f"{found['nearest_farther_than_oracle']:.1%}"
        Console().print(f"nearest distractor farther than the oracle in {share} of questions")
