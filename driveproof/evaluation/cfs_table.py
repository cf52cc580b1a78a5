"""CFS of whole runs: every turn 1 of every repeat judged, with interval and counts of what was lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from driveproof.evaluation.cfs import AXES, CfsCase, CfsJudge, CfsScore
from driveproof.evaluation.facts import SceneFacts
from driveproof.evaluation.mcq import AnswerTable
from driveproof.evaluation.normalise import normalise
from driveproof.evaluation.statistics import Estimate, bootstrap_mean, mean_over_repeats
from driveproof.geometry.arrays import Float
from driveproof.mcq.interaction import Answer
from driveproof.scene import Observation

_SILENT = CfsScore(False, False, False, False)


@dataclass(frozen=True)
class CfsReport:
    """What the judge made of a run.

    Attributes
    ----------
    judge
        Its name.
    score, axes
        Normalised CFS and its four axes: means over questions of the means over repeats. A text in which nothing is left after
        normalisation counts 0 on every axis; a text that was never given or could not be judged is lost.
    judged, lost
        Texts.
    reasons
        Why texts were lost, with counts.
    """

    judge: str
    score: Estimate
    axes: dict[str, Estimate]
    judged: int
    lost: int
    reasons: dict[str, int] = field(default_factory=dict)


def report_cfs(
    table: AnswerTable,
    judge: CfsJudge,
    seed: int,
    *,
    facts: Mapping[str, SceneFacts] | None = None,
    seen: Mapping[str, Observation] | None = None,
) -> tuple[CfsReport, dict[str, Float]]:
    """Judge the turn-1 texts of lined-up answers; intervals are bootstraps over drives.

    Also returns the values ``[N, R]`` of "score" and of each axis, NaN where lost.

    Parameters
    ----------
    facts
        Record key -> facts, for the offline judge.
    seen
        Record key -> what the scene really looked like, where the questions were asked with other pictures.
    """
    values = np.full((len(AXES), *table.correct.shape), np.nan)
    cases: list[CfsCase] = []
    places: list[tuple[int, int]] = []
    reasons: Counter[str] = Counter()
    for n, (item, row) in enumerate(zip(table.items, table.answers, strict=True)):
        for r, answer in enumerate(row):
            text = _text(answer)
            if text is None:
                reasons[answer.error if answer and answer.error else "no text"] += 1
            elif not text:
                values[:, n, r] = tuple(_SILENT.axes().values())
            else:
                shown = (seen or {}).get(item.record_key, item.observation)
                cases.append(CfsCase(text, shown, (facts or {}).get(item.record_key)))
                places.append((n, r))
    for (n, r), judged in zip(places, judge.judge(cases), strict=True):
        if isinstance(judged, CfsScore):
            values[:, n, r] = tuple(judged.axes().values())
        else:
            reasons[judged] += 1
    by_name = {"score": values.mean(0), **dict(zip(AXES, values, strict=True))}
    report = CfsReport(
        judge=judge.name,
        score=_mean(by_name["score"], table.scenes, seed),
        axes={name: _mean(by_name[name], table.scenes, seed) for name in AXES},
        judged=int((~np.isnan(values[0])).sum()),
        lost=sum(reasons.values()),
        reasons=dict(sorted(reasons.items())),
    )
    return report, by_name


def _text(answer: Answer | None) -> str | None:
    """The normalised turn 1 with its decision, None if there is no turn 1."""
    if answer is None or answer.turn1 is None:
        return None
    return normalise(answer.turn1, answer.turn2, keep_decision=True)


def _mean(values: Float, scenes: Sequence[str], seed: int) -> Estimate:
    return bootstrap_mean(mean_over_repeats(values), seed, clusters=scenes)
