"""``driveproof evaluate drive``, ``drive-compare`` and ``bench2drive``: what drives are worth."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from driveproof.cli.console import Console, track

if TYPE_CHECKING:
    from driveproof.evaluation import Estimate
    from driveproof.evaluation.driving.answers import AnswersReport, Relation
    from driveproof.evaluation.driving.compare import Comparison
    from driveproof.evaluation.driving.failures import Failure
    from driveproof.evaluation.driving.scores import DrivingScores, Group


class VariantChoice(StrEnum):
    """Whose arithmetic."""

    BENCH2DRIVE = "bench2drive"
    CORRECTED = "corrected"


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of the intervals.")]
WhichVariant = Annotated[
    VariantChoice,
    typer.Option(help="bench2drive: the published arithmetic; corrected: its defects repaired."),
]
SuiteFile = Annotated[
    Path | None, typer.Option(help="Route file that says which routes there should be.")
]


def drive(
    runs: Annotated[list[Path], typer.Argument(help="Directories of `driveproof drive`.")],
    variant: WhichVariant = VariantChoice.CORRECTED,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Write Bench2Drive's checkpoint file here (one run).")
    ] = None,
    merged: Annotated[
        Path | None, typer.Option(help="Write Bench2Drive's merged file here (one run).")
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Score runs: driving score, success, efficiency, comfort, abilities, why routes fail, and answers beside.

    Example: driveproof evaluate drive runs/tiny --variant bench2drive --checkpoint tiny.json
    """
    from driveproof.errors import BadInput
    from driveproof.evaluation.driving.runs import read_run
    from driveproof.files import check_file

    if (checkpoint or merged) and len(runs) > 1:
        raise BadInput("one file can hold one run only", field="--checkpoint, --merged")
    for target in (checkpoint, merged):
        if target is not None:
            check_file(target)
    found = {}
    for path in track(runs, "scoring"):
        run = read_run(path)
        found[str(path)] = _evaluate(run, variant, seed)
        _write_theirs(run, checkpoint, merged)
    if as_json:
        plain = {name: _plain(*parts) for name, parts in found.items()}
        typer.echo(json.dumps(plain[str(runs[0])] if len(runs) == 1 else plain, indent=2))
        return
    _print_overall({name: scores for name, (scores, _, _) in found.items()})
    for name, (scores, failures, answers) in found.items():
        if len(found) > 1:
            typer.echo(f"\n{name}")
        _print_groups(scores)
        _print_failures(failures)
        _print_answers(answers)


def drive_compare(
    first: Annotated[Path, typer.Argument(help="Directory of a run.")],
    second: Annotated[Path, typer.Argument(help="Directory of the run to compare with.")],
    variant: WhichVariant = VariantChoice.CORRECTED,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare two policies on the same routes, by paired differences.

    Example: driveproof evaluate drive-compare runs/new runs/old
    """
    from driveproof.evaluation.driving.compare import compare_runs
    from driveproof.evaluation.driving.runs import read_run

    one, other = read_run(first), read_run(second)
    found = compare_runs(one, other, variant, seed=seed)
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2))
        return
    _print_comparison(found, one.name, other.name)


def bench2drive(
    file: Annotated[
        Path, typer.Argument(help="A checkpoint of its leaderboard, or a merged.json.")
    ],
    variant: WhichVariant = VariantChoice.BENCH2DRIVE,
    suite: SuiteFile = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Check and score a file of Bench2Drive.

    Without a suite the published sums are over 220 drives, and the corrected means over the drives in the file;
    with one, missing routes are named, and its towns say where a failed drive met its first junction (Traffic_Signs).

    Example: driveproof evaluate bench2drive merged.json --suite bench2drive220.xml --variant corrected
    """
    from driveproof.evaluation.driving.bench2drive import Merged, read_file
    from driveproof.evaluation.driving.exchange import records_in
    from driveproof.evaluation.driving.junctions import with_junctions
    from driveproof.evaluation.driving.scores import driving_scores
    from driveproof.evaluation.driving.suite import expected_of
    from driveproof.sim.routes import parse_routes

    content = read_file(file)
    records, expected = records_in(content), None
    if suite is not None:
        specs = parse_routes(suite)
        records, expected = with_junctions(records, specs), expected_of(specs)
    scores = driving_scores(records, expected, variant, seed=seed)
    if as_json:
        typer.echo(json.dumps(scores.to_json(), indent=2))
        return
    _print_overall({file.name: scores})
    _print_groups(scores)
    if isinstance(content, Merged):
        typer.echo(
            f"the file says: driving score {content.driving_score:.3f}, success rate "
            f"{100.0 * content.success_rate:.2f} %, {content.eval_num} drives"
        )


Evaluated = tuple["DrivingScores", "tuple[Failure, ...]", "AnswersReport | None"]


def _evaluate(run: Any, variant: str, seed: int) -> Evaluated:
    from driveproof.evaluation.driving.answers import answers_of
    from driveproof.evaluation.driving.failures import failures_of
    from driveproof.evaluation.driving.scores import scores_of

    return (
        scores_of(run, variant, seed=seed),
        failures_of(run),
        answers_of(run, variant, seed=seed),
    )


def _write_theirs(run: Any, checkpoint: Path | None, merged: Path | None) -> None:
    from driveproof.evaluation.driving.exchange import write_checkpoint, write_merged

    expected = len(run.expected) * run.repeats
    if checkpoint is not None:
        write_checkpoint(checkpoint, run.records, expected)
    if merged is not None:
        write_merged(merged, run.records, expected)


def _plain(
    scores: DrivingScores, failures: tuple[Failure, ...], answers: AnswersReport | None
) -> dict[str, Any]:
    from driveproof.evaluation.driving.failures import counts

    return {
        **scores.to_json(),
        "failures": [one.to_json() for one in failures],
        "failure_counts": counts(failures),
        "answers": None if answers is None else answers.to_json(),
    }


def _print_overall(found: dict[str, DrivingScores]) -> None:
    table = Table("", *found)
    rows = {
        "driving score": "driving_score",
        "… lost drives as zeros": "driving_score_lost_as_zero",
        "success rate, %": "success_rate",
        "… lost drives as zeros ": "success_rate_lost_as_zero",
        "efficiency, %": "efficiency",
        "comfort, %": "comfort",
        "mean of abilities, %": "ability_mean",
    }
    for name, attribute in rows.items():
        table.add_row(name, *(_brief(getattr(scores, attribute)) for scores in found.values()))
    Console().print(table)
    for name, scores in found.items():
        for one in scores.lost:
            typer.echo(f"{name}: route {one.route_id}, repeat {one.repeat}: {one.lost}")
        for note in scores.notes:
            typer.echo(f"{name}: {note}")


def _print_groups(scores: DrivingScores) -> None:
    table = Table("ability", "%", "lost drives as zeros", "driving score")
    for name, found in scores.abilities.items():
        group = scores.by_ability.get(name)
        driving = "" if group is None else _brief(group.driving_score)
        table.add_row(name, _brief(found), _brief(scores.abilities_lost_as_zero[name]), driving)
    Console().print(table)
    for title, groups in (("scenario", scores.by_scenario), ("town", scores.by_town)):
        if groups:
            Console().print(_groups(title, groups))


def _groups(title: str, groups: dict[str, Group]) -> Table:
    table = Table(title, "driving score", "success rate, %")
    for name, group in groups.items():
        table.add_row(name, _brief(group.driving_score), _brief(group.success_rate))
    return table


def _print_failures(failures: tuple[Failure, ...]) -> None:
    if not failures:
        return
    table = Table("route", "scenario", "town", "cause", "s", "before", "what happened")
    for one in failures:
        when = "" if one.time is None else f"{one.time:.1f}"
        keys = [decision.keys or decision.error or "pedals" for decision in one.decisions]
        table.add_row(
            f"{one.route_id} ({one.repeat})",
            ", ".join(one.scenarios),
            one.town,
            one.cause.value,
            when,
            "; ".join(dict.fromkeys(keys)),
            one.text,
        )
    Console().print(table)


def _print_answers(answers: AnswersReport | None) -> None:
    if answers is None:
        return
    table = Table("answers and driving", "answers", "driving score", "Spearman")
    groups: dict[str, Relation] = {"all": answers.overall}
    groups |= {**answers.by_ability, **answers.by_town, **answers.by_scenario}
    for name, found in groups.items():
        correlation = _brief(found.rank_correlation, 2)
        table.add_row(name, _brief(found.answers), _brief(found.driving), correlation)
    Console().print(table)
    typer.echo(f"answers: {answers.vqa.overall}; the expert could not answer {answers.vqa.missing}")


def _print_comparison(found: Comparison, first: str, second: str) -> None:
    table = Table("", f"{first} minus {second}")
    table.add_row("driving score", _brief(found.driving_score))
    table.add_row("success rate, %", _brief(found.success_rate))
    table.add_row("better, equal, worse", f"{found.better}, {found.equal}, {found.worse}")
    table.add_row("lost drives", f"{found.first_lost} and {found.second_lost}")
    Console().print(table)
    if found.driving_score.low is None:
        typer.echo("one route alone says nothing of others: no verdict")
    else:
        verdict = "differ" if found.differs else "cannot be told apart"
        typer.echo(f"in driving score they {verdict} (95 % interval)")
    for note in found.notes:
        typer.echo(note)


def _brief(found: Estimate, digits: int = 1) -> str:
    from driveproof.evaluation.statistics import bounds_text

    lost = f", lost {found.lost}" if found.lost else ""
    if found.mean is None:
        return f"unscored (n {found.n}{lost})"
    bounds = bounds_text(found.low, found.high, digits, " to ")
    return f"{found.mean:.{digits}f} ({bounds}; n {found.n}{lost})"
