"""Chapters about models: training and evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from driveproof.report.figures import interval_chart, training_curves
from driveproof.report.inputs import Inputs
from driveproof.report.tables import MISSING, Section, Table, estimate, grid, number, percent

_PAPER_NOTE = (
    "Right, wrong, invalid (could not be read) and lost (the model failed) are counted apart; accuracy counts "
    "invalid as not right and leaves lost out. Intervals: bootstrap over drives, 95 %, fixed seed."
)


def training_section(inputs: Inputs) -> Section:
    """Curves and final numbers of supervised fine-tuning."""
    anchor, title = "training", "Training"
    if inputs.training is None:
        return Section(anchor, title, missing="sft")
    curves: dict[str, tuple[list[float], list[float]]] = {}
    for path, rows in _histories(inputs.training):
        keys = sorted({key for row in rows for key in row if "loss" in key})
        for key in keys:
            points = [(row["step"], row[key]) for row in rows if row.get(key) is not None]
            curves[" ".join([*path, key])] = ([x for x, _ in points], [y for _, y in points])
    rows = tuple((name, number(value)) for name, value in _scalars(inputs.training))
    tables = (Table("Supervised fine-tuning", ("", "value"), rows),) if rows else ()
    drawn = {name: curve for name, curve in curves.items() if len(curve[0]) > 1}
    figures = ((training_curves(drawn), "Loss over steps."),) if drawn else ()
    return Section(anchor, title, "", tables, figures)


def _histories(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Lists of rows with a ``step`` anywhere in a JSON value, with the keys that lead there."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _histories(inner, (*path, str(key)))
    elif isinstance(value, list) and all(isinstance(r, Mapping) and "step" in r for r in value):
        yield path[1:], value


def _scalars(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        if key == "settings":
            continue  # params.yaml says them
        if isinstance(inner, Mapping):
            yield from _scalars(inner, f"{prefix}{key} ")
        elif isinstance(inner, int | float | str):
            yield f"{prefix}{key}".replace("_", " "), inner


def evaluation_section(inputs: Inputs) -> Section:
    """Every policy in every mode, what pictures change, classes, places, the difficulty grid."""
    anchor, title = "evaluation", "Evaluation"
    if inputs.evaluation is None:
        return Section(anchor, title, missing="evaluate")
    runs: dict[str, Any] = inputs.evaluation["runs"]
    main = {name: run for name, run in runs.items() if not run["grid"]}
    caption = (
        "Accuracy (ACC), faithfulness of the reasons (CFS) and consistency of the decision (HLD)"
    )
    tables = [_runs_table(caption, main)]
    judged = {name: run["cfs"] for name, run in main.items() if run.get("cfs")}
    if judged:
        tables.append(_reasons_table(judged))
    dependence = inputs.evaluation.get("picture_dependence") or {}
    if dependence:
        tables.append(_dependence_table(dependence))
    for name, run in runs.items():
        report = (inputs.details or {}).get(name)
        if report is None:
            continue
        if run["grid"]:
            cells = {
                cell: estimate(part["accuracy"]) for cell, part in report["by_variant"].items()
            }
            tables.append(grid(f"Difficulty grid, ACC: {name}", cells))
        elif run["pictures"] == "own" and run["mode"] != "choice":
            tables.append(_parts_table(f"By class: {name}", "class", report["by_class"]))
            tables.append(_positions_table(name, report["positions"]))
    chance = next((run["chance"] for run in main.values()), None)
    figure = interval_chart([(name, run["accuracy"]) for name, run in main.items()], chance)
    caption = "Accuracy on the test questions with 95 % intervals over drives."
    settings = inputs.evaluation.get("settings") or {}
    intro = (
        f"Prompt {inputs.evaluation.get('prompt_hash')}, model revision "
        f"{inputs.evaluation.get('model_revision')}, temperature {settings.get('temperature')}, top-p "
        f"{settings.get('top_p')}, seed {settings.get('seed')}. DEFT shows the candidates after the "
        "decision, JEFT with the scene."
    )
    return Section(anchor, title, intro, tuple(tables), ((figure, caption),))


def _runs_table(caption: str, runs: Mapping[str, Any]) -> Table:
    rows = []
    for name, run in runs.items():
        counts = ("items", "scenes", "repeats", "answers", "lost", "invalid")
        reasons = (run.get("cfs") or {}).get("score")
        figures = (run["accuracy"], run["accuracy_valid"], reasons, run["hld"])
        numbers = tuple(number(run[key]) for key in counts)
        rows.append((name, *numbers, percent(run["chance"]), *(estimate(f) for f in figures)))
    head = ("policy and mode", "questions", "drives", "repeats", "answers", "lost", "invalid")
    last = ("chance", "ACC", "ACC of readable answers", "CFS", "HLD")
    return Table(caption, (*head, *last), tuple(rows), note=_PAPER_NOTE)


def _reasons_table(judged: Mapping[str, Any]) -> Table:
    """The axes of CFS by run, and what was lost to the judge."""
    axes = tuple(dict.fromkeys(axis for cfs in judged.values() for axis in cfs["axes"]))
    rows = []
    for name, cfs in judged.items():
        values = tuple(estimate(cfs["axes"].get(axis)) for axis in axes)
        why = ", ".join(f"{reason}: {count:,}" for reason, count in cfs["reasons"].items())
        rows.append((name, cfs["judge"], *values, number(cfs["judged"]), why or MISSING))
    head = ("policy and mode", "judge", *(axis.replace("_", " ") for axis in axes))
    note = (
        "CFS is the mean of the axes, each 0 or 1 for a text before the candidates were shown. A text of which nothing is left "
        "counts 0; one that could not be judged is lost. docs/rewards.md says what the offline judge can and cannot see."
    )
    return Table("Reasons by axis", (*head, "texts judged", "lost, why"), tuple(rows), 2, note)


def _dependence_table(dependence: Mapping[str, Any]) -> Table:
    rows = tuple(
        (name, *(estimate(d[key]) for key in ("accuracy_drop", "hld_drop", "decisions_changed")))
        for name, d in dependence.items()
    )
    head = ("instead of the own pictures", "ACC lost", "HLD lost", "decisions changed")
    note = "Paired by question. A policy that does not look loses nothing."
    return Table("Does the policy look?", head, rows, note=note)


def _parts_table(caption: str, of: str, parts: Mapping[str, Any]) -> Table:
    rows = tuple(
        (name or "(main)", estimate(part["accuracy"]), estimate(part["hld"]))
        for name, part in parts.items()
    )
    return Table(caption, (of, "ACC", "HLD"), rows)


def _positions_table(name: str, positions: Any) -> Table:
    rows = tuple(
        (row["letter"], percent(row["chosen"]), percent(row["oracle"]), estimate(row["accuracy"]))
        for row in positions
    )
    head = ("letter", "chosen", "is the oracle", "ACC where it is")
    return Table(f"Position bias: {name}", head, rows)
