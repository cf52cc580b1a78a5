"""``driveproof evaluate``: ask policies the questions of AD-MCQ."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table

from driveproof.cli.evaluate_drive import bench2drive, drive, drive_compare
from driveproof.cli.evaluate_vqa import agreement, vqa
from driveproof.config.evaluate import EvaluateParams

if TYPE_CHECKING:
    from driveproof.evaluation import Estimate, Evaluation

app = typer.Typer(
    help="Ask policies the questions of AD-MCQ and score them; score answers to driving questions, and drives.",
    no_args_is_help=True,
)
app.command()(vqa)
app.command()(agreement)
app.command()(drive)
app.command()(drive_compare)
app.command()(bench2drive)


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
        StyleChoice, typer.Option(help="compact only for models trained with it.")
    ] = StyleChoice.FULL,
    decimals: Annotated[int | None, typer.Option(min=0, max=6, help="Of waypoints.")] = None,
    frames: Annotated[int | None, typer.Option(min=0, max=4, help="Pictures a camera.")] = None,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 takes the likeliest.")] = 0.6,
    top_p: Annotated[float, typer.Option(min=0.01, max=1.0, help="Nucleus.")] = 0.95,
    max_tokens: Annotated[int, typer.Option(min=1, help="Of one turn.")] = 2048,
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
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Of sampling, drawing and intervals.")
    ] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for all results; replaced.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Ask policies questions and print accuracy and consistency with intervals.

    Example: driveproof evaluate run --items data/mcq/test.parquet --policy random --policy oracle

    Example: driveproof evaluate run --items data/mcq/test.parquet --policy transformers:models/sft
    --style compact --mode deft --mode jeft --other-pictures --max-tokens 96 --json
    """
    from driveproof.errors import BadInput
    from driveproof.evaluation import evaluate, summary_of, write_evaluation
    from driveproof.evaluation.facts import read_facts
    from driveproof.files import check_folder
    from driveproof.mcq import read_items
    from driveproof.prompts import STYLES

    named = STYLES[style.value]
    params = EvaluateParams(
        policies=tuple(policy),
        baselines=(),
        modes=tuple(m.value for m in mode),
        pictures=("other",) if other_pictures else (),
        style=style.value,
        decimals=named.decimals if decimals is None else decimals,
        frames=named.frames if frames is None else frames,
        waypoint_every=named.waypoint_every,  # type: ignore[arg-type]  # the style has checked it
        repeats=repeats,
        picture_repeats=repeats,
        grid_repeats=0,
        cfs=cfs,
        temperature=temperature,
        top_p=top_p,
        max_tokens=max_tokens,
        max_items=max_items,
        batch_size=batch_size,
        threads=threads,
        concurrency=concurrency,
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
            facts=read_facts(scenes, keys) if scenes else None,
            seed=seed,
            image_root=str(images),
            cache_dir=str(cache) if cache else None,
            watch=watch,
        )
    if out:
        write_evaluation(result, out)
    summary = summary_of(result)
    if as_json:
        typer.echo(json.dumps(summary, indent=2, sort_keys=True))
    else:
        _print(result)
    _check_answers(result)


def _check_answers(result: Evaluation) -> None:
    """Results are written and printed, yet a run that lost every answer measured nothing: say so in the exit code."""
    from driveproof.errors import Unreachable

    for name, done in result.runs.items():
        if 0 < done.report.answers == done.report.lost:
            reason = next((a.error for a in done.answers if a.error), "")
            raise Unreachable(f"every answer was lost: {reason}", field=name)


def _print(result: Evaluation) -> None:
    table = Table("run", "questions", "ACC", "CFS", "HLD", "invalid", "lost")
    for name, done in result.runs.items():
        report = done.report
        share = f"{report.invalid}/{report.answers}"
        reasons = _brief(done.cfs.score) if done.cfs else ""
        row = (name, str(report.items), _brief(report.accuracy), reasons, _brief(report.hld), share)
        table.add_row(*row, str(report.lost))
    Console().print(table)
    for name, change in result.dependence.items():
        typer.echo(
            f"{name}: ACC drops by {_brief(change.accuracy_drop)}, HLD by {_brief(change.hld_drop)}, "
            f"decisions changed {_brief(change.decisions_changed)}"
        )


def _brief(estimate: Estimate) -> str:
    if estimate.mean is None:
        return "unscored"
    return f"{estimate.mean:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"
