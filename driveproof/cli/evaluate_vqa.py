"""``driveproof evaluate vqa`` and ``agreement``: answers to driving questions, and how graders agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from driveproof.cli.console import Console, Progress

if TYPE_CHECKING:
    from driveproof.evaluation.vqa.judge import FormJudge
    from driveproof.evaluation.vqa.run import VqaReport

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def vqa(
    truth: Annotated[Path, typer.Option(help="Folder of `driveproof comment`.")],
    answers: Annotated[
        Path,
        typer.Option(
            help="Answers of a model (.jsonl or .parquet): clip, frame, number, subject, text."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder for scores.parquet and summary.json.")
    ] = None,
    clips: Annotated[
        list[Path] | None, typer.Option(help="Clips, to score waypoints (question 42); repeatable.")
    ] = None,
    judge: Annotated[
        str,
        typer.Option(help="Model that reads what rules cannot, openai:URL#MODEL; none by default."),
    ] = "",
    cache: Annotated[Path | None, typer.Option(help="Keep the judge's replies here.")] = None,
    peer_rules: Annotated[
        bool,
        typer.Option("--peer-rules", help="Score by the published program's arithmetic instead."),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of the intervals.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Score answers to driving questions against the expert's, by the equations of Bench2Drive-VL.

    Example: driveproof evaluate vqa --truth data/vqa-one --answers answers.jsonl --out reports/vqa-one
    """
    from driveproof.evaluation.vqa.replays import ClipReplays
    from driveproof.evaluation.vqa.run import score_file, write_scores
    from driveproof.files import check_folder

    if out is not None:
        check_folder(out, ["summary.json"])
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("scoring", total=None)
        scored, report = score_file(
            truth,
            answers,
            judge=_judge(judge, cache),
            replays=ClipReplays(clips) if clips else None,
            seed=seed,
            peer_rules=peer_rules,
            progress=lambda count: bar.advance(task, count),
        )
    if out is not None:
        write_scores(
            scored, report, out, {"seed": seed, "judge_policy": judge, "peer_rules": peer_rules}
        )
    if as_json:
        typer.echo(json.dumps(report.to_json(), indent=2))
    else:
        print_report(report)


def _judge(spec: str, cache: Path | None) -> FormJudge | None:
    if not spec:
        return None
    from driveproof.errors import BadInput
    from driveproof.evaluation.vqa.judge import FormJudge
    from driveproof.policy import ChatPolicy, PolicySettings, open_policy

    policy = open_policy(spec, PolicySettings(cache_dir=str(cache) if cache else None))
    if not isinstance(policy, ChatPolicy):
        raise BadInput(
            "is no model that reads", field=spec, hint="openai:http://host:8000/v1#MODEL"
        )
    return FormJudge(policy)


def print_report(report: VqaReport) -> None:
    """Scores by question and category, and what has none."""
    table = Table("question", "score", "n", "lost")
    for number, estimate in report.by_question.items():
        table.add_row(str(number), _brief(estimate.mean), str(estimate.n), str(estimate.lost))
    for category, estimate in report.by_category.items():
        table.add_row(category, _brief(estimate.mean), str(estimate.n), str(estimate.lost))
    Console().print(table)
    typer.echo(
        f"overall {report.overall}; not answered {report.missing}, partly unread {report.unread}"
    )
    for reason, count in report.unscored.items():
        typer.echo(f"unscored: {count} ({reason})")


def _brief(mean: float | None) -> str:
    return "unscored" if mean is None else f"{mean:.1f}"


def agreement(
    grades: Annotated[
        Path, typer.Argument(help="CSV with the columns item, grader, score (0 to 100).")
    ],
    as_json: AsJson = False,
) -> None:
    """How well graders agree: our scores, a judge's and people's (Spearman, quadratic kappa, within one step).

    Example: driveproof evaluate agreement grades.csv
    """
    from driveproof.evaluation.vqa.agreement import agreements, read_grades

    found = agreements(read_grades(grades))
    if as_json:
        typer.echo(json.dumps([pair.to_json() for pair in found], indent=2))
        return
    table = Table("graders", "n", "Spearman", "kappa", "within one step")
    for pair in found:
        cells = (_two(pair.spearman), _two(pair.kappa), _two(pair.within_one))
        table.add_row(f"{pair.first}, {pair.second}", str(pair.n), *cells)
    Console().print(table)


def _two(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
