"""The chapter about driving in closed loop, with the answers to questions beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput
from driveproof.evaluation.driving.failures import counts, failures_of
from driveproof.evaluation.driving.records import RouteRecord
from driveproof.evaluation.driving.runs import DriveRun, read_run
from driveproof.files import read_json
from driveproof.report.drive_figures import answers_and_driving, episode_figures
from driveproof.report.inputs import Inputs
from driveproof.report.tables import MISSING, Section, Table, estimate, number

FOLDER = Path("reports/drive")
FIGURES = {
    "driving_score": "driving score",
    "success_rate": "success, %",
    "efficiency": "efficiency, %",
    "comfort": "comfort, %",
    "ability_mean": "mean of abilities, %",
}
_VARIANTS = (
    "bench2drive: the published program's arithmetic, for numbers beside published ones; corrected: its defects repaired, "
    "lost drives left out and counted. 95 % bootstrap intervals over routes, fixed seed."
)
_ANSWERS = (
    "Answers: mean score of what was asked at the decisions, against the expert's answers at the same moments, 0 to 100; a "
    "policy that only gives keys has answered the question about keys. Correlation: Spearman's, over drives, with an "
    "interval over routes; unscored with fewer than three drives or where one of both never varies."
)
_CAUSES = "One primary cause for each drive that is no success: contacts come before broken rules, these before a lost route."


def drive_section(inputs: Inputs) -> Section:
    """What the stage drive found: driving by policy and ability, answers beside it, causes of failure, one episode.

    Raises
    ------
    BadInput
        If the stage's files are broken.
    """
    anchor, title = "driving", "Driving and answers"
    folder = inputs.root / FOLDER
    path = folder / "drive.json"
    if not path.is_file():
        return Section(anchor, title, missing="drive")
    rows = read_json(path)
    runs = {name: read_run(folder / name) for name in rows} if isinstance(rows, dict) else {}
    try:
        intro, tables = _intro(rows, runs), _tables(rows, runs)
        figures = _figures(rows, runs)
    except (AttributeError, KeyError, TypeError) as error:
        problem = f"is no result of the stage drive: {type(error).__name__} {error}"
        raise BadInput(problem, path=path) from None
    return Section(anchor, title, intro, tables, figures)


def _intro(rows: Mapping[str, Any], runs: Mapping[str, DriveRun]) -> str:
    routes = max((len(run.expected) for run in runs.values()), default=0)
    towns = sorted({route.town for run in runs.values() for route in run.expected})
    helped = [
        f"{row['policy']} ({', '.join(row['privileged'])})"
        for row in rows.values()
        if row["privileged"]
    ]
    seeing = f" What only the simulator knows was read for: {'; '.join(helped)}." if helped else ""
    return (
        f"{len(rows)} policies drove the same {routes} routes of {', '.join(towns) or 'no town'} on the embedded simulator; "
        f"routes and repeats have the same seeds for all of them.{seeing}"
    )


def _tables(rows: Mapping[str, Any], runs: Mapping[str, DriveRun]) -> tuple[Table, ...]:
    return (_scores(rows), _answers(rows), _abilities(rows), _groups(rows), _causes(rows, runs))


def _scores(rows: Mapping[str, Any]) -> Table:
    found = [
        (row["policy"], variant, *(estimate(scores[name], 1) for name in FIGURES))
        for row in rows.values()
        for variant, scores in row["scores"].items()
    ]
    head = ("policy", "variant", *FIGURES.values())
    return Table("Driving by policy", head, tuple(found), 2, _VARIANTS)


def _answers(rows: Mapping[str, Any]) -> Table:
    found = [(row["policy"], *_relation(_overall(row))) for row in rows.values()]
    head = ("policy", "answers", "driving score of the same drives", "correlation")
    return Table("Answers beside driving", head, tuple(found), note=_ANSWERS)


def _abilities(rows: Mapping[str, Any]) -> Table:
    names = list(
        dict.fromkeys(n for row in rows.values() for n in row["scores"]["corrected"]["abilities"])
    )
    found = [
        (
            row["policy"],
            *(estimate(row["scores"]["corrected"]["abilities"].get(n), 1) for n in names),
        )
        for row in rows.values()
    ]
    note = "Variant corrected; an ability that no route of the suite tests is unscored."
    return Table("Abilities by policy, %", ("policy", *names), tuple(found), note=note)


def _groups(rows: Mapping[str, Any]) -> Table:
    """Answers and driving by ability; one row a policy and ability."""
    found = [
        (row["policy"], name, *_relation(relation))
        for row in rows.values()
        for name, relation in (row["answers"] or {}).get("by_ability", {}).items()
    ]
    head = ("policy", "ability", "answers", "driving score", "correlation")
    return Table("Answers and driving by ability", head, tuple(found), 2)


def _causes(rows: Mapping[str, Any], runs: Mapping[str, DriveRun]) -> Table:
    by_policy = {name: counts(failures_of(run)) for name, run in runs.items()}
    total: dict[str, int] = {}
    for found in by_policy.values():
        for cause, count in found.items():
            total[cause] = total.get(cause, 0) + count
    ordered = sorted(total, key=lambda cause: (-total[cause], cause))
    table = [
        (cause.replace("_", " "), *(number(found.get(cause, 0)) for found in by_policy.values()))
        for cause in ordered
    ]
    table.append(
        ("success", *(number(sum(r.success for r in run.records)) for run in runs.values()))
    )
    head = ("cause", *(row["policy"] for row in rows.values()))
    return Table("Why drives failed", head, tuple(table), note=_CAUSES)


def _overall(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    found: Mapping[str, Any] | None = (row["answers"] or {}).get("overall")
    return found


def _relation(found: Mapping[str, Any] | None) -> tuple[str, str, str]:
    if not found:
        return MISSING, MISSING, MISSING
    return (
        estimate(found["answers"], 1),
        estimate(found["driving"], 1),
        estimate(found["rank_correlation"], 2),
    )


def _figures(rows: Mapping[str, Any], runs: Mapping[str, DriveRun]) -> tuple[tuple[str, str], ...]:
    points = [
        (row["policy"], found["answers"], found["driving"])
        for row in rows.values()
        if (found := _overall(row)) and found["answers"]["mean"] is not None
    ]
    caption = "Answers and driving by policy, means with their intervals."
    drawn = [(answers_and_driving(points), caption)] if points else []
    for name, run in reversed(
        list(runs.items())
    ):  # models stand last, and are what the chapter is about
        record = _telling(run.records)
        if record is not None:
            drawn += episode_figures(rows[name]["policy"], run, record)
            break
    return tuple(drawn)


def _telling(records: Sequence[RouteRecord]) -> RouteRecord | None:
    """The drive to look at: of those with a motion table the one with most infractions, then the furthest."""
    moved = [one for one in records if one.motion is not None and one.game_s > 0.0]
    return max(moved, key=lambda one: (len(one.failures), one.completion), default=None)
