"""The figures of AD-MCQ: accuracy, consistency of the decision, and where the answers went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from driveproof.errors import BadInput
from driveproof.evaluation.score import score_choice, score_decision, true_decision
from driveproof.evaluation.statistics import Estimate, bootstrap_mean, mean_over_repeats
from driveproof.geometry.arrays import Float, Int
from driveproof.mcq.interaction import Answer
from driveproof.mcq.items import McqItem

_T = TypeVar("_T")


@dataclass(frozen=True)
class AnswerTable:
    """The answers to N questions over R repeats as arrays; row n belongs to ``items[n]``.

    Attributes
    ----------
    correct
        ``[N, R]`` 1, 0, or NaN where lost. An invalid answer is 0.
    consistent, direction, speed
        ``[N, R]`` whether the decision, or one half of it, matches the logged future; NaN where lost.
    chosen
        ``[N, R]`` 0-based option, -1 where there is none.
    answers
        N x R, None where none was given.
    """

    items: Sequence[McqItem]
    answers: Sequence[Sequence[Answer | None]]
    correct: Float
    consistent: Float
    direction: Float
    speed: Float
    chosen: Int

    @property
    def scenes(self) -> list[str]:
        """The drive of each question: what the bootstrap draws."""
        return [item.scene_key for item in self.items]


def tabulate(items: Sequence[McqItem], answers: Iterable[Answer]) -> AnswerTable:
    """Line answers up with questions.

    Raises
    ------
    BadInput
        If an answer belongs to no question, or two answers to the same repeat.
    """
    row = {(item.record_key, item.variant): n for n, item in enumerate(items)}
    given: dict[tuple[int, int], Answer] = {}
    for answer in answers:
        n = row.get((answer.record_key, answer.variant))
        if n is None:
            raise BadInput("an answer to no question", field=answer.record_key)
        if (n, answer.repeat) in given:
            raise BadInput(f"repeat {answer.repeat} is answered twice", field=answer.record_key)
        given[n, answer.repeat] = answer
    repeats = 1 + max((repeat for _, repeat in given), default=-1)
    lined = [[given.get((n, r)) for r in range(repeats)] for n in range(len(items))]

    def fill(score: Callable[[Answer, McqItem], float | None]) -> Float:
        values = np.full((len(items), repeats), np.nan)
        for (n, r), answer in given.items():
            value = score(answer, items[n])
            values[n, r] = np.nan if value is None else value
        return values

    return AnswerTable(
        items,
        lined,
        correct=fill(lambda a, i: score_choice(a, i).value),
        consistent=fill(lambda a, i: score_decision(a, i).value),
        direction=fill(lambda a, i: _half(a, i, "direction")),
        speed=fill(lambda a, i: _half(a, i, "speed")),
        chosen=np.nan_to_num(fill(lambda a, i: a.choice), nan=-1.0).astype(np.int64),
    )


def _half(answer: Answer, item: McqItem, part: str) -> float | None:
    if answer.decision_lost:
        return None
    said = answer.decision
    return float(said is not None and getattr(said, part) == getattr(true_decision(item), part))


@dataclass(frozen=True)
class PositionRow:
    """One letter: share of choices, share of oracles, accuracy where the oracle stands there."""

    letter: str
    chosen: float | None
    oracle: float | None
    accuracy: Estimate


@dataclass(frozen=True)
class McqReport:
    """What a run of questions came to.

    Attributes
    ----------
    items, scenes, repeats
        Questions, drives, repeats of each question.
    answers, lost, invalid, wrong, right
        Counts of answers; the last four sum to the first.
    reasons
        Why answers were invalid or lost, with counts.
    chance
        Expected accuracy of a uniform choice.
    accuracy
        ACC: mean over questions of the mean over repeats; invalid answers are not correct.
    accuracy_valid
        The same over readable answers only; unreadable ones are lost to it.
    accuracy_by_repeat
        One value a repeat, whose mean over runs the paper reports.
    hld, hld_direction, hld_speed
        Consistency of the decision and of its halves.
    decisions_invalid, decisions_lost
        Decisions that could not be read; that a failing model never gave.
    by_class, by_variant
        ACC and HLD by drive class and by cell of the difficulty grid.
    by_direction, by_speed
        HLD halves by what the logged future does.
    positions
        Table of position bias.
    """

    items: int
    scenes: int
    repeats: int
    answers: int
    lost: int
    invalid: int
    wrong: int
    right: int
    reasons: dict[str, int]
    chance: float | None
    accuracy: Estimate
    accuracy_valid: Estimate
    accuracy_by_repeat: list[float | None]
    hld: Estimate
    hld_direction: Estimate
    hld_speed: Estimate
    decisions_invalid: int
    decisions_lost: int
    by_class: dict[str, dict[str, Estimate]]
    by_variant: dict[str, dict[str, Estimate]]
    by_direction: dict[str, Estimate]
    by_speed: dict[str, Estimate]
    positions: list[PositionRow]


def report_mcq(items: Sequence[McqItem], answers: Iterable[Answer], seed: int) -> McqReport:
    """All figures of a run; intervals are bootstraps over drives with ``seed``."""
    return report_table(tabulate(items, answers), seed)


def report_table(table: AnswerTable, seed: int) -> McqReport:
    """All figures of lined-up answers."""
    flat = [answer for row in table.answers for answer in row]
    lost = sum(answer is None or answer.lost for answer in flat)
    unread = (table.chosen < 0) & ~np.isnan(table.correct)
    right = int(np.nansum(table.correct))
    readable = np.where(unread, np.nan, table.correct)
    truth = [true_decision(item) for item in table.items]

    def mean(values: Float) -> Estimate:
        return bootstrap_mean(mean_over_repeats(values), seed, clusters=table.scenes)

    def both(rows: Int) -> dict[str, Estimate]:
        return {
            "accuracy": _part(table, table.correct, rows, seed),
            "hld": _part(table, table.consistent, rows, seed),
        }

    return McqReport(
        items=len(table.items),
        scenes=len(set(table.scenes)),
        repeats=table.correct.shape[1],
        answers=len(flat),
        lost=lost,
        invalid=int(unread.sum()),
        wrong=len(flat) - lost - int(unread.sum()) - right,
        right=right,
        reasons=_reasons(flat),
        chance=float(np.mean([1 / i.n_options for i in table.items])) if table.items else None,
        accuracy=mean(table.correct),
        accuracy_valid=mean(readable),
        accuracy_by_repeat=[_mean_or_none(column) for column in table.correct.T],
        hld=mean(table.consistent),
        hld_direction=mean(table.direction),
        hld_speed=mean(table.speed),
        decisions_invalid=sum(
            a is not None and not a.decision_lost and a.decision is None for a in flat
        ),
        decisions_lost=sum(a is None or a.decision_lost for a in flat),
        by_class=_by([item.drive_class for item in table.items], both),
        by_variant=_by([item.variant for item in table.items], both),
        by_direction=_by(
            [decision.direction.value for decision in truth],
            lambda rows: _part(table, table.direction, rows, seed),
        ),
        by_speed=_by(
            [decision.speed.value for decision in truth],
            lambda rows: _part(table, table.speed, rows, seed),
        ),
        positions=_positions(table, seed),
    )


def _part(table: AnswerTable, values: Float, rows: Int, seed: int) -> Estimate:
    scenes = [table.scenes[int(n)] for n in rows]
    return bootstrap_mean(mean_over_repeats(values[rows]), seed, clusters=scenes)


def _by(names: Sequence[str], figure: Callable[[Int], _T]) -> dict[str, _T]:
    array = np.asarray(names, dtype=object)
    return {name: figure(np.flatnonzero(array == name)) for name in sorted(set(names))}


def _reasons(answers: Iterable[Answer | None]) -> dict[str, int]:
    texts = ("not asked" if a is None else a.error or a.reason for a in answers)
    return dict(sorted(Counter(text for text in texts if text).items()))


def _positions(table: AnswerTable, seed: int) -> list[PositionRow]:
    most = max((item.n_options for item in table.items), default=0)
    oracle = np.array([item.oracle_index for item in table.items], dtype=np.int64)
    chosen = table.chosen[table.chosen >= 0]
    return [
        PositionRow(
            letter=chr(ord("A") + k),
            chosen=_mean_or_none(chosen == k),
            oracle=_mean_or_none(oracle == k),
            accuracy=_part(table, table.correct, np.flatnonzero(oracle == k), seed),
        )
        for k in range(most)
    ]


def _mean_or_none(values: NDArray[Any]) -> float | None:
    kept = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    return float(kept.mean()) if len(kept) else None
