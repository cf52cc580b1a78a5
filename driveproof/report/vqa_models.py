"""Tables about models that were taught the expert's answers: scores and keys on clips that they never saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from driveproof.report.tables import MISSING, Table, estimate, number

NAMES = {
    "expert": "expert",
    "text": "tiny VLM, text only",
    "camera": "tiny VLM, front camera",
    "shuffled": "shuffled",
    "constant": "constant",
    "usual": "usual keys",
}
"""How the report calls whoever answered; others by their own name."""


def model_tables(report: Mapping[str, Any]) -> tuple[Table, ...]:
    """Scores by category and by question, and the agreement of keys, of ``vqa_evaluate.json``."""
    scores, taught = report["scores"], report["taught"]
    names = [*(n for n in NAMES if n in scores), *(n for n in scores if n not in NAMES)]
    return (
        _by_category(report, names),
        _by_question(scores, names, taught),
        _agreement(report["keys"]),
    )


def _called(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(NAMES.get(name, name) for name in names)


def _by_category(report: Mapping[str, Any], names: Sequence[str]) -> Table:
    scores = report["scores"]
    categories = sorted({c for name in names for c in scores[name]["by_category"]})
    rows = [("all", *(estimate(scores[name]["overall"], 1) for name in names))]
    for label, key in (("questions that were taught", "taught"), ("all others", "untaught")):
        rows.append((label, *(estimate(scores[name][key], 1) for name in names)))
    rows += [
        (category, *(estimate(scores[name]["by_category"].get(category), 1) for name in names))
        for category in categories
    ]
    lessons = "; ".join(
        f"{NAMES.get(name, name)}: {', '.join(map(str, numbers))}"
        for name, numbers in report["taught"].items()
    )
    note = (
        f"{number(report['questions'])} questions about {number(report['moments'])} moments of {number(report['clips'])} clips "
        f"of the test split. Taught were the questions {lessons}; all others are asked and scored as they are answered. Each "
        "question is asked by itself."
    )
    return Table(
        "Scores on clips that no model was taught",
        ("category", *_called(names)),
        tuple(rows),
        1,
        note,
    )


def _by_question(
    scores: Mapping[str, Any], names: Sequence[str], taught: Mapping[str, Sequence[int]]
) -> Table:
    numbers = sorted({q for name in names for q in scores[name]["by_question"]}, key=int)

    def mean(name: str, question: str) -> str:
        found = scores[name]["by_question"].get(question)
        return MISSING if not found else number(found["mean"], 1)

    def n(question: str) -> str:
        found = [scores[name]["by_question"].get(question) for name in names]
        return number(max(entry["n"] for entry in found if entry))

    rows = tuple(
        (
            question,
            "yes" if any(int(question) in numbers for numbers in taught.values()) else "no",
            n(question),
            *(mean(name, question) for name in names),
        )
        for question in numbers
    )
    head = ("question", "taught", "n", *_called(names))
    return Table("The same by question", head, rows, 2)


def _agreement(keys: Mapping[str, Any]) -> Table:
    found = keys["agreement"]
    names = list(found)
    rows = [
        (label, *(estimate(found[name][key]) for name in names))
        for label, key in (("both keys", "both"), ("direction", "direction"), ("speed", "speed"))
    ]
    for kind in ("directions", "speeds"):
        rows += [
            (key, *(estimate(found[name][kind].get(key)) for name in names))
            for key in sorted({key for name in names for key in found[name][kind]})
        ]
    note = (
        f"Shares of {number(keys['moments'])} moments of the test clips with the expert's keys (question 50); a key's row: of "
        f"the moments where the expert gives it. Usual keys: {keys['usual']}, the most frequent in the train clips."
    )
    return Table("Agreement with the expert's keys", ("", *_called(names)), tuple(rows), 1, note)
