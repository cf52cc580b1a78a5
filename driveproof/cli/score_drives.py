"""``driveproof score trajectories`` and ``driveproof score humans``: files of planners, drivers of real logs."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from driveproof.evaluation.humans import Moment


class Variant(StrEnum):
    """Which reading of the rules."""

    navsim = "navsim"
    corrected = "corrected"


class Picture(StrEnum):
    """File formats of drawings."""

    png = "png"
    svg = "svg"


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
WhichVariant = Annotated[
    Variant, typer.Option(help="As NAVSIM computes it, or with its known defects repaired.")
]
# What the registry of formats calls the point that poses follow, where it is not the rear axle.
_CENTRES = ("box centre", "shape centre")


def trajectories(
    proposals: Annotated[
        Path, typer.Option(help="Planners' trajectories: parquet or npz, see docs/metrics.md.")
    ],
    scenes: Annotated[Path, typer.Option(help="Scene table.")] = Path("data/scenes"),
    out: Annotated[
        Path | None, typer.Option(help="Folder for scores.parquet and summary.json.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a killed run.")] = False,
    variant: WhichVariant = Variant.navsim,
    as_json: AsJson = False,
) -> None:
    """Score files of planners by EPDMS on the scenes of a table; what cannot be scored is counted by reason.

    Example: driveproof score trajectories --proposals plans.parquet --out reports/plans --workers 4
    """
    from driveproof.datasets import FORMATS
    from driveproof.errors import BadInput
    from driveproof.evaluation.planners import summarise_scores
    from driveproof.files import write_json
    from driveproof.rules.planner_run import score_file
    from driveproof.rules.planners import PlannerRun
    from driveproof.rules.proposals import count_rows

    if not proposals.is_file():
        raise BadInput("no such file", path=proposals)
    if resume and out is None:
        raise BadInput("--resume needs --out", field="--resume")
    centred = tuple(name for name, entry in FORMATS.items() if entry.frame_origin in _CENTRES)
    run = PlannerRun(scenes, proposals, variant.value, centred)
    with _folder(out) as folder, _bar("proposals", count_rows(proposals)) as advance:
        table = score_file(run, folder, workers=workers, resume=resume, on_rows=advance)
        planners = summarise_scores(table)
        summary = {"variant": variant.value, "planners": planners}
        write_json(folder / "summary.json", summary)
    if as_json:
        typer.echo(json.dumps(summary, indent=2, sort_keys=True, allow_nan=False))
        return
    for name, planner in planners.items():
        _print_estimates(f"{name} ({planner['rows']} plans)", {"mean": planner["scores"]})
        _print_counts("unscored because", planner["lost"])


def humans(
    paths: Annotated[list[Path], typer.Argument(help="Logs, or folders of them.")],
    format: Annotated[str, typer.Option(help="See `driveproof scenes formats`.")] = "auto",
    out: Annotated[
        Path | None, typer.Option(help="Folder for moments.parquet, summary.json and drawings.")
    ] = None,
    draw: Annotated[int, typer.Option(min=0, help="Draw this many of the worst moments.")] = 0,
    picture: Annotated[Picture, typer.Option(help="Format of the drawings.")] = Picture.png,
    stride: Annotated[float, typer.Option(min=0.1, help="Seconds between moments.")] = 0.5,
    variant: WhichVariant = Variant.navsim,
    as_json: AsJson = False,
) -> None:
    """Which driving rules do the logged drivers of real logs break, and how often?

    Example: driveproof score humans --format av2_sensor logs/val --out reports/humans --draw 5
    """
    from driveproof.datasets import sniff
    from driveproof.errors import BadInput
    from driveproof.evaluation.humans import HumanReport, Worst, score_humans
    from driveproof.files import atomic_dir, check_folder, write_json
    from driveproof.scene import WindowReport

    if draw and out is None:
        raise BadInput("--draw needs --out", field="--draw")
    name = sniff(paths[0]).name if format == "auto" else format
    if out is not None:
        check_folder(out, ["summary.json"])
    windows, report, worst = WindowReport(), HumanReport.empty(), Worst(draw)
    rows: list[dict[str, Any]] = []
    with _bar("moments", None) as advance:
        for moment in score_humans(name, paths, windows, variant=variant.value, stride=stride):
            report.add(moment)
            worst.add(moment)
            rows.append(moment.to_row())
            advance(1)
    summary = {"format": name, "variant": variant.value, **report.to_json(windows)}
    if out is not None:
        with atomic_dir(out) as folder:
            _write_moments(rows, folder / "moments.parquet")
            summary["drawings"] = _draw(worst.moments(), folder, picture)
            write_json(folder / "summary.json", summary)
    if as_json:
        summary["by_moment"] = rows
        typer.echo(json.dumps(summary, indent=2, allow_nan=False))
        return
    columns = {"broken": summary["broken_rate"], "mean": summary["mean"]}
    _print_estimates(f"{summary['moments']} moments of {name}", columns)
    for title, key in (("unjudged", "unjudged"), ("note", "notes"), ("rejected", "rejected")):
        _print_counts(title, summary[key])


def _draw(moments: Iterable[Moment], folder: Path, picture: Picture) -> list[dict[str, Any]]:
    """Draw moments; returns what is on each drawing, the worst first."""
    from driveproof.rules.drawing import draw_moment

    drawn = []
    for rank, moment in enumerate(moments, start=1):
        file = f"worst-{rank:02d}.{picture.value}"
        judged = moment.epdms_judged
        title = f"{moment.scene.record_key}  EPDMS over judged rules {judged:.3f}"
        draw_moment(moment.world, moment.states, moment.verdicts, folder / file, title)
        row = moment.to_row()
        drawn.append(
            {"file": file, **{k: row[k] for k in ("record_key", "EPDMS_judged", "broken")}}
        )
    return drawn


def _write_moments(rows: list[dict[str, Any]], path: Path) -> None:
    """One row a moment; null is unjudged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from driveproof.rules import RULES

    text, texts = pa.string(), pa.list_(pa.string())
    numbers = {name: pa.float64() for name in (*RULES, "EPDMS", "EPDMS_judged")}
    schema = pa.schema(
        {"record_key": text, "scene_key": text, **numbers, "broken": texts, "unjudged": texts}
    )
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, compression="zstd")


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """The folder asked for, or one that is gone afterwards."""
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@contextmanager
def _bar(title: str, total: int | None) -> Iterator[Any]:
    """A progress bar on stderr; yields the function that advances it."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=total)
        yield lambda count: progress.update(task, advance=count)


def _print_estimates(title: str, columns: dict[str, dict[str, Any]]) -> None:
    """One line a rule, one column a kind of estimate."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title, *columns)
    for rule in dict.fromkeys(rule for column in columns.values() for rule in column):
        table.add_row(rule, *(_cell(column.get(rule)) for column in columns.values()))
    Console(markup=False, emoji=False, highlight=False).print(table)


def _cell(estimate: dict[str, Any] | None) -> str:
    from driveproof.evaluation.statistics import bounds_text

    if estimate is None:
        return ""
    if estimate["mean"] is None:
        return f"unscored (lost {estimate['lost']})"
    interval = f"[{bounds_text(estimate['low'], estimate['high'])}]"
    lost = f", lost {estimate['lost']}" if estimate["lost"] else ""
    return f"{estimate['mean']:.3f} {interval} (n {estimate['n']}{lost})"


def _print_counts(title: str, counts: dict[str, int]) -> None:
    from rich.console import Console
    from rich.table import Table

    if counts:
        table = Table(title, "n")
        for name, count in counts.items():
            table.add_row(name, str(count))
        Console(markup=False, emoji=False, highlight=False).print(table)
