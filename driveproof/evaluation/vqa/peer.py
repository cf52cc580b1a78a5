"""The published program's arithmetic, for comparison only: what its tables would say of the same answers.

What it asks a language model to grade is graded by our rules here; all that it computes itself is computed as it does:

* an empty list scores 0 even where nothing is to be named, for precision and recall are 0 then;
* NDCG looks at the overlap only, so that naming the least of ten alone is a perfect order;
* the keys of question 50 are a set, so that weighing alternatives before the answer costs points;
* an answer that is right a moment early gets nothing (its look ahead never finds the frame);
* whatever has no score, because the model or the judge failed, counts as 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from driveproof.evaluation.vqa.action import SPEED_PENALTY, same_direction
from driveproof.evaluation.vqa.lists import (
    extra_weight,
    importance_weights,
    split,
    weighted_f1,
)
from driveproof.evaluation.vqa.score import Truth, VqaScore, score_answer
from driveproof.questions import ActionKeys, Answer, DirectionKey, Question, Rule, SpeedKey
from driveproof.questions.keys import named_keys
from driveproof.questions.reading import Reading

LISTED = frozenset({24, 25, 27, 28, 29, 46, 47})
"""The questions that the program scores by objects; other lists are graded as a whole."""


def score_as_peer(question: Question, reading: Reading, truth: Truth, text: str) -> VqaScore:
    """0 to 100 by the published arithmetic, or unscored where even that needs a log of the moments after."""
    now = Truth(truth.answer, (), truth.ego_speed, truth.replay)
    if question.rule is Rule.RANKED:
        return _points(_ranked(reading.answer, truth.answer))
    if question.rule is Rule.KEYS:
        return _points(_keys(reading, truth.answer, text if question.number == 50 else None))
    score = score_answer(question, reading, now)
    if question.number in LISTED and not (reading.answer.objects and truth.answer.objects):
        return _points(0.0)
    return score


def counted(score: VqaScore) -> VqaScore:
    """A score as the program averages it: what has none is a 0."""
    return score if score.value is not None else VqaScore(0.0, score.why)


def _points(share: float) -> VqaScore:
    return VqaScore(round(100.0 * share, 2))


def _ranked(said: Answer, true: Answer) -> float:
    weights = importance_weights(true.refs)
    named, missed, extra = split(true.refs, said.refs)
    if not named:
        return 0.0
    hit = sum(weights[i] for i in named)
    f1 = weighted_f1(hit, sum(weights[i] for i in missed), extra * extra_weight(true.refs))
    return f1 * _overlap_ndcg([weights[i] for i in named])


def _overlap_ndcg(weights: Sequence[float]) -> float:
    def gain(row: Sequence[float]) -> float:
        return sum(weight / math.log2(place + 1) for place, weight in enumerate(row, start=1))

    return gain(weights) / gain(sorted(weights, reverse=True))


def _keys(reading: Reading, true: Answer, text: str | None) -> float:
    right = true.facts["keys"]
    assert isinstance(right, ActionKeys)
    assert right.direction is not None
    assert right.speed is not None
    directions: frozenset[DirectionKey]
    speeds: frozenset[SpeedKey]
    if text is not None:
        directions, speeds = named_keys(text)
    else:
        keys = reading.answer.facts.get("keys")
        found = keys if isinstance(keys, ActionKeys) else ActionKeys(None, None)
        directions = frozenset({found.direction} - {None})  # type: ignore[arg-type]
        speeds = frozenset({found.speed} - {None})  # type: ignore[arg-type]
    hits = any(same_direction(key, right.direction) for key in directions) + (right.speed in speeds)
    named = len(directions) + len(speeds)
    f1 = 2.0 * hits / (named + 2)
    penalty = math.prod(SPEED_PENALTY.get((right.speed, key), 1.0) for key in speeds)
    return min(f1 * penalty, 1.0)
