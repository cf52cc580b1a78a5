"""Answers that nobody thought about, so that a reader sees what scores mean.

``expert``: the truth against itself, the ceiling. ``shuffled``: the true answer of another clip to the same question.
``constant``: always the most frequent answer to that question. Whoever is not better than the last two has learnt the
questions, not the scene.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from driveproof.commenter.dataset import AnswerRow, read_answers
from driveproof.evaluation.vqa.given import Given
from driveproof.evaluation.vqa.run import Replays, VqaReport, pair_up, report_scores, score_pairs
from driveproof.evaluation.vqa.waypoints import Replay

Baseline = Callable[[Sequence[AnswerRow], int], list[str | None]]


def expert(rows: Sequence[AnswerRow], seed: int) -> list[str | None]:
    """Every answer as it is."""
    return [row.text for row in rows]


def shuffled(rows: Sequence[AnswerRow], seed: int) -> list[str | None]:
    """For each row the answer of a row of another clip to the same question; None where no other clip has it."""
    by_number: dict[int, list[AnswerRow]] = defaultdict(list)
    for row in rows:
        by_number[row.key.number].append(row)
    answers: list[str | None] = []
    for row in rows:
        others = [other for other in by_number[row.key.number] if other.clip != row.clip]
        name = f"{seed}/{row.clip}/{row.frame}/{row.key.number}/{row.key.subject}"
        draw = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
        answers.append(others[draw % len(others)].text if others else None)
    return answers


def constant(rows: Sequence[AnswerRow], seed: int) -> list[str | None]:
    """For each row the most frequent answer to its question; the first in the alphabet of equally frequent ones."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for row in rows:
        counts[row.key.number][row.text] += 1
    best = {number: min(c, key=lambda text: (-c[text], text)) for number, c in counts.items()}
    return [best[row.key.number] for row in rows]


BASELINES: dict[str, Baseline] = {"expert": expert, "shuffled": shuffled, "constant": constant}


def score_baselines(
    truth: str | Path, *, seed: int = 0, replays: Replays | None = None, every: int = 1
) -> dict[str, VqaReport]:
    """The reports of all baselines on every ``every``-th frame of a dataset."""
    rows = _thinned(read_answers(truth), every)
    known: dict[tuple[str, int], Replay | None] = {}

    def once(clip: str, frame: int) -> Replay | None:
        """Every baseline asks for the same moments, and a clip is slow to read."""
        if replays is not None and (clip, frame) not in known:
            known[clip, frame] = replays(clip, frame)
        return known.get((clip, frame))

    reports = {}
    for name, baseline in BASELINES.items():
        texts = baseline(rows, seed)
        given = [
            Given(
                row.clip,
                row.frame,
                row.key,
                text,
                "" if text is not None else "no other clip has this question",
            )
            for row, text in zip(rows, texts, strict=True)
        ]
        reports[name] = report_scores(score_pairs(pair_up(rows, given, once)), seed)
    return reports


def _thinned(rows: Iterable[AnswerRow], every: int) -> list[AnswerRow]:
    kept: list[AnswerRow] = []
    places: dict[str, dict[int, int]] = defaultdict(dict)
    for row in rows:
        place = places[row.clip].setdefault(row.frame, len(places[row.clip]))
        if place % every == 0:
            kept.append(row)
    return kept


def to_json(reports: dict[str, VqaReport]) -> dict[str, Any]:
    """Plain values."""
    return {name: report.to_json() for name, report in reports.items()}
