"""The chapter about reinforcement: what each variant gained over its start, and how training went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.errors import BadInput
from driveproof.files import read_json
from driveproof.report.figures import panels
from driveproof.report.inputs import Inputs
from driveproof.report.tables import Section, Table, estimate, number

FOLDER = Path("reports/grpo")
FIGURES = {"accuracy": "ACC", "hld": "HLD", "cfs": "CFS"}
SHOWN = ("reward", "kl", "entropy", "length", "invalid", "graded", "fallback", "loss")
"""Curves that get a panel each."""
_NOTE = (
    "Trained: mean over the training seeds and eight answers to each question; gains are over the start, question by "
    "question, with 95 % intervals from resampling drives and seeds together. An interval that includes zero is no "
    "improvement."
)


def grpo_section(inputs: Inputs) -> Section:
    """All variants that were reinforced, one row each."""
    anchor, title = "grpo", "Reinforcement"
    found = {
        path.parent.name: _object(path)
        for path in sorted((inputs.root / FOLDER).glob("*/summary.json"))
    }
    if not found:
        return Section(anchor, title, missing="grpo")
    rows = []
    for name, summary in found.items():
        start, trained, gain = summary["start"], summary["trained"], summary["gain"]
        rows.append((name, "start", *(estimate(start[key]) for key in FIGURES)))
        rows.append((name, "trained", *(estimate(trained[key]) for key in FIGURES)))
        rows.append((name, "gain", *(estimate(gain[key]) for key in FIGURES)))
    head = ("variant", "", *FIGURES.values())
    table = Table("Before and after GRPO on the test questions", head, tuple(rows), 2, _NOTE)
    tables = [table, _settings(found)]
    figures = []
    for name in found:
        path = inputs.root / FOLDER / name / "curves.json"
        if path.is_file():
            figures.append((panels(_curves(_object(path))), f"{name}: mean over seeds, by step."))
    return Section(anchor, title, _verdict(found), tuple(tables), tuple(figures))


def _verdict(found: Mapping[str, Any]) -> str:
    better = [name for name, summary in found.items() if summary["improved"]]
    rest = [name for name in found if name not in better]
    words = []
    if better:
        words.append(f"Surely more accurate than their start: {', '.join(better)}.")
    if rest:
        words.append(
            f"Not surely more accurate than their start: {', '.join(rest)}; docs/grpo.md says what was tried."
        )
    return " ".join(words)


def _settings(found: Mapping[str, Any]) -> Table:
    keys = ("steps", "questions", "group", "learning_rate", "kl", "advantage_clip", "temperature")
    rows = tuple(
        (
            name,
            summary["rollout"],
            summary["reward"],
            number(len(summary["seeds"])),
            *(f"{summary['settings'][key]:g}" for key in keys),
        )
        for name, summary in found.items()
    )
    head = ("variant", "rollout", "reward", "seeds", *(key.replace("_", " ") for key in keys))
    return Table("What was practised", head, rows, 3)


def _curves(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, tuple[Any, Any]]:
    """Mean over the seeds of each curve that has values."""
    curves = {}
    for key in SHOWN:
        series = [
            [row.get(key) for row in rows] for rows in runs.values() if rows and key in rows[0]
        ]
        if not series or any(value is None for row in series for value in row):
            continue
        steps = [row["step"] for row in next(iter(runs.values()))]
        curves[key] = (steps, np.mean(np.array(series, np.float64), axis=0).tolist())
    return curves


def _object(path: Path) -> dict[str, Any]:
    content = read_json(path)
    if not isinstance(content, dict):
        raise BadInput("expected a JSON object", path=path)
    return content
