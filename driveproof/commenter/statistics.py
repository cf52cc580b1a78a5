"""What a dataset of commentaries holds: how many questions of which kind, which keys, how often "none"."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from driveproof.commenter.dataset import AnswerRow, read_answers, read_frames
from driveproof.commenter.exports.conversations import says_something
from driveproof.questions import QUESTIONS


def dataset_statistics(folder: str | Path) -> dict[str, Any]:
    """Counts of a dataset of ``driveproof comment``, as plain values with sorted keys.

    ``none_share`` of a question is the share of its answers that name nothing and state nothing: who always says
    "none" is right that often.

    Raises
    ------
    BadInput
        If the folder is no dataset.
    """
    frames = list(read_frames(folder))
    questions: Counter[int] = Counter()
    none: Counter[int] = Counter()
    things: Counter[str] = Counter()
    for row in read_answers(folder):
        questions[row.key.number] += 1
        none[row.key.number] += _is_none(row)
        if row.key.number == 18:
            things.update(ref.kind.value for ref in row.answer.refs)
    categories: Counter[str] = Counter()
    for number, count in questions.items():
        categories[QUESTIONS[number].category.value] += count
    count = len(frames)
    return {
        "clips": len({row.clip for row in frames}),
        "frames": count,
        "questions": questions.total(),
        "questions_per_frame": round(questions.total() / max(count, 1), 2),
        "objects_per_frame": round(sum(row.objects for row in frames) / max(count, 1), 2),
        "trivial_frames": sum(row.trivial for row in frames),
        "waiting_frames": sum(row.waiting for row in frames),
        "by_question": {str(n): questions[n] for n in sorted(questions)},
        "by_category": dict(sorted(categories.items())),
        "by_scenario": dict(sorted(Counter(row.scenario for row in frames).items())),
        "by_town": dict(sorted(Counter(row.town for row in frames).items())),
        "directions": dict(sorted(Counter(row.direction for row in frames).items())),
        "speeds": dict(sorted(Counter(row.speed for row in frames).items())),
        "none_share": {str(n): round(none[n] / questions[n], 4) for n in sorted(questions)},
        "important_objects": dict(sorted(things.items())),
    }


def _is_none(row: AnswerRow) -> bool:
    return not says_something(row.answer)
