"""Answers beside driving: the questions asked at the decisions of a run, scored, and held against the drive.

The driving side writes the expert's answers beside the policy's (``truth`` in ``decisions.jsonl``); they are scored
by the same scorer as answers to recorded clips. A policy without a trace has answered question 50 with its keys.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from driveproof.commenter.dataset import AnswerRow
from driveproof.errors import BadInput
from driveproof.evaluation.driving.decisions import DECISIONS_FILE, DecisionLine, read_decisions
from driveproof.evaluation.driving.records import RouteRecord
from driveproof.evaluation.driving.route_score import Variant, score_record
from driveproof.evaluation.driving.runs import DriveRun
from driveproof.evaluation.driving.suite import abilities_of
from driveproof.evaluation.statistics import (
    CONFIDENCE,
    FEWEST_CLUSTERS,
    RESAMPLES,
    Estimate,
    bootstrap_mean,
)
from driveproof.evaluation.vqa.given import Given
from driveproof.evaluation.vqa.judge import FormJudge
from driveproof.evaluation.vqa.run import (
    Pair,
    Scored,
    VqaReport,
    pair_up,
    report_scores,
    score_pairs,
)
from driveproof.geometry.arrays import Float
from driveproof.questions import QUESTIONS, QuestionKey
from driveproof.questions.serial import answer_from_json, object_from_json

ACTION = 50
CLIP_HZ = 10.0
"""Frames a second of the clips, in which the scorer counts."""
FEWEST = 3
"""Drives from which on a correlation says anything."""


@dataclass(frozen=True)
class AnsweredDrive:
    """Mean score of the answers of a drive (0 to 100), of how many, and its driving score; None is unscored."""

    route_id: str
    repeat: int
    scenarios: tuple[str, ...]
    town: str
    answers: float | None
    n: int
    driving: float | None


@dataclass(frozen=True)
class Relation:
    """Answers and driving of a group of drives.

    ``rank_correlation`` is Spearman's, with an interval over whole routes; unscored with fewer than three drives or
    where one of both never varies.
    """

    answers: Estimate
    driving: Estimate
    rank_correlation: Estimate


@dataclass(frozen=True)
class AnswersReport:
    """The answers of a run: their scores, and how they go with the driving, over all and in groups."""

    vqa: VqaReport
    overall: Relation
    by_scenario: dict[str, Relation]
    by_ability: dict[str, Relation]
    by_town: dict[str, Relation]
    drives: tuple[AnsweredDrive, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def answers_of(
    run: DriveRun,
    variant: Variant | str = Variant.CORRECTED,
    *,
    judge: FormJudge | None = None,
    seed: int = 0,
) -> AnswersReport | None:
    """Score the answers of a run; None if the expert's were not written beside them.

    Raises
    ------
    BadInput
        If a decision is broken; says where.
    """
    scored: list[Scored] = []
    drives: list[AnsweredDrive] = []
    missing = asked = 0
    for record in run.records:
        pairs, unanswered = _pairs(record, read_decisions(run.folder(record)), run)
        found = score_pairs(pairs, judge)
        scored += found
        missing += unanswered
        asked += len(pairs) + unanswered
        drives.append(_drive(record, found, Variant(variant)))
    if not asked:
        return None
    return AnswersReport(
        report_scores(scored, seed, missing, judge),
        _relation(drives, seed),
        _grouped(drives, seed, lambda one: one.scenarios),
        _grouped(drives, seed, lambda one: [a.value for a in abilities_of(one.scenarios)]),
        _grouped(drives, seed, lambda one: [one.town]),
        tuple(drives),
    )


def rank_correlation(
    first: Sequence[float], second: Sequence[float], clusters: Sequence[str], seed: int = 0
) -> Estimate:
    """Spearman's rank correlation of pairs, with a bootstrap interval that draws whole clusters.

    Parameters
    ----------
    first, second
        ``[N]`` each; NaN in either loses the pair.
    clusters
        N names.
    """
    pairs = np.column_stack([first, second]).astype(np.float64).reshape(-1, 2)
    kept = ~np.isnan(pairs).any(axis=1)
    lost = int((~kept).sum())
    pairs, names = pairs[kept], np.asarray(clusters)[kept]
    if len(pairs) < FEWEST or (np.ptp(pairs, axis=0) == 0.0).any():
        return Estimate(None, None, None, len(pairs), lost)
    _, code = np.unique(names, return_inverse=True)
    groups = int(code.max()) + 1
    draws = np.random.default_rng(seed).multinomial(
        groups, np.full(groups, 1 / groups), size=RESAMPLES
    )
    values = _spearman(pairs, draws[:, code].astype(np.float64))
    values = values[~np.isnan(values)]  # draws in which one of both is constant
    half = (1.0 - CONFIDENCE) / 2.0
    mean = float(_spearman(pairs, np.ones((1, len(pairs))))[0])
    if groups < FEWEST_CLUSTERS or not len(values):
        return Estimate(mean, None, None, len(pairs), lost)
    low, high = np.quantile(values, [half, 1.0 - half])
    return Estimate(mean, float(low), float(high), len(pairs), lost)


def _spearman(pairs: Float, weights: Float) -> Float:
    """Rank correlations ``[R]`` of ``[N, 2]`` in which pair i occurs ``weights[r, i]`` times; NaN if constant.

    The rank of a value among repeated ones is what lies below it and half of what equals it.
    """
    centred = []
    for values in pairs.T:
        below = (values < values[:, None]) + 0.5 * (values == values[:, None])
        ranks = weights @ below.T
        mean = (weights * ranks).sum(axis=1) / weights.sum(axis=1)
        centred.append(ranks - mean[:, None])
    first, second = centred
    norm = np.sqrt((weights * first**2).sum(axis=1) * (weights * second**2).sum(axis=1))
    product = (weights * first * second).sum(axis=1)
    found = np.full(len(norm), np.nan)
    np.divide(product, norm, out=found, where=norm > 1e-9)
    return found


def _pairs(
    record: RouteRecord, lines: Sequence[DecisionLine], run: DriveRun
) -> tuple[list[Pair], int]:
    """The questions of a drive that were asked, with the answers; and how many the expert could not answer."""
    rows: list[AnswerRow] = []
    given: list[Given] = []
    unanswered = 0
    for number, line in enumerate(lines, start=1):
        if line.truth is None:
            continue
        try:
            true = _rows(record, line, line.truth)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            path = run.folder(record) / DECISIONS_FILE
            raise BadInput(f"no truth: {error}", path=path, field=f"line {number}") from None
        try:
            answered = _given(line, record)
        except ValueError as error:
            path = run.folder(record) / DECISIONS_FILE
            raise BadInput(str(error), path=path, field=f"line {number}, trace.steps") from None
        for said in answered:
            if said.key in true:
                rows.append(true[said.key])
                given.append(said)
            else:
                unanswered += 1
    return pair_up(rows, given), unanswered


def _rows(
    record: RouteRecord, line: DecisionLine, truth: Mapping[str, Any]
) -> dict[QuestionKey, AnswerRow]:
    """What the expert says at a decision, by question."""
    refs = [object_from_json(item) for item in truth["objects"]]
    known = {ref.tag: ref for ref in refs}
    found = {}
    for item in truth["answers"]:
        key = QuestionKey(int(item["number"]), str(item["subject"]))
        if key.number not in QUESTIONS:
            raise ValueError(f"no question has the number {key.number}")
        found[key] = AnswerRow(
            clip=_clip(record),
            scenario=record.scenarios[0] if record.scenarios else "",
            frame=round(CLIP_HZ * line.time),
            key=key,
            question=str(item.get("question", "")),
            text=str(item.get("text") or ""),
            answer=answer_from_json(item["facts"], known),
            known=tuple(refs),
            ego_speed=line.speed,
        )
    return found


def _given(line: DecisionLine, record: RouteRecord) -> list[Given]:
    """The policy's own answers at a decision; what the expert told it is none."""
    frame, clip = round(CLIP_HZ * line.time), _clip(record)
    found = []
    for step in _steps(line):
        if not step.get("truth"):
            key = QuestionKey(step["number"], str(step.get("subject", "")))
            text = step.get("text")
            said = None if text is None else str(text)
            found.append(Given(clip, frame, key, said, str(step.get("error") or "")))
    acted = bool(line.keys or line.error)  # who moves pedals answers nothing
    if acted and not any(one.key.number == ACTION for one in found):
        found.append(Given(clip, frame, QuestionKey(ACTION, ""), line.keys or None, line.error))
    return found


def _steps(line: DecisionLine) -> list[Mapping[str, Any]]:
    """The questions of a decision's trace; ValueError if it is another's trace."""
    steps = (line.trace or {}).get("steps", [])
    if not isinstance(steps, list):
        raise ValueError("is no list of questions")
    for place, step in enumerate(steps):
        if not isinstance(step, Mapping):
            raise ValueError(f"question {place} is no object")
        if type(step.get("number")) is not int:
            raise ValueError(f"question {place} has no number")
    return steps


def _clip(record: RouteRecord) -> str:
    return f"{record.route_id}_rep{record.repeat}"


def _drive(record: RouteRecord, found: Sequence[Scored], variant: Variant) -> AnsweredDrive:
    values = [one.value for one in found if one.value is not None]
    return AnsweredDrive(
        record.route_id,
        record.repeat,
        record.scenarios,
        record.town,
        float(np.mean(values)) if values else None,
        len(values),
        score_record(record, variant, motions=lambda _: None).composed,
    )


def _relation(drives: Sequence[AnsweredDrive], seed: int) -> Relation:
    names = [one.route_id for one in drives]
    answers = [np.nan if one.answers is None else one.answers for one in drives]
    driving = [np.nan if one.driving is None else one.driving for one in drives]
    return Relation(
        bootstrap_mean(answers, seed, clusters=names),
        bootstrap_mean(driving, seed, clusters=names),
        rank_correlation(answers, driving, names, seed),
    )


def _grouped(
    drives: Sequence[AnsweredDrive], seed: int, names: Callable[[AnsweredDrive], Iterable[str]]
) -> dict[str, Relation]:
    members: dict[str, list[AnsweredDrive]] = defaultdict(list)
    for one in drives:
        for name in dict.fromkeys(names(one)):
            members[name].append(one)
    return {name: _relation(found, seed) for name, found in sorted(members.items())}
