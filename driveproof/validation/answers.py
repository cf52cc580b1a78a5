"""Commentaries as flat frames, read straight from parquet: what can be wrong about answers and their frames."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driveproof.commenter.dataset import ANSWERS, FRAMES, shards
from driveproof.evaluation.vqa import Truth, score_answer
from driveproof.questions import QUESTIONS, Answer, ObjectRef
from driveproof.questions.reading import read_answer
from driveproof.questions.serial import answer_from_json, object_from_json
from driveproof.validation.frames import flat_frame, read_rows

if TYPE_CHECKING:
    import pandas as pd

READ_EVERY = 10
"""Every so many answers are read back by the scorer: all would take minutes."""
_KEYS, _WORDS, _WAYPOINTS = 50, 43, 42


def commentary_frames(directory: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One row an answer, and one row a frame, of ``answers-*.parquet`` and ``frames-*.parquet``."""
    answers: list[dict[str, Any]] = []
    frames: list[dict[str, Any]] = []
    for path in shards(directory, "answers"):
        own = read_rows(path.with_name(path.name.replace("answers", "frames")), FRAMES.names)
        said = read_rows(path, ANSWERS.names)
        objects = {(row["clip"], row["frame"]): _objects(row) for row in own}
        answers += [
            _answer(row, objects.get((row["clip"], row["frame"])), place)
            for place, row in enumerate(said)
        ]
        asked = Counter((row["clip"], row["frame"], row["number"]) for row in said)
        frames += [_moment(row, objects[row["clip"], row["frame"]], asked) for row in own]
    return flat_frame(answers, dict), flat_frame(frames, dict)


def _objects(row: Mapping[str, Any]) -> dict[str, ObjectRef] | None:
    try:
        refs = [object_from_json(item) for item in json.loads(row["objects"])]
    except (ValueError, TypeError, KeyError):
        return None
    return {ref.tag: ref for ref in refs}


def _answer(
    row: Mapping[str, Any], objects: dict[str, ObjectRef] | None, place: int
) -> dict[str, Any]:
    question = QUESTIONS.get(row["number"])
    answer = _typed(row, objects)
    right_category = question is not None and row["category"] == question.category.value
    return {
        "key": f"{row['clip']}/{row['frame']}/{row['number']}{row['subject']}",
        "number": row["number"],
        "homeless": int(objects is None),
        "wrong_category": int(not right_category),
        "length": len((row["answer"] or "").strip()),
        "question_length": len((row["question"] or "").strip()),
        "untyped": int(answer is None),
        "own_score": _own_score(row, answer, objects) if place % READ_EVERY == 0 else None,
    }


def _typed(row: Mapping[str, Any], objects: dict[str, ObjectRef] | None) -> Answer | None:
    try:
        return answer_from_json(json.loads(row["facts"]), objects or {})
    except (ValueError, TypeError):
        return None


def _own_score(
    row: Mapping[str, Any], answer: Answer | None, objects: dict[str, ObjectRef] | None
) -> float | None:
    """What the text scores against its own typed answer; None where only a log could tell (waypoints)."""
    question = QUESTIONS.get(row["number"])
    if answer is None or question is None or row["number"] == _WAYPOINTS:
        return None
    known = tuple((objects or {}).values())
    subject = (objects or {}).get(row["subject"])
    reading = read_answer(question, row["answer"] or "", known, subject)
    return score_answer(question, reading, Truth(answer)).value


def _moment(
    row: Mapping[str, Any],
    objects: dict[str, ObjectRef] | None,
    asked: Counter[tuple[str, int, int]],
) -> dict[str, Any]:
    def times(number: int) -> int:
        return asked[row["clip"], row["frame"], number]

    return {
        "key": f"{row['clip']}/{row['frame']}",
        "direction": row["direction"],
        "speed_key": row["speed"],
        "ego_speed": row["ego_speed"],
        "objects_broken": int(objects is None),
        "keys_asked": times(_KEYS),
        "words_asked": times(_WORDS),
    }
