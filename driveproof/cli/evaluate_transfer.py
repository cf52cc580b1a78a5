"""``driveproof evaluate transfer``: the questions of another source of logs beside the own ones."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from driveproof.cli.console import Console, Progress

if TYPE_CHECKING:
    from driveproof.config.evaluate import EvaluateParams
    from driveproof.evaluation import Evaluation
    from driveproof.evaluation.transfer import Side


class Built(StrEnum):
    """How the questions of both sources are made."""

    HARD = "hard"
    NATURAL = "natural"


def transfer(
    policy: Annotated[list[str], typer.Option(help="See `driveproof policy list`; repeatable.")],
    scenes: Annotated[Path, typer.Option(help="Scenes of the other source, all of its drives.")],
    codebook: Annotated[Path, typer.Option(help="The codebook (.npz) of the own questions.")],
    out: Annotated[Path, typer.Option(help="Folder for questions, answers and summary; replaced.")],
    own_scenes: Annotated[
        Path, typer.Option(help="Own scenes with splits.json; their test drives are asked.")
    ] = Path("data/scenes"),
    construction: Annotated[
        Built, typer.Option(help="hard: as the test questions; natural: as the training ones.")
    ] = Built.HARD,
    params: Annotated[
        Path | None, typer.Option(help="params.yaml whose section mcq is used; default built-in.")
    ] = None,
    mode: Annotated[str, typer.Option(help="deft or jeft.")] = "deft",
    repeats: Annotated[int, typer.Option(min=1, help="How often each question is asked.")] = 8,
    max_items: Annotated[int, typer.Option(min=1, help="Draw so many of a side.")] = 500,
    style: Annotated[
        str | None, typer.Option(help="full or compact; default: as the model's folder says.")
    ] = None,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 takes the likeliest.")] = 0.6,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Of one turn.")] = None,
    cfs: Annotated[
        str, typer.Option(help="Judge the reasons: offline, openai:URL#MODEL, or off.")
    ] = "offline",
    images: Annotated[Path, typer.Option(help="Where paths of pictures start.")] = Path(),
    cache: Annotated[Path | None, typer.Option(help="Keep answers of servers here.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Requests to a server at once.")] = 8,
    batch_size: Annotated[int, typer.Option(min=1, help="Of local models.")] = 32,
    threads: Annotated[int, typer.Option(min=0, help="Of local models; 0: their choice.")] = 0,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of everything drawn.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Ask about another source of logs with the same codebook, beside the own test drives.

    Example: driveproof evaluate transfer --policy transformers:models/sft --scenes data/av2
    --codebook data/codebook/codebook.npz --params params.yaml --out reports/transfer
    """
    from driveproof.config.evaluate import EvaluateParams
    from driveproof.errors import BadInput
    from driveproof.evaluation.manner import asking
    from driveproof.evaluation.transfer import WRITTEN, Transfer, findings, write_transfer
    from driveproof.files import check_folder

    if mode not in ("deft", "jeft"):
        raise BadInput(f"no such mode: {mode}", field="--mode", hint="deft or jeft")
    check_folder(out, WRITTEN)
    settings = EvaluateParams(
        policies=tuple(policy),
        baselines=("constant_velocity", "random"),
        modes=(mode,),  # type: ignore[arg-type]  # checked above
        pictures=(),
        **asking(policy, style, max_tokens=max_tokens),
        repeats=repeats,
        grid_repeats=0,
        cfs=cfs,
        temperature=temperature,
        max_items=max_items,
        concurrency=concurrency,
        batch_size=batch_size,
        threads=threads,
    )
    sides = _sides(own_scenes, scenes, codebook, params, construction, seed)
    folders = {"own": own_scenes, "other": scenes}
    asked = {
        name: _ask(name, side, folders[name], settings, seed, images, cache)
        for name, side in sides.items()
    }
    summary = write_transfer(
        Transfer(sides["own"], sides["other"], asked, seed, construction.value), out
    )
    if as_json:
        typer.echo(json.dumps(summary, indent=2, sort_keys=True))
        return
    _print(summary)
    for sentence in findings(summary):
        typer.echo(sentence)


def _sides(
    own: Path, other: Path, book: Path, params: Path | None, construction: Built, seed: int
) -> dict[str, Side]:
    """The questions of both sources: of the own one only of drives that nothing was trained on."""
    from driveproof.codebook import TrajectoryCodebook
    from driveproof.codebook.trajectories import load_splits
    from driveproof.config import load_params
    from driveproof.config.mcq import McqParams
    from driveproof.errors import BadInput
    from driveproof.evaluation.transfer import build_side, check_apart
    from driveproof.mcq.candidates import Vocabulary
    from driveproof.mcq.source import read_moments

    section = load_params(params).mcq if params is not None else McqParams()
    vocabulary = Vocabulary(TrajectoryCodebook.load(book))
    splits = load_splits(own / "splits.json")
    tested = [scene for scene in read_moments(own) if splits.get(scene.scene_key) == "test"]
    found = {}
    for name, path, moments in (("own", own, tested), ("other", other, read_moments(other))):
        try:
            found[name] = build_side(moments, vocabulary, section, seed, construction.value)
        except BadInput as error:
            raise BadInput(error.problem, path=path, hint=error.hint) from None
    check_apart(found["own"], found["other"])
    return found


def _ask(
    name: str,
    side: Side,
    scenes: Path,
    settings: EvaluateParams,
    seed: int,
    images: Path,
    cache: Path | None,
) -> Evaluation:
    from driveproof.evaluation import evaluate
    from driveproof.evaluation.facts import read_facts

    keys = {item.record_key for item in side.items}
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bars = {}

        def watch(run: str, done: int, total: int) -> None:
            if run not in bars:
                bars[run] = progress.add_task(f"{name}: {run}", total=total)
            progress.update(bars[run], completed=done)

        return evaluate(
            settings,
            side.items,
            facts=read_facts(scenes, keys) if settings.cfs == "offline" else None,
            seed=seed,
            image_root=str(images),
            cache_dir=str(cache) if cache else None,
            watch=watch,
        )


def _print(summary: dict[str, Any]) -> None:
    from driveproof.report.tables import estimate, number

    table = Table("questions", "own", "other", title="The questions and the codebook")
    sides = [summary["sides"][name] for name in ("own", "other")]
    for key in ("moments", "questions", "drives", "with_pictures"):
        table.add_row(key.replace("_", " "), *(number(side[key]) for side in sides))
    for key in ("ade", "fde"):
        for part in ("mean", "p95"):
            values = (number(side["codebook"][key][part]) for side in sides)
            table.add_row(f"codebook {key.upper()} {part}, m", *values)
    table.add_row("oracle ADE, m", *(estimate(side["oracle_ade"]) for side in sides))
    nearest = (number(side["separation"]["nearest_distractor_ade"]["p50"]) for side in sides)
    table.add_row("nearest distractor ADE P50, m", *nearest)
    console = Console()
    console.print(table)
    answers = Table("run", "figure", "own", "other", "drop", title="The answers")
    for name, run in summary["runs"].items():
        for key, word in (("accuracy", "ACC"), ("hld", "HLD")):
            figures = (run["own"][key], run["other"][key], run["drop"][key])
            answers.add_row(name, word, *map(estimate, figures))
        judged = [run[side]["cfs"] for side in ("own", "other")]
        if all(judged):
            scores = (estimate(each["score"]) for each in judged)
            answers.add_row(name, "CFS", *scores, number(run["drop"]["cfs"]))
        fitting = estimate(run["fitting"])
        answers.add_row(name, "ACC where the codebook fits", "", fitting, "")
    console.print(answers)
