"""``driveproof human``: sheets for two annotators, and what they say of the automatic scores."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from driveproof.evaluation.people import PeopleReport

app = typer.Typer(
    help="People's judgement of reasons: sheets to fill in, and agreement.", no_args_is_help=True
)


@app.command()
def sheets(
    answers: Annotated[Path, typer.Argument(help="Table of answers, as `evaluate` writes it.")],
    items: Annotated[Path, typer.Option(help="The questions.")],
    out: Annotated[Path, typer.Option(help="Folder to write; must hold no sheets yet.")],
    texts: Annotated[int, typer.Option(min=1, help="How many rationales are drawn.")] = 40,
    both: Annotated[
        bool, typer.Option("--both", help="Every text to both annotators, else halves.")
    ] = False,
    pairs: Annotated[
        tuple[str, str] | None, typer.Option(help="Two runs to compare text by text.")
    ] = None,
    run: Annotated[list[str] | None, typer.Option(help="Draw from these runs; repeatable.")] = None,
    judge: Annotated[
        str, typer.Option(help="Automatic CFS: offline (with --scenes) or openai:URL#MODEL.")
    ] = "offline",
    scenes: Annotated[Path | None, typer.Option(help="Table of scenes.")] = None,
    images: Annotated[Path, typer.Option(help="Where paths of pictures start.")] = Path(),
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Draws and blinds.")] = 0,
) -> None:
    """Write a CSV to fill in and a page to read for each of two annotators, blinded and shuffled.

    Example: driveproof human sheets reports/evaluate/answers.parquet --items data/mcq/test.parquet --scenes data/scenes --out human
    """
    from driveproof.errors import BadInput
    from driveproof.evaluation.cfs import open_judge
    from driveproof.evaluation.facts import read_facts
    from driveproof.evaluation.people import SheetPlan, write_sheets
    from driveproof.files import check_folder
    from driveproof.mcq import read_items
    from driveproof.mcq.answers import read_answers
    from driveproof.policy import PolicySettings

    check_folder(out, ["key.json"])
    runs = read_answers(answers)
    for name in (*(run or ()), *(pairs or ())):
        if name not in runs:
            raise BadInput("no such run", path=answers, field=name, hint=", ".join(sorted(runs)))
    if run:
        runs = {name: runs[name] for name in {*run, *(pairs or ())}}
    questions = read_items(items)
    keys = {item.record_key for item in questions}
    written = write_sheets(
        runs,
        questions,
        SheetPlan(texts, both, pairs, seed),
        open_judge(judge, PolicySettings(image_root=str(images))),
        out,
        facts=read_facts(scenes, keys) if scenes else None,
        image_root=str(images),
    )
    typer.echo(f"{written['texts']} texts, {written['pairs']} pairs; keep {out / 'key.json'} back")


@app.command()
def agreement(
    folder: Annotated[Path, typer.Argument(help="What `human sheets` wrote, filled in.")],
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of the intervals.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Severe hallucinations, wins, and how people and automatic scores agree.

    Example: driveproof human agreement human
    """
    from driveproof.evaluation.people import report_people

    report = report_people(folder, seed)
    if as_json:
        typer.echo(json.dumps(asdict(report), indent=2))
    else:
        _print(report)


def _print(report: PeopleReport) -> None:
    for run, marks in report.runs.items():
        typer.echo(f"{run}: severe hallucinations {marks.severe}, CFS {marks.cfs}")
    for name, share in report.wins.items():
        typer.echo(f"better: {name} {share}")
    cfs = report.cfs
    typer.echo(
        f"CFS, people and judge: n {cfs.n}, Spearman {_two(cfs.spearman)}, "
        f"mean absolute error {_two(cfs.mean_absolute_error)}, within 0.25 {_two(cfs.within)}"
    )
    rows = {"HLD, people and rule": report.hld}
    rows |= {f"{axis}, between annotators": labels for axis, labels in report.between.items()}
    for name, labels in rows.items():
        typer.echo(f"{name}: n {labels.n}, exact {_two(labels.exact)}, kappa {_two(labels.kappa)}")
    if report.unmarked:
        typer.echo(f"{report.unmarked} fields are empty")


def _two(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
