"""Scoring a whole file of answers against the expert's."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.commenter.dataset import AnswerRow, read_answers
from driveproof.errors import BadInput
from driveproof.evaluation.statistics import Estimate, bootstrap_mean
from driveproof.evaluation.vqa.given import Given, read_given
from driveproof.evaluation.vqa.judge import FormJudge, Unread, open_slots
from driveproof.evaluation.vqa.peer import counted, score_as_peer
from driveproof.evaluation.vqa.score import FORESEEN, Truth, VqaScore, score_answer
from driveproof.evaluation.vqa.waypoints import Replay
from driveproof.files import atomic_dir, write_json
from driveproof.questions import QUESTIONS, Answer, QuestionKey
from driveproof.questions.reading import Reading, read_answer

LOOK_FUTURE_FRAMES = 20
"""Answers of so many frames (two seconds) after the question may be right early."""
Moment = tuple[str, int]
Replays = Callable[[str, int], Replay | None]


@dataclass(frozen=True)
class Scored:
    """One answer with its score."""

    clip: str
    scenario: str
    frame: int
    number: int
    subject: str
    category: str
    value: float | None
    why: str


@dataclass
class VqaReport:
    """Scores by everything that one may ask for; every mean with n, lost and an interval over clips.

    ``unread`` counts answers in which something could not be read, ``missing`` questions without an answer,
    ``unscored`` why answers have no score.
    """

    overall: Estimate
    by_question: dict[int, Estimate]
    by_category: dict[str, Estimate]
    by_scenario: dict[str, Estimate]
    unread: int
    missing: int
    unscored: dict[str, int] = field(default_factory=dict)
    judge: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Pair:
    """A question of the dataset, what was said, and what is true."""

    row: AnswerRow
    given: Given
    truth: Truth


def score_file(
    truth: str | Path,
    answers: str | Path,
    *,
    judge: FormJudge | None = None,
    replays: Replays | None = None,
    seed: int = 0,
    peer_rules: bool = False,
    progress: Callable[[int], None] | None = None,
) -> tuple[list[Scored], VqaReport]:
    """Score the answers of a file against a dataset of the expert's.

    Parameters
    ----------
    truth
        Folder of ``driveproof comment``.
    answers
        See :func:`~driveproof.evaluation.vqa.given.read_given`.
    judge
        Reads what rules cannot; its failures are unscored answers, and its cache makes a repeated run free.
    replays
        What happened after a frame, for waypoints (42).
    peer_rules
        Score by the published program's arithmetic (:mod:`~driveproof.evaluation.vqa.peer`).

    Raises
    ------
    BadInput
        If an answer belongs to no question or there are two to one question.
    """
    given = _by_moment(answers)
    scored: list[Scored] = []
    missing = 0
    for pairs, left in _pairs(truth, given, replays):
        scored += score_pairs(pairs, judge, peer_rules=peer_rules)
        missing += left
        if progress is not None:
            progress(len(pairs))
    if given:
        clip, frame = next(iter(given))
        raise BadInput(
            f"no question in frame {frame} of {clip}",
            path=answers,
            hint="answers of another dataset?",
        )
    return scored, report_scores(scored, seed, missing, judge)


def _by_moment(answers: str | Path) -> dict[Moment, dict[QuestionKey, Given]]:
    found: dict[Moment, dict[QuestionKey, Given]] = defaultdict(dict)
    for item in read_given(answers):
        moment = found[item.clip, item.frame]
        if item.key in moment:
            raise BadInput(
                f"two answers to question {item.key.number} {item.key.subject} in frame {item.frame} of {item.clip}",
                path=answers,
            )
        moment[item.key] = item
    return found


def _pairs(
    truth: str | Path,
    given: dict[Moment, dict[QuestionKey, Given]],
    replays: Replays | None,
) -> Iterator[tuple[list[Pair], int]]:
    """Frame by frame: the answered questions with their truth, and how many were not answered."""
    for clip, rows in groupby(read_answers(truth), key=lambda row: row.clip):
        listed = list(rows)
        for frame, questions in groupby(listed, key=lambda row: row.frame):
            answered = given.pop((clip, frame), {})
            chosen = [row for row in questions if row.key in answered]
            said = [answered.pop(row.key) for row in chosen]
            if answered:
                key = next(iter(answered))
                where = f"frame {frame} of {clip}"
                raise BadInput(f"no question {key.number} {key.subject} in {where}", path=truth)
            if chosen:
                asked = sum(row.frame == frame for row in listed)
                yield pair_up(chosen, said, replays, listed), asked - len(chosen)


def _future(
    rows: Iterable[AnswerRow],
) -> dict[tuple[str, QuestionKey, int], tuple[Answer, ...]]:
    """For questions that may be right early: the answers of the next two seconds of the same clip."""
    by_key: dict[tuple[str, QuestionKey], list[AnswerRow]] = defaultdict(list)
    for row in rows:
        if row.key.number in FORESEEN:
            by_key[row.clip, row.key].append(row)
    return {
        (clip, key, row.frame): tuple(
            later.answer
            for later in listed[place + 1 : place + 1 + LOOK_FUTURE_FRAMES]
            if later.frame - row.frame <= LOOK_FUTURE_FRAMES
        )
        for (clip, key), listed in by_key.items()
        for place, row in enumerate(listed)
    }


def pair_up(
    rows: Sequence[AnswerRow],
    given: Sequence[Given],
    replays: Replays | None = None,
    context: Sequence[AnswerRow] | None = None,
) -> list[Pair]:
    """Each row with the answer at the same place of ``given``; what comes later is looked up in ``context`` (all rows)."""
    future = _future(rows if context is None else context)
    return [
        Pair(
            row,
            said,
            Truth(
                row.answer,
                future.get((row.clip, row.key, row.frame), ()),
                row.ego_speed,
                replays(row.clip, row.frame) if replays and row.key.number == 42 else None,
            ),
        )
        for row, said in zip(rows, given, strict=True)
    ]


def score_pairs(
    pairs: Iterable[Pair], judge: FormJudge | None = None, *, peer_rules: bool = False
) -> list[Scored]:
    """Score answered questions; what rules cannot read goes to the judge in one batch."""
    listed = list(pairs)
    readings: list[Reading | str] = [_read(pair) for pair in listed]
    if judge is not None:
        open_ = [
            (place, _unread(pair, reading))
            for place, (pair, reading) in enumerate(zip(listed, readings, strict=True))
            if isinstance(reading, Reading) and needs_judge(reading, pair)
        ]
        filled = judge.fill([item for _, item in open_])
        for (place, _), reading in zip(open_, filled, strict=True):
            readings[place] = reading
    return [
        _scored(pair, _score(pair, reading, peer_rules))
        for pair, reading in zip(listed, readings, strict=True)
    ]


def _read(pair: Pair) -> Reading | str:
    """What the rules read, or why there is nothing to read."""
    if pair.given.text is None:
        return f"lost: {pair.given.error or 'no answer'}"
    row = pair.row
    subject = next((ref for ref in row.known if ref.tag == row.key.subject), None)
    return read_answer(QUESTIONS[row.key.number], pair.given.text, row.known, subject)


def needs_judge(reading: Reading, pair: Pair) -> bool:
    """Whether something is left that a form can hold: keys and waypoints are read by rules or not at all."""
    return bool(open_slots(_unread(pair, reading))) and bool((pair.given.text or "").strip())


def _unread(pair: Pair, reading: Reading) -> Unread:
    return Unread(QUESTIONS[pair.row.key.number], pair.row.question, pair.given.text or "", reading)


def _score(pair: Pair, reading: Reading | str, peer_rules: bool) -> VqaScore:
    if isinstance(reading, str):
        score = VqaScore.unscored(reading)
    elif peer_rules:
        question = QUESTIONS[pair.row.key.number]
        score = score_as_peer(question, reading, pair.truth, pair.given.text or "")
    else:
        score = score_answer(QUESTIONS[pair.row.key.number], reading, pair.truth)
    return counted(score) if peer_rules else score


def _scored(pair: Pair, score: VqaScore) -> Scored:
    row = pair.row
    category = QUESTIONS[row.key.number].category.value
    return Scored(
        row.clip,
        row.scenario,
        row.frame,
        row.key.number,
        row.key.subject,
        category,
        score.value,
        score.why,
    )


def report_scores(
    scored: list[Scored], seed: int, missing: int = 0, judge: FormJudge | None = None
) -> VqaReport:
    """Means with intervals; clips are drawn whole, for the frames of a clip depend on each other."""

    def estimate(rows: list[Scored]) -> Estimate:
        values = np.array([np.nan if r.value is None else r.value for r in rows], dtype=np.float64)
        return bootstrap_mean(values, seed, clusters=[r.clip for r in rows])

    def grouped(name: str) -> dict[Any, Estimate]:
        groups: dict[Any, list[Scored]] = defaultdict(list)
        for row in scored:
            groups[getattr(row, name)].append(row)
        return {key: estimate(groups[key]) for key in sorted(groups)}

    reasons = Counter(_short(row.why) for row in scored if row.value is None)
    return VqaReport(
        overall=estimate(scored),
        by_question=grouped("number"),
        by_category=grouped("category"),
        by_scenario=grouped("scenario"),
        unread=sum(row.why.startswith("unread") for row in scored),
        missing=missing,
        unscored=dict(sorted(reasons.items())),
        judge={"asked": judge.asked, "failed": judge.failed} if judge else {},
    )


def _short(why: str) -> str:
    return ":".join(why.split(":")[:2])[:80]


_SCHEMA = pa.schema(
    {
        "clip": pa.string(),
        "scenario": pa.string(),
        "frame": pa.int32(),
        "number": pa.int16(),
        "subject": pa.string(),
        "category": pa.string(),
        "value": pa.float64(),
        "why": pa.string(),
    }
)


def write_scores(
    scored: list[Scored], report: VqaReport, out: str | Path, about: Mapping[str, Any]
) -> None:
    """Write ``scores.parquet`` (null is unscored) and ``summary.json`` into the folder ``out``."""
    with atomic_dir(out) as folder:
        rows = [asdict(row) for row in scored]
        pq.write_table(
            pa.Table.from_pylist(rows, schema=_SCHEMA),
            folder / "scores.parquet",
            compression="zstd",
        )
        write_json(folder / "summary.json", {**about, **report.to_json()})
