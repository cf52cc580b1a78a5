"""``driveproof maps``: which towns there are and what is in them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from driveproof.cli.console import Console

if TYPE_CHECKING:
    from driveproof.maps import TownMap

app = typer.Typer(help="Towns: lanes, signals, junctions, routes.", no_args_is_help=True)

MapsDir = Annotated[Path, typer.Option("--maps", help="Folder with own .xodr or .xodr.gz files.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Town = Annotated[str, typer.Argument(help="Name of the town, such as Town10HD.")]


@app.command("list")
def list_command(maps: MapsDir = Path("data/maps"), as_json: AsJson = False) -> None:
    """List the towns that can be loaded.

    Example: driveproof maps list
    """
    from driveproof.maps import list_towns

    towns = list_towns(maps)
    if as_json:
        typer.echo(json.dumps({name: path.name for name, path in towns.items()}, indent=2))
        return
    table = Table("town", "source")
    for name, path in towns.items():
        table.add_row(name, str(path) if path.is_relative_to(maps) else "py123d package")
    Console().print(table)


@app.command()
def show(town: Town, maps: MapsDir = Path("data/maps"), as_json: AsJson = False) -> None:
    """Count what is in a town.

    Exit code 3: no map of such a town is there.

    Example: driveproof maps show Town10HD --json
    """
    facts = _facts(_load(town, maps))
    if as_json:
        typer.echo(json.dumps(facts, indent=2, sort_keys=True))
        return
    table = Table("what", "value", title=facts["name"])
    for key, value in facts.items():
        if isinstance(value, dict):
            value = ", ".join(f"{count} {name}" for name, count in value.items()) or "none"
        table.add_row(key.replace("_", " "), str(value))
    Console().print(table)


@app.command()
def lanes(
    town: Town,
    kind: Annotated[str, typer.Option(help="Only lanes of this kind; 'all' for all.")] = "driving",
    maps: MapsDir = Path("data/maps"),
    as_json: AsJson = False,
) -> None:
    """List lanes with their keys, lengths and successors.

    Exit code 3: no map of such a town is there.

    Example: driveproof maps lanes Town01
    """
    from driveproof.errors import BadInput
    from driveproof.maps import LaneKind

    kinds = {item.name.lower(): item for item in LaneKind}
    if kind not in {*kinds, "all"}:
        raise BadInput(f"unknown lane kind {kind!r}", hint=f"one of: all, {', '.join(kinds)}")
    table = _load(town, maps).lanes
    chosen = table.of_kind(*(kinds.values() if kind == "all" else [kinds[kind]])).tolist()
    rows = [_lane_row(table, lane) for lane in chosen]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    grid = Table(*rows[0] if rows else ["no lanes of this kind"])
    for row in rows:
        grid.add_row(
            *(" ".join(map(str, v)) if isinstance(v, list) else str(v) for v in row.values())
        )
    Console().print(grid)


def _load(town: str, maps: Path) -> TownMap:
    from driveproof.maps import load_town

    with Console(stderr=True).status(f"reading {town}"):
        return load_town(town, maps)


def _facts(town: TownMap) -> dict[str, Any]:
    from driveproof.maps import LaneKind

    lanes = town.lanes
    low, high = lanes.centre[:, :2].min(axis=0), lanes.centre[:, :2].max(axis=0)
    kinds = Counter(LaneKind(int(kind)).name.lower() for kind in lanes.kind)
    return {
        "name": town.name,
        "digest": town.digest,
        "extent_m": [round(float(side), 1) for side in high - low],
        "lanes": dict(sorted(kinds.items())),
        "driving_km": round(float(lanes.length[lanes.of_kind(LaneKind.DRIVING)].sum()) / 1000.0, 2),
        "signals": dict(sorted(Counter(signal.kind.value for signal in town.signals).items())),
        "junctions": len(town.junctions),
        "crosswalks": len(town.crosswalks),
    }


def _lane_row(table: Any, lane: int) -> dict[str, Any]:
    from driveproof.maps import LaneKind

    limit = float(table.speed_limit[lane])
    return {
        "lane": lane,
        "road": int(table.road[lane]),
        "section": int(table.section[lane]),
        "number": int(table.lane[lane]),
        "kind": LaneKind(int(table.kind[lane])).name.lower(),
        "length_m": round(float(table.length[lane]), 1),
        "speed_limit_mps": None if limit != limit else round(limit, 2),
        "junction": int(table.junction[lane]),
        "successors": table.successors(lane).tolist(),
    }
