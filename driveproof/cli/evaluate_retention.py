"""``driveproof evaluate retention``: what training cost a model elsewhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from driveproof.cli.console import Console, Progress

if TYPE_CHECKING:
    from driveproof.evaluation.retention import Change
    from driveproof.evaluation.retention_probe import ProbeRow
    from driveproof.policy import PolicySettings


def retention(
    before: Annotated[
        str, typer.Option(help="Folder of VLMEvalKit; with --probe the policy (`policy list`).")
    ],
    after: Annotated[str, typer.Option(help="The same of the trained model.")],
    probe: Annotated[
        bool, typer.Option("--probe", help="Ask the built-in questions about made pictures.")
    ] = False,
    questions: Annotated[int, typer.Option(min=1, help="Probe: of each of five kinds.")] = 40,
    max_tokens: Annotated[int, typer.Option(min=1, help="Probe: of an answer.")] = 64,
    threads: Annotated[int, typer.Option(min=0, help="Probe: of local models.")] = 0,
    before_model: Annotated[
        str, typer.Option(help="The model's name in VLMEvalKit, if its folder is not called so.")
    ] = "",
    after_model: Annotated[str, typer.Option(help="The same after training.")] = "",
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of pictures and intervals.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for summary.json; replaced.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Compare general visual capability before and after training, by VLMEvalKit's results or by a small probe.

    Example: driveproof evaluate retention --before work/base --after work/deft_rlvr --out reports/retention

    Example: driveproof evaluate retention --probe --before baseline:qwen3-vl-8b --after transformers:models/grpo/deft_rlvr
    """
    from driveproof.files import atomic_dir, check_folder, write_json

    if out is not None:
        check_folder(out, ["summary.json"])
    if probe:
        from driveproof.policy import PolicySettings

        settings = PolicySettings(seed=seed, threads=threads)
        summary, rows = _probe(before, after, questions, max_tokens, settings, seed)
    else:
        summary, changes = _results(before, after, before_model, after_model, seed)
    if out is not None:
        with atomic_dir(out) as folder:
            write_json(folder / "summary.json", summary)
    if as_json:
        typer.echo(json.dumps(summary, indent=2, sort_keys=True))
    elif probe:
        _print_probe(summary, rows)
    else:
        _print_results(summary, changes)


def _probe(
    before: str,
    after: str,
    per_kind: int,
    max_tokens: int,
    settings: PolicySettings,
    seed: int,
) -> tuple[dict[str, Any], list[ProbeRow]]:
    from driveproof.evaluation.retention_probe import (
        ask_probe,
        compare_probes,
        make_probe,
        verdict,
    )
    from driveproof.policy import open_policy

    asked = make_probe(per_kind, seed)
    console = Console(stderr=True)
    answers, identities = {}, {}
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        for name, spec in (("before", before), ("after", after)):
            policy = open_policy(spec, settings)
            task = progress.add_task(f"{name}: {policy.name}", total=len(asked))
            identities[name] = policy.identity()
            answers[name] = ask_probe(
                policy,
                asked,
                max_tokens=max_tokens,
                progress=lambda count, task=task: progress.advance(task, count),  # type: ignore[misc]
            )
    rows = compare_probes(asked, answers["before"], answers["after"], seed)
    summary = {
        "kind": "probe",
        "seed": seed,
        "policies": identities,
        "invalid": {name: given.invalid for name, given in answers.items()},
        "rows": [asdict(row) for row in rows],
        "verdict": verdict(rows),
    }
    return summary, rows


def _results(
    before: str, after: str, before_model: str, after_model: str, seed: int
) -> tuple[dict[str, Any], list[Change]]:
    from driveproof.evaluation.retention import averages, compare_results, read_results

    found = read_results(before, before_model), read_results(after, after_model)
    changes = compare_results(found[0], found[1], seed)
    summary = {
        "kind": "vlmevalkit",
        "seed": seed,
        "benchmarks": [asdict(change) for change in changes],
        "averages": averages(changes),
        "only_before": sorted(found[0].keys() - found[1].keys()),
        "only_after": sorted(found[1].keys() - found[0].keys()),
    }
    return summary, changes


def _print_probe(summary: dict[str, Any], rows: Sequence[ProbeRow]) -> None:
    table = Table("questions", "n", "chance", "before", "after", "after minus before")
    for row in rows:
        figures = (row.before, row.after, row.difference)
        table.add_row(row.kind, str(row.questions), f"{row.chance:.3f}", *map(str, figures))
    Console().print(table)
    unread = summary["invalid"]
    typer.echo(f"Unreadable answers: {unread['before']} before, {unread['after']} after.")
    typer.echo(summary["verdict"])


def _print_results(summary: dict[str, Any], changes: Sequence[Change]) -> None:
    from driveproof.report.tables import MISSING, number

    table = Table("benchmark", "group", "questions", "before", "after", "difference", "paired")
    for change in changes:
        factor = 1 if change.points else 100
        scores = (change.before, change.after, change.difference)
        written = (number(None if s is None else factor * s, 2) for s in scores)
        paired = "no file of single questions" if change.paired is None else str(change.paired)
        asked = number(change.questions)
        table.add_row(change.benchmark, change.group or MISSING, asked, *written, paired)
    console = Console()
    console.print(table)
    means = Table("mean of", "benchmarks", "before", "after", "difference")
    for name, part in summary["averages"].items():
        values = (f"{100 * part[key]:.2f}" for key in ("before", "after", "difference"))
        means.add_row(name, str(part["benchmarks"]), *values)
    console.print(means)
    for key, word in (("only_before", "before"), ("only_after", "after")):
        if summary[key]:
            typer.echo(f"Only {word}: {', '.join(summary[key])}.")
