"""Chapter about questions and answers: what the dataset holds, and what answers score that nobody thought about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput
from driveproof.files import read_json
from driveproof.report.inputs import Inputs
from driveproof.report.tables import MISSING, Section, Table, counts, estimate, number, percent
from driveproof.report.vqa_models import model_tables

ORDER = ("expert", "shuffled", "constant")
_MEANING = (
    "expert: every answer against itself, the ceiling; shuffled: the true answer to the same question in another clip; "
    "constant: always the most frequent answer to the question. A model that is not better than the last two has learnt the "
    "questions, not the scene. Scores 0 to 100; 95 % bootstrap intervals over clips, fixed seed; lost is what could not be "
    "scored."
)


def vqa_section(inputs: Inputs) -> Section:
    """Statistics of data/vqa, the baselines by category and by question, and models on held-out clips."""
    anchor, title = "vqa", "Questions and answers"
    folder = inputs.root / "reports/vqa"
    statistics, baselines = _object(folder / "statistics.json"), _object(folder / "baselines.json")
    if statistics is None or baselines is None:
        return Section(anchor, title, missing="vqa")
    models = _object(inputs.root / "reports/vqa_evaluate/vqa_evaluate.json")
    intro = (
        f"The expert answered {number(statistics['questions'])} questions about {number(statistics['frames'])} frames of "
        f"{number(statistics['clips'])} clips, {number(statistics['questions_per_frame'], 1)} a frame; in "
        f"{number(statistics['trivial_frames'])} of them nothing happens, in {number(statistics['waiting_frames'])} the ego "
        "waits at a red light."
    )
    tables = (
        _by_category(baselines),
        _by_question(baselines, statistics),
        *(model_tables(models) if models else ()),
        counts("Direction keys of the expert", "key", statistics["directions"]),
        counts("Speed keys of the expert", "key", statistics["speeds"]),
    )
    return Section(anchor, title, intro, tables)


def _by_category(baselines: Mapping[str, Any]) -> Table:
    names = [name for name in ORDER if name in baselines]
    categories = sorted({c for name in names for c in baselines[name]["by_category"]})
    rows = [("all", *(estimate(baselines[name]["overall"], 1) for name in names))]
    rows += [
        (category, *(estimate(baselines[name]["by_category"].get(category), 1) for name in names))
        for category in categories
    ]
    return Table(
        "Scores of baselines by category", ("category", *names), tuple(rows), note=_MEANING
    )


def _by_question(baselines: Mapping[str, Any], statistics: Mapping[str, Any]) -> Table:
    names = [name for name in ORDER if name in baselines]
    shares = statistics["none_share"]

    def mean(name: str, question: str) -> str:
        found = baselines[name]["by_question"].get(question)
        return MISSING if not found else number(found["mean"], 1)

    rows = tuple(
        (
            question,
            number(statistics["by_question"][question]),
            percent(shares[question], 0),
            *(mean(name, question) for name in names),
        )
        for question in sorted(statistics["by_question"], key=int)
    )
    head = ("question", "answers", "of which none", *names)
    note = 'Where most answers say "none", always saying it scores high: read a model\'s score beside the constant one.'
    return Table("Scores of baselines by question", head, rows, note=note)


def _object(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    content = read_json(path)
    if not isinstance(content, dict):
        raise BadInput("expected a JSON object", path=path)
    return content
