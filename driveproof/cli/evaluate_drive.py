"""``driveproof evaluate drive``, ``drive-compare`` and ``bench2drive``: what drives are worth."""

from __future__ import annotations

import json
import math
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Column, Table

from driveproof.cli.console import Console, track

if TYPE_CHECKING:
    from driveproof.evaluation import Estimate
    from driveproof.evaluation.driving.answers import AnswersReport, Relation
    from driveproof.evaluation.driving.compare import Comparison
    from driveproof.evaluation.driving.failures import Failure
    from driveproof.evaluation.driving.runs import DriveRun
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
    Path | None,
    typer.Option(help="Which routes there should be: a route file, or a run of driveproof."),
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

    n is the number that a mean is over. A drive is lost if the simulator or a model's server broke it, or if it was
    not driven. --merged and --checkpoint write the drives and not the suite: name it to `evaluate bench2drive` again
    (--suite RUN), or 220 routes are expected. They hold no motion either, so no comfort.

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

    n is the number of drives of which both have a score. A drive that only one run has is not in both; one that the
    simulator or a model's server broke, or that was not driven, is lost.

    Example: driveproof evaluate drive-compare runs/new runs/old
    """
    from driveproof.evaluation.driving.compare import compare_runs
    from driveproof.evaluation.driving.runs import read_run

    one, other = read_run(first), read_run(second)
    found = compare_runs(one, other, variant, seed=seed)
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2))
        return
    _print_comparison(found, one, other)


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

    A route that is not in the file counts as 0 in the variant bench2drive, by its own rule: without --suite it
    expects 220. For a file of another suite name that, or the run of driveproof that it was written from; missing
    routes are then named, and the towns say where a failed drive met its first junction (Traffic_Signs). The variant
    corrected takes means over the drives in the file. Comfort is unscored: it needs Bench2Drive's metric_info.json
    of each drive, which docs/metrics.md shows how to read.

    Example: driveproof evaluate bench2drive merged.json --suite bench2drive220.xml --variant corrected

    Example: driveproof evaluate bench2drive merged.json --suite runs/mine
    """
    from driveproof.evaluation.driving.bench2drive import Merged, read_file
    from driveproof.evaluation.driving.exchange import records_in
    from driveproof.evaluation.driving.junctions import with_junctions
    from driveproof.evaluation.driving.runs import read_run
    from driveproof.evaluation.driving.scores import driving_scores
    from driveproof.evaluation.driving.suite import expected_of
    from driveproof.files import read_json
    from driveproof.sim.routes import parse_routes

    _check_numbers(read_json(file), file)
    content = read_file(file)
    records, expected, repeats = records_in(content), None, None
    if suite is not None:
        # a run may drive a part of its suite, several times
        run = read_run(suite) if suite.is_dir() else None
        specs = parse_routes(suite if run is None else suite / "suite.xml")
        records = with_junctions(records, specs)
        expected, repeats = (
            (expected_of(specs), None) if run is None else (run.expected, run.repeats)
        )
    scores = driving_scores(records, expected, variant, repeats=repeats, seed=seed)
    if as_json:
        typer.echo(json.dumps(scores.to_json(), indent=2))
    _warn_of_absent(scores, file, suite)
    if as_json:
        return
    _print_overall({file.name: scores})
    typer.echo("comfort needs the metric_info.json of each drive, which no such file holds")
    _print_groups(scores)
    if isinstance(content, Merged):
        typer.echo(
            f"the file says: driving score {content.driving_score:.3f}, success rate "
            f"{100.0 * content.success_rate:.2f} %, {content.eval_num} drives"
        )


def _check_numbers(content: Any, path: Path) -> None:
    """Refuse NaN and infinities, which JSON of Python has, by their name: no bound tells what they are."""
    from driveproof.errors import BadInput

    left = [("", content)]
    while left:
        place, value = left.pop()
        if isinstance(value, float) and not math.isfinite(value):
            raise BadInput(f"{json.dumps(value)} is no number", path=path, field=place)
        if isinstance(value, dict | list):
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            left += [(f"{place}.{name}" if place else str(name), part) for name, part in parts]


def _warn_of_absent(scores: DrivingScores, file: Path, suite: Path | None) -> None:
    """Say on stderr that most of what is expected is not there: likely the wrong suite."""
    there = sum(not one.lost for one in scores.routes)
    if scores.expected <= 2 * there:
        return
    of = "Bench2Drive's suite" if suite is None else str(suite)
    counted = (
        "count as 0" if scores.variant.value == VariantChoice.BENCH2DRIVE.value else "are lost"
    )
    console = Console(stderr=True)
    console.print(
        f"note: {scores.expected - there} of the {scores.expected} drives of {of} are not in {file} and {counted}; "
        "if it is of another suite, name that: --suite ROUTES.xml, or the run that it was written from: --suite RUN",
        soft_wrap=True,
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
        table.add_row(name, *(_cell(scores, attribute) for scores in found.values()))
    Console().print(table)
    for name, scores in found.items():
        for one in scores.lost:
            typer.echo(f"{name}: lost: route {one.route_id}, repeat {one.repeat}: {one.lost}")
        for value in ("efficiency", "comfort"):
            for reason, count in _unscored(scores, value).items():
                typer.echo(
                    f"{name}: no {value} in {count} of {len(scores.routes)} drives: {reason}"
                )
        for note in scores.notes:
            typer.echo(f"{name}: {note}")


def _cell(scores: DrivingScores, attribute: str) -> str:
    """A mean in words: which n it is over, what of it is lost, and what has no value for another reason."""
    found: Estimate = getattr(scores, attribute)
    peer = scores.variant.value == VariantChoice.BENCH2DRIVE.value
    if attribute in ("efficiency", "comfort"):
        lost = min(len(scores.lost), found.lost)
        return _brief(found, rest=_counted(lost=lost, unscored=found.lost - lost))
    if attribute == "ability_mean":
        return _brief(found, rest=f" of {len(scores.abilities)} abilities")
    as_zero = attribute.endswith("_lost_as_zero") or peer
    return _brief(found, rest=_as_zero(found) if as_zero else None)


def _unscored(scores: DrivingScores, value: str) -> dict[str, int]:
    """Why drives that are not lost have no such value, and how many."""
    without = [one for one in scores.routes if not one.lost and getattr(one, value) is None]
    reasons = (one.why.get(value) or one.why.get("composed") or "nothing" for one in without)
    return dict(Counter(reasons).most_common())


def _print_groups(scores: DrivingScores) -> None:
    table = _named("ability", "%", "lost drives as zeros", "driving score")
    for name, found in scores.abilities.items():
        group = scores.by_ability.get(name)
        driving = "" if group is None else _brief(group.driving_score)
        zeroed = scores.abilities_lost_as_zero[name]
        table.add_row(name, _brief(found), _brief(zeroed, rest=_as_zero(zeroed)), driving)
    Console().print(table)
    for title, groups in (("scenario", scores.by_scenario), ("town", scores.by_town)):
        if groups:
            Console().print(_groups(title, groups))


def _named(*heads: str) -> Table:
    """A table whose rows begin with a name, which stays whole."""
    return Table(Column(heads[0], no_wrap=True), *heads[1:])


def _groups(title: str, groups: dict[str, Group]) -> Table:
    table = _named(title, "driving score", "success rate, %")
    for name, group in groups.items():
        table.add_row(name, _brief(group.driving_score), _brief(group.success_rate))
    return table


def _print_failures(failures: tuple[Failure, ...]) -> None:
    if not failures:
        return
    table = Table("route, scenario, town", Column("cause", no_wrap=True), "s", "before", "what")
    for one in failures:
        when = "" if one.time is None else f"{one.time:.1f}"
        keys = [decision.keys or decision.error or "pedals" for decision in one.decisions]
        table.add_row(
            ", ".join((f"{one.route_id} ({one.repeat})", *one.scenarios, one.town)),
            one.cause.value,
            when,
            "; ".join(dict.fromkeys(keys)),
            one.text,
        )
    Console().print(table)


def _print_answers(answers: AnswersReport | None) -> None:
    if answers is None:
        return
    table = _named("answers and driving", "mean of drives' answers", "driving score", "Spearman")
    groups: dict[str, Relation] = {"all": answers.overall}
    groups |= {**answers.by_ability, **answers.by_town, **answers.by_scenario}
    for name, found in groups.items():
        said = _brief(found.answers, rest=_counted(unscored=found.answers.lost))
        correlation = _brief(found.rank_correlation, 2, rest="")
        table.add_row(name, said, _brief(found.driving), correlation)
    Console().print(table)
    vqa, drives = answers.vqa.overall, answers.overall.answers
    typer.echo(
        f"mean over answers, %: {_brief(vqa, rest=_counted(unscored=vqa.lost))}; every answer counts alike\n"
        f"mean over drives, %: {_brief(drives, rest=_counted(unscored=drives.lost))}; every drive's own mean counts "
        f"alike\nquestions that the expert could not answer: {answers.vqa.missing}"
    )


def _print_comparison(found: Comparison, one: DriveRun, other: DriveRun) -> None:
    # a pair without a difference is lost by a side or not in both: said below, for n is over the others
    table = Table("", f"{one.name} minus {other.name}")
    table.add_row("driving score", _brief(found.driving_score, rest=""))
    table.add_row("success rate, %", _brief(found.success_rate, rest=""))
    table.add_row("better, equal, worse", f"{found.better}, {found.equal}, {found.worse}")
    table.add_row("lost drives of each", f"{found.first_lost} and {found.second_lost}")
    table.add_row("drives not in both", str(len(_drives(one) ^ _drives(other))))
    Console().print(table)
    if found.driving_score.low is None:
        typer.echo("one route alone says nothing of others: no verdict")
    else:
        verdict = "differ" if found.differs else "cannot be told apart"
        typer.echo(f"in driving score they {verdict} (95 % interval)")
    for note in found.notes:
        typer.echo(note)


def _drives(run: DriveRun) -> set[tuple[str, int]]:
    """Routes and repeats that a run should drive."""
    return {(route.route_id, n) for route in run.expected for n in range(run.repeats)}


def _brief(found: Estimate, digits: int = 1, rest: str | None = None) -> str:
    """Mean, interval and n; what follows n is what was lost to it where ``rest`` says nothing else."""
    from driveproof.evaluation.statistics import bounds_text

    more = _counted(lost=found.lost) if rest is None else rest
    if found.mean is None:
        return f"unscored (n {found.n}{more})"
    bounds = bounds_text(found.low, found.high, digits, " to ")
    return f"{found.mean:.{digits}f} ({bounds}; n {found.n}{more})"


def _counted(**numbers: int) -> str:
    return "".join(f", {name} {number}" for name, number in numbers.items() if number)


def _as_zero(found: Estimate) -> str:
    """Lost drives that are within n."""
    return f", of them {found.lost} lost as 0" if found.lost else ""
