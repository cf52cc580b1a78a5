"""Does a policy look? The same questions with the pictures of other drives.

A policy that decides from speed and command alone scores the same with any pictures. Permuting pictures
between questions keeps their statistics, unlike blanking them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from driveproof.errors import BadInput
from driveproof.evaluation.mcq import AnswerTable
from driveproof.evaluation.statistics import (
    Estimate,
    bootstrap_mean,
    mean_over_repeats,
    paired_difference,
)
from driveproof.geometry.arrays import Float, Int
from driveproof.mcq.items import McqItem


def scene_derangement(scenes: Sequence[str], seed: int) -> Int:
    """Permutation ``[N]`` in which nothing takes the place of anything of its own drive.

    Drives are put in random order with their questions side by side, and everything moves on by the length
    of the longest drive.

    Raises
    ------
    BadInput
        If one drive holds more than half of the questions: then no such permutation exists.
    """
    n = len(scenes)
    counts = Counter(scenes)
    step = max(counts.values(), default=0)
    if 2 * step > n:
        raise BadInput(
            f"one drive holds {step} of {n} questions, so its pictures cannot all come from others",
            hint="take questions from more drives",
        )
    rng = np.random.default_rng(seed)
    names = sorted(counts)
    rank = dict(zip(names, rng.permutation(len(names)).tolist(), strict=True))
    place = rng.permutation(n)
    order = np.array(sorted(range(n), key=lambda i: (rank[scenes[i]], place[i])), dtype=np.int64)
    donors = np.empty(n, dtype=np.int64)
    donors[order] = np.roll(order, -step)
    return donors


def with_other_pictures(items: Sequence[McqItem], seed: int) -> list[McqItem]:
    """The questions, each with the pictures of a question of another drive."""
    donors = scene_derangement([item.scene_key for item in items], seed)
    return [
        replace(
            item,
            observation=replace(item.observation, images=items[int(donor)].observation.images),
        )
        for item, donor in zip(items, donors, strict=True)
    ]


def without_pictures(items: Sequence[McqItem]) -> list[McqItem]:
    """The questions without any picture."""
    return [replace(item, observation=replace(item.observation, images={})) for item in items]


@dataclass(frozen=True)
class PictureDependence:
    """What other pictures change: drops are own minus other, paired by question.

    ``decisions_changed`` is the share of decisions that differ from the same repeat (same seed) with the
    question's own pictures.
    """

    accuracy_drop: Estimate
    hld_drop: Estimate
    decisions_changed: Estimate


def picture_dependence(own: AnswerTable, other: AnswerTable, seed: int) -> PictureDependence:
    """Compare two runs over the same questions in the same order.

    Only the repeats that both have are compared.
    """
    if [i.record_key for i in own.items] != [i.record_key for i in other.items]:
        raise ValueError("picture_dependence: the runs are over different questions")
    repeats = min(own.correct.shape[1], other.correct.shape[1])

    def drop(first: Float, second: Float) -> Estimate:
        halves = (mean_over_repeats(first[:, :repeats]), mean_over_repeats(second[:, :repeats]))
        return paired_difference(*halves, seed, clusters=own.scenes)

    changed = np.full((len(own.items), repeats), np.nan)
    for n, (mine, theirs) in enumerate(zip(own.answers, other.answers, strict=True)):
        for r in range(repeats):
            a, b = mine[r], theirs[r]
            if a is not None and b is not None and not (a.decision_lost or b.decision_lost):
                changed[n, r] = a.decision != b.decision
    return PictureDependence(
        accuracy_drop=drop(own.correct, other.correct),
        hld_drop=drop(own.consistent, other.consistent),
        decisions_changed=bootstrap_mean(mean_over_repeats(changed), seed, clusters=own.scenes),
    )
