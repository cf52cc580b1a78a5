"""The score of one answer, 0 to 100."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from driveproof.evaluation.vqa.action import score_keys
from driveproof.evaluation.vqa.facts import score_facts
from driveproof.evaluation.vqa.lists import (
    base_weight,
    extra_weight,
    importance_weights,
    ndcg,
    split,
    weighted_f1,
)
from driveproof.evaluation.vqa.waypoints import Replay, score_waypoints
from driveproof.questions import ActionKeys, Answer, FactValue, Question, Rule
from driveproof.questions import terms as t
from driveproof.questions.reading import Reading

EARLY_FACTOR = 0.92
"""Worth of an answer that is right a moment too early ("loses only 5 to 10 points")."""
FORESEEN = frozenset({2, 3, 4, 7, 15})
"""Questions whose answers may be right early."""
STANDING_MPS = 0.5


@dataclass(frozen=True)
class VqaScore:
    """A score and whether it may count.

    Attributes
    ----------
    value
        0 to 100; None is unscored: something that is not the answer's fault kept it from being scored.
    why
        Why it is unscored, or which slots could not be read ("unread: ..."), or "".
    f1, order, facts
        The factors where the rule has them, 0 to 1.
    """

    value: float | None
    why: str = ""
    f1: float | None = None
    order: float | None = None
    facts: float | None = None

    @classmethod
    def unscored(cls, why: str) -> VqaScore:
        """No score, and the reason."""
        return cls(None, why)


@dataclass(frozen=True)
class Truth:
    """What is known about a question.

    Attributes
    ----------
    answer
        The expert's answer.
    future
        The expert's answers to the same question in the moments after, where it may be right early.
    ego_speed
        m/s.
    replay
        What happened afterwards, for waypoints.
    """

    answer: Answer
    future: Sequence[Answer] = ()
    ego_speed: float = 0.0
    replay: Replay | None = None


def score_answer(question: Question, reading: Reading, truth: Truth) -> VqaScore:
    """Score what was read from an answer.

    Every value is reproducible from equations 1 to 11 and the tables of this package; no model is asked.
    """
    score = _score(question, reading, truth.answer, truth)
    if question.number in FORESEEN and score.value is not None:
        for answer in truth.future:
            early = _score(question, reading, answer, truth)
            if early.value is not None and EARLY_FACTOR * early.value > score.value:
                score = replace(early, value=round(EARLY_FACTOR * early.value, 2), why="early")
    unread = f"unread: {', '.join(reading.unread)}" if reading.unread else ""
    return replace(score, why=score.why or unread)


def _score(question: Question, reading: Reading, true: Answer, truth: Truth) -> VqaScore:
    match question.rule:
        case Rule.RANKED:
            return _ranked(reading.answer, true)
        case Rule.LISTED:
            return _listed(question, reading.answer, true)
        case Rule.KEYS:
            return _keys(reading.answer, true)
        case Rule.WAYPOINTS:
            return _waypoints(reading.answer, truth)
    said = reading.answer.facts
    if question.number == 8 and truth.ego_speed < STANDING_MPS:
        said = _standing(said, true)
    return _points(score_facts(question.slots, said, true.facts, number=question.number))


def _points(
    share: float,
    *,
    f1: float | None = None,
    order: float | None = None,
    facts: float | None = None,
) -> VqaScore:
    return VqaScore(round(100.0 * share, 2), "", f1, order, facts)


def _ranked(said: Answer, true: Answer) -> VqaScore:
    weights = importance_weights(true.refs)
    named, missed, extra = split(true.refs, said.refs)
    f1 = weighted_f1(
        sum(weights[i] for i in named),
        sum(weights[i] for i in missed),
        extra * extra_weight(true.refs),
    )
    order = ndcg(weights, named)
    return _points(f1 * order, f1=f1, order=order)


def _listed(question: Question, said: Answer, true: Answer) -> VqaScore:
    """Equations 9 and 10; facts about the frame, where a question has them, count as one more plain thing."""
    weights = [base_weight(ref) for ref in true.refs]
    named, missed, extra = split(true.refs, said.refs)
    f1 = weighted_f1(
        sum(weights[i] for i in named), sum(weights[i] for i in missed), extra * question.extra
    )
    about = {item.object.tag: item.facts for item in said.objects}
    parts = [
        (
            weights[i],
            score_facts(
                question.object_slots, about[true.objects[i].object.tag], true.objects[i].facts
            ),
        )
        for i in named
    ]
    if question.slots and (any(true.facts.values()) or any(said.facts.values())):
        parts.append((1.0, score_facts(question.slots, said.facts, true.facts)))
    total = sum(weight for weight, _ in parts)
    facts = sum(weight * value for weight, value in parts) / total if total else 1.0
    return _points(f1 * facts, f1=f1, facts=facts)


def _keys(said: Answer, true: Answer) -> VqaScore:
    keys, right = said.facts.get("keys"), true.facts["keys"]
    assert isinstance(right, ActionKeys)
    if not isinstance(keys, ActionKeys):
        return _points(0.0)
    return _points(score_keys(keys, right))


def _waypoints(said: Answer, truth: Truth) -> VqaScore:
    points = said.facts.get("waypoints")
    if truth.replay is None:
        return VqaScore.unscored("no log of the moments after")
    if points is None:
        return _points(0.0)
    return _points(score_waypoints(np.asarray(points, dtype=np.float64), truth.replay))


def _standing(said: Mapping[str, FactValue], true: Answer) -> dict[str, FactValue]:
    """Who stands brakes already: leaving it out is no error, nor is keeping it up."""
    facts = dict(said)
    if "braking" in facts and true.facts["braking"] is not t.Braking.NONE:
        if facts["braking"] is t.Braking.NONE:
            facts["braking"], facts["reason"] = true.facts["braking"], true.facts["reason"]
        elif facts["braking"] is t.Braking.SLOW_DOWN:
            facts["braking"] = true.facts["braking"]
    return facts
