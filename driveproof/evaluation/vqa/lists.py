"""Lists of named things: weights, weighted F1 and NDCG.

Source: Bench2Drive-VL, equations 1 to 10. The importance constant R is 5, EXTRA_RATIO is 2; positions i run from 1 to
N. Two empty lists agree wholly: naming nothing is right where there is nothing to name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from driveproof.questions import ObjectRef

IMPORTANCE = 5.0
EXTRA_RATIO = 2.0
HEAVY, LIGHT = 3.0, 1.0


def base_weight(ref: ObjectRef) -> float:
    """b of equation 2: 3 for what the scenario is about and for what is dangerous, else 1."""
    return HEAVY if ref.is_role or ref.is_dangerous else LIGHT


def position_weights(count: int) -> list[float]:
    """p of equation 1 for the positions 1 to ``count``: N R / (R - 1) - i."""
    return [count * IMPORTANCE / (IMPORTANCE - 1.0) - place for place in range(1, count + 1)]


def importance_weights(truth: Sequence[ObjectRef]) -> list[float]:
    """w of equation 3 for a ranked list."""
    places = position_weights(len(truth))
    return [base_weight(ref) * place for ref, place in zip(truth, places, strict=True)]


def extra_weight(truth: Sequence[ObjectRef]) -> float:
    """Weight of a named thing that is not in a ranked list: the smallest position weight over EXTRA_RATIO."""
    return min(position_weights(len(truth)), default=1.0) / EXTRA_RATIO


def weighted_f1(hit: float, missed: float, extra: float) -> float:
    """F1 of equation 7 from the weights of what was found, missed and named in vain.

    Nothing to find and nothing named is 1; the published program gives 0.
    """
    if hit + missed + extra == 0.0:
        return 1.0
    if hit == 0.0:
        return 0.0
    precision, recall = hit / (hit + extra), hit / (hit + missed)
    return 2.0 * precision * recall / (precision + recall)


def ndcg(weights: Sequence[float], order: Sequence[int]) -> float:
    """NDCG of equations 4 to 6.

    Parameters
    ----------
    weights
        Of the true list, the most important first.
    order
        Which of them were named, in the order of the answer. The ideal is the best order of as many, so that
        naming the least of ten alone is not ideal; without a hit it is 1, for there is no order to be wrong.
    """
    if not order:
        return 1.0
    gained = sum(
        weights[index] / math.log2(place + 1) for place, index in enumerate(order, start=1)
    )
    best = sorted(weights, reverse=True)[: len(order)]
    ideal = sum(weight / math.log2(place + 1) for place, weight in enumerate(best, start=1))
    return gained / ideal


def split(
    truth: Sequence[ObjectRef], said: Sequence[ObjectRef]
) -> tuple[list[int], list[int], int]:
    """Which of ``truth`` were named, in the order of ``said``; which were missed; how many were named in vain."""
    places = {ref.tag: index for index, ref in enumerate(truth)}
    named = [places[ref.tag] for ref in said if ref.tag in places]
    missed = [index for index in range(len(truth)) if index not in set(named)]
    return named, missed, len(said) - len(named)
