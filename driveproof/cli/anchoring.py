"""``driveproof anchoring``: does seeing the outcome change a teacher's reasons?"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from driveproof.evaluation.anchoring import AnchoringReport


def command(
    teacher: Annotated[str, typer.Option(help="A model that talks, for example openai:URL#MODEL.")],
    items: Annotated[Path, typer.Option(help="Questions; their options are not used.")],
    out: Annotated[Path | None, typer.Option(help="Folder for summary and answers.")] = None,
    judge: Annotated[
        str, typer.Option(help="CFS: offline (with --scenes) or openai:URL#MODEL.")
    ] = "offline",
    scenes: Annotated[Path | None, typer.Option(help="Table of scenes.")] = None,
    max_items: Annotated[int, typer.Option(min=1, help="Draw so many if there are more.")] = 100,
    repeats: Annotated[int, typer.Option(min=1, help="How often each arm is asked.")] = 1,
    style: Annotated[Literal["full", "compact"], typer.Option(help="Of the prompts.")] = "full",
    temperature: Annotated[float, typer.Option(min=0.0, help="0 takes the likeliest.")] = 0.6,
    max_tokens: Annotated[int, typer.Option(min=1, help="Longest answer.")] = 2048,
    images: Annotated[Path, typer.Option(help="Where paths of pictures start.")] = Path(),
    cache: Annotated[Path | None, typer.Option(help="Keep replies of servers here.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Requests at once.")] = 8,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Sampling, intervals.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask a teacher about each scene with and without the logged future, all else byte for byte the same.

    Example: driveproof anchoring --teacher openai:http://127.0.0.1:8000/v1#MODEL --items data/mcq/dev.parquet --scenes data/scenes
    """
    from driveproof.cli.console import Console, Progress
    from driveproof.errors import BadInput, Unreachable
    from driveproof.evaluation.anchoring import (
        AnchoringSettings,
        ask_arms,
        report_anchoring,
        write_anchoring,
    )
    from driveproof.evaluation.cfs import open_judge
    from driveproof.evaluation.facts import read_facts
    from driveproof.evaluation.run import draw
    from driveproof.files import check_folder
    from driveproof.mcq import read_items
    from driveproof.policy import ChatPolicy, PolicySettings, open_policy
    from driveproof.prompts import STYLES, prompt_hash

    if judge == "offline" and scenes is None:
        raise BadInput("the offline judge needs the scenes", field="--judge", hint="name --scenes")
    if out is not None:
        check_folder(out, ["summary.json"])
    opening = PolicySettings(
        image_root=str(images),
        concurrency=concurrency,
        cache_dir=str(cache) if cache else None,
    )
    policy = open_policy(teacher, opening)
    if not isinstance(policy, ChatPolicy):
        raise BadInput(f"cannot reason: {teacher}", hint="openai:URL#MODEL")
    asked = draw(read_items(items), max_items, seed)
    settings = AnchoringSettings(
        STYLES[style],
        repeats=repeats,
        temperature=temperature,
        max_tokens=max_tokens,
        seed=seed,
    )
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("asking", total=2 * repeats * len(asked))
        answers = ask_arms(policy, asked, settings, lambda n: progress.advance(bar, n))
    facts = read_facts(scenes, {item.record_key for item in asked}) if scenes else None
    report = report_anchoring(asked, answers, open_judge(judge, opening), facts=facts, seed=seed)
    identity = {
        "teacher": policy.identity(),
        "prompt_hash": prompt_hash(settings.style),
        "seed": seed,
        "temperature": temperature,
        "judge": judge,
    }
    if out is not None:
        write_anchoring(report, answers, identity, out)
    if as_json:
        typer.echo(json.dumps({**asdict(report), "settings": identity}, indent=2))
    else:
        _print(report)
    if report.cfs.difference.n == 0:
        reason = next(iter(report.arms["causal"].reasons), "")
        raise Unreachable(f"no question was judged in both arms: {reason}")


def _print(report: AnchoringReport) -> None:
    rows = {"CFS": report.cfs, **report.axes, "severe hallucination": report.severe}
    rows |= {"HLD": report.hld, **{f"CFS, {n}": e for n, e in report.by_class.items()}}
    for name, effect in rows.items():
        typer.echo(
            f"{name}: causal {effect.causal}, anchored {effect.anchored}, difference {effect.difference}"
        )
