"""``driveproof evaluate``: ask policies the questions of AD-MCQ."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import TaskID
from rich.table import Table

from driveproof.cli.console import Console, Progress
from driveproof.cli.evaluate_drive import bench2drive, drive, drive_compare
from driveproof.cli.evaluate_retention import retention
from driveproof.cli.evaluate_transfer import transfer
from driveproof.cli.evaluate_vqa import agreement, vqa
from driveproof.config.evaluate import EvaluateParams

if TYPE_CHECKING:
    from driveproof.evaluation import Estimate, Evaluation
    from driveproof.evaluation.grid import GridGain

app = typer.Typer(
    help="Ask policies the questions of AD-MCQ and score them; score answers to driving questions, and drives.",
    no_args_is_help=True,
)
app.command()(vqa)
app.command()(agreement)
app.command()(drive)
app.command()(drive_compare)
app.command()(bench2drive)
app.command()(transfer)
app.command()(retention)


class ModeChoice(StrEnum):
    """How a policy that talks is asked."""

    DEFT = "deft"
    JEFT = "jeft"


class StyleChoice(StrEnum):
    """Wording of the prompts."""

    FULL = "full"
    COMPACT = "compact"


@app.command()
def run(
    items: Annotated[Path, typer.Option(help="Questions, as `driveproof mcq` writes them.")],
    policy: Annotated[list[str], typer.Option(help="See `driveproof policy list`; repeatable.")],
    mode: Annotated[
        list[ModeChoice], typer.Option(help="deft: decide, then match; jeft: at once; repeatable.")
    ] = [ModeChoice.DEFT],  # noqa: B006  typer copies it
    repeats: Annotated[int, typer.Option(min=1, help="How often each question is asked.")] = 8,
    max_items: Annotated[int, typer.Option(min=1, help="Draw so many if there are more.")] = 500,
    style: Annotated[
        StyleChoice | None, typer.Option(help="Default: as the model's folder says, else full.")
    ] = None,
    decimals: Annotated[int | None, typer.Option(min=0, max=6, help="Of waypoints.")] = None,
    frames: Annotated[int | None, typer.Option(min=0, max=4, help="Pictures a camera.")] = None,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 takes the likeliest.")] = 0.6,
    top_p: Annotated[float, typer.Option(min=0.01, max=1.0, help="Nucleus.")] = 0.95,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Of one turn; default 2048, compact 96.")
    ] = None,
    grid: Annotated[
        Path | None,
        typer.Option(help="Ask the difficulty grid, too; the first policy is the base."),
    ] = None,
    grid_repeats: Annotated[int, typer.Option(min=1, help="Of each question of the grid.")] = 1,
    max_grid_records: Annotated[int, typer.Option(min=1, help="Draw so many moments.")] = 100,
    other_pictures: Annotated[
        bool, typer.Option("--other-pictures", help="Ask again with pictures of other drives.")
    ] = False,
    cfs: Annotated[
        str,
        typer.Option(help="Judge the reasons: offline (with --scenes), openai:URL#MODEL, or off."),
    ] = "off",
    scenes: Annotated[
        Path | None, typer.Option(help="Table of scenes, for the offline judge.")
    ] = None,
    images: Annotated[Path, typer.Option(help="Where paths of pictures start.")] = Path(),
    cache: Annotated[Path | None, typer.Option(help="Keep answers of servers here.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Requests to a server at once.")] = 8,
    batch_size: Annotated[int, typer.Option(min=1, help="Of local models.")] = 32,
    threads: Annotated[int, typer.Option(min=0, help="Of local models; 0: their choice.")] = 0,
    workers: Annotated[
        int, typer.Option(min=1, help="Processes, each with a model; they share the runs.")
    ] = 1,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Of sampling, drawing and intervals.")
    ] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for all results; replaced.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Ask policies questions and print accuracy and consistency with intervals.

    Example: driveproof evaluate run --items data/mcq/test.parquet --policy random --policy oracle

    Example: driveproof evaluate run --items data/mcq/test.parquet --policy transformers:models/sft
    --mode deft --mode jeft --other-pictures --json

    Example: driveproof evaluate run --items data/mcq/test.parquet --grid data/mcq/grid.parquet
    --policy transformers:models/sft --policy transformers:models/grpo/deft_rlvr --out reports/grid
    """
    from driveproof.errors import BadInput
    from driveproof.evaluation import evaluate, summary_of, write_evaluation
    from driveproof.evaluation.facts import read_facts
    from driveproof.evaluation.grid import grid_gains
    from driveproof.evaluation.manner import asking
    from driveproof.files import check_folder, write_json
    from driveproof.mcq import read_items

    params = EvaluateParams(
        policies=tuple(policy),
        baselines=(),
        modes=tuple(m.value for m in mode),
        pictures=("other",) if other_pictures else (),
        **asking(policy, style.value if style else None, decimals, frames, max_tokens),
        repeats=repeats,
        picture_repeats=repeats,
        grid_repeats=grid_repeats if grid else 0,
        max_grid_records=max_grid_records,
        cfs=cfs,
        temperature=temperature,
        top_p=top_p,
        max_items=max_items,
        batch_size=batch_size,
        threads=threads,
        concurrency=concurrency,
        workers=workers,
    )
    if cfs == "offline" and scenes is None:
        raise BadInput("the offline judge needs the scenes", field="--cfs", hint="name --scenes")
    if out is not None:
        check_folder(out, ["summary.json"])
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bars: dict[str, TaskID] = {}

        def watch(name: str, done: int, total: int) -> None:
            if name not in bars:
                bars[name] = progress.add_task(name, total=total)
            progress.update(bars[name], completed=done)

        asked = read_items(items)
        keys = {item.record_key for item in asked}
        result = evaluate(
            params,
            asked,
            read_items(grid) if grid else (),
            facts=read_facts(scenes, keys) if scenes else None,
            seed=seed,
            image_root=str(images),
            cache_dir=str(cache) if cache else None,
            watch=watch,
        )
    gains = grid_gains(result, seed)
    if out:
        write_evaluation(result, out)
        if gains:
            write_json(out / "grid.json", [asdict(gain) for gain in gains])
    summary = summary_of(result)
    if as_json:
        summary["grid_gains"] = [asdict(gain) for gain in gains]
        typer.echo(json.dumps(summary, indent=2, sort_keys=True))
    else:
        print_evaluation(result)
        print_grids(result, gains)
    check_answers(result)


def check_answers(result: Evaluation) -> None:
    """Results are written and printed, yet a run that lost every answer measured nothing: say so in the exit code."""
    from driveproof.errors import Unreachable

    for name, done in result.runs.items():
        if 0 < done.report.answers == done.report.lost:
            reason = next((a.error for a in done.answers if a.error), "")
            raise Unreachable(f"every answer was lost: {reason}", field=name)


def print_evaluation(result: Evaluation) -> None:
    """One row a run, and what pictures change."""
    table = Table("run", "questions", "ACC", "CFS", "HLD", "invalid", "lost")
    for name, done in result.runs.items():
        report = done.report
        share = f"{report.invalid}/{report.answers}"
        reasons = brief(done.cfs.score) if done.cfs else ""
        row = (name, str(report.items), brief(report.accuracy), reasons, brief(report.hld), share)
        table.add_row(*row, str(report.lost))
    Console().print(table)
    for name, change in result.dependence.items():
        typer.echo(
            f"{name}: ACC drops by {brief(change.accuracy_drop)}, HLD by {brief(change.hld_drop)}, "
            f"decisions changed {brief(change.decisions_changed)}"
        )


def print_grids(result: Evaluation, gains: Sequence[GridGain]) -> None:
    """Accuracy by cell of every run over the grid, and what each gains over the first."""
    from driveproof.report.tables import grid

    tables = [
        (f"ACC, {name}", {cell: part["accuracy"] for cell, part in run.report.by_variant.items()})
        for name, run in result.runs.items()
        if run.grid
    ]
    tables += [(f"{gain.run} minus {gain.base}", gain.cells) for gain in gains]
    for caption, cells in tables:
        drawn = grid(caption, {cell: brief(value) for cell, value in cells.items()})
        table = Table(*drawn.head, title=caption)
        for row in drawn.rows:
            table.add_row(*row)
        Console().print(table)
    for gain in gains:
        where = "in every cell" if gain.everywhere else "not in every cell"
        typer.echo(f"{gain.run} gains {brief(gain.overall)} over {gain.base}, {where}")


def brief(estimate: Estimate) -> str:
    """Mean and interval in words."""
    from driveproof.evaluation.statistics import bounds_text

    if estimate.mean is None:
        return "unscored"
    return f"{estimate.mean:.3f} ({bounds_text(estimate.low, estimate.high, joint=' to ')})"
