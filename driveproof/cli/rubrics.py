"""``driveproof rubrics``: make, look at and check what a good reason for a scene has to say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Rubrics: what a good reason for a scene has to say, for rewards.", no_args_is_help=True
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Rubrics = Annotated[Path, typer.Argument(help="A parquet file of rubrics.")]


@app.command()
def make(
    items: Annotated[Path, typer.Option(help="Questions, as `driveproof mcq` writes them.")],
    scenes: Annotated[Path, typer.Option(help="Table of scenes; read until t = 0.")],
    out: Annotated[Path, typer.Option(help="Folder to write; replaced.")],
    clips: Annotated[
        Path | None, typer.Option(help="Recorded clips: closer names, where a scene's lies here.")
    ] = None,
    params: Annotated[
        Path | None, typer.Option(help="params.yaml whose section rubrics is used.")
    ] = None,
    generator: Annotated[
        str, typer.Option(help="offline or openai:URL#MODEL; overrides params.")
    ] = "",
    images: Annotated[Path, typer.Option(help="Where paths of pictures start.")] = Path(),
    cache: Annotated[Path | None, typer.Option(help="Keep a model's replies here.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of a model's sampling.")] = 0,
    as_json: Json = False,
) -> None:
    """Make one rubric a scene, from its past alone.

    Example: driveproof rubrics make --items data/mcq/train.parquet --scenes data/scenes --out data/rubrics --clips data/raw
    """
    from driveproof.cli.console import Console, Progress
    from driveproof.config import load_params
    from driveproof.config.rubrics import RubricsParams
    from driveproof.evaluation.facts import read_facts
    from driveproof.files import check_folder
    from driveproof.mcq import read_items
    from driveproof.rewards.commented import commented_facts
    from driveproof.rewards.generate import make_rubrics, some_rubrics, summary_of, write_rubric_set

    check_folder(out, ["summary.json"])
    section = load_params(params).rubrics if params is not None else RubricsParams()
    if generator:
        section = section.model_copy(update={"generator": generator})
    seen = [item.observation for item in read_items(items)]
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        keys = {observation.record_key for observation in seen}
        facts = read_facts(scenes, keys)
        if clips is not None:
            naming = progress.add_task("naming", total=len(facts))
            facts = commented_facts(facts, clips, lambda n: progress.advance(naming, n))
        writing = progress.add_task("writing", total=len(keys))
        made = make_rubrics(
            seen,
            facts,
            section,
            seed=seed,
            image_root=str(images),
            cache_dir=str(cache) if cache else None,
            progress=lambda n: progress.advance(writing, n),
        )
    write_rubric_set(some_rubrics(made), out, items.stem)
    _print(summary_of(made), as_json)


@app.command()
def show(
    path: Rubrics,
    record: Annotated[str, typer.Argument(help="Record key.")],
    trace: Annotated[str, typer.Option(help="A turn-1 text to grade offline.")] = "",
    as_json: Json = False,
) -> None:
    """Print the criteria of one scene; with a text, which of them it meets.

    Example: driveproof rubrics show data/rubrics/train.parquet RECORD --trace "signal red 20 ahead clear"
    """
    from driveproof.errors import BadInput
    from driveproof.evaluation.normalise import normalise
    from driveproof.rewards import OfflineGrader, read_rubrics
    from driveproof.rewards.rubrics import rubric_json

    rubric = read_rubrics(path).get(record)
    if rubric is None:
        raise BadInput("no rubric of that record", path=path, field=record)
    met = OfflineGrader().grade(rubric, normalise(trace)) if trace else ()
    if as_json:
        found = json.loads(rubric_json(rubric))
        typer.echo(json.dumps(found | ({"met": list(met)} if trace else {}), indent=2))
        return
    for number, criterion in enumerate(rubric.criteria):
        mark = ("+ " if met[number] else "- ") if trace else ""
        typer.echo(f"{mark}{number + 1}. [{criterion.weight}] {criterion.text}")
    if trace:
        typer.echo(f"share {rubric.share(met):.3f}")


@app.command()
def check(
    path: Rubrics,
    items: Annotated[
        Path | None, typer.Option(help="Questions that each must have a rubric.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check every rubric of a file; exit code 1 if a question has none.

    Example: driveproof rubrics check data/rubrics/train.parquet --items data/mcq/train.parquet
    """
    from driveproof.errors import GateFailed
    from driveproof.mcq import read_items
    from driveproof.rewards import read_rubrics
    from driveproof.rewards.generate import RubricSet, summary_of

    rubrics = read_rubrics(path)
    _print(summary_of(RubricSet(list(rubrics.values()), {})), as_json)
    wanted = [item.record_key for item in read_items(items)] if items is not None else []
    missing = sorted(set(wanted) - set(rubrics))
    if missing:
        raise GateFailed(
            f"{len(missing)} of {len(set(wanted))} questions have no rubric",
            path=path,
            field=missing[0],
        )


def _print(summary: dict[str, object], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(summary, indent=2, sort_keys=True))
        return
    for name, value in summary.items():
        typer.echo(f"{name.replace('_', ' ')}: {value}")
