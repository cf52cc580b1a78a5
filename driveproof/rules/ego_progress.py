"""EP, ego progress: metres along the route's centreline, against the best proposal without infraction.

Weight 5. Source: NAVSIM's PDMScorer (v2: the numerator is not masked by other infractions).
"""

from __future__ import annotations

import numba
import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.rules.kernels import project
from driveproof.rules.result import RuleResult, judged, unjudged
from driveproof.rules.world import Batch

MEANINGFUL = 5.0
"""Metres that the best progress must exceed, else everyone gets 1."""


@numba.njit(nogil=True, cache=True)
def along_line(points: Float, line: Float, arc: Float, distance: Float) -> None:
    """Write arc length and distance ``[K]`` of points ``[K, 2]`` on polyline ``line`` ``[M, 2]``."""
    for k in range(len(points)):
        arc[k], distance[k], _ = project(line, points[k, 0], points[k, 1])


def raw_progress(batch: Batch) -> Float:
    """Metres ``[N]`` that the box centre gains on the route's centreline, at least 0; NaN without a centreline."""
    route, count = batch.world.roads.route, len(batch)
    if not len(route):
        return np.full(count, np.nan)
    ends = np.ascontiguousarray(batch.centers[:, [0, -1]]).reshape(-1, 2)
    arc, distance = np.empty(len(ends)), np.empty(len(ends))
    along_line(ends, route, arc, distance)
    gained = arc.reshape(count, 2)
    return np.asarray(np.maximum(gained[:, 1] - gained[:, 0], 0.0), np.float64)


def ego_progress(raw: Float, bar: Float) -> RuleResult:
    """EP from metres ``raw`` ``[N]`` and the progress to match ``bar`` ``[N]`` (metres times multipliers, best of the batch).

    More than the bar earns 1, not more. A bar of NaN (a reference whose multipliers are unknown) leaves the
    proposal unjudged.
    """
    if np.isnan(raw).all():
        return unjudged(len(raw), "there is no route centreline")
    matters = bar > MEANINGFUL
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(matters, np.clip(raw / bar, 0.0, 1.0), 1.0)
    known = ~np.isnan(bar) & ~np.isnan(raw)
    reasons = [
        (f"{metres:.2f} m of {best:.2f} m" if counts else f"best progress is only {best:.2f} m")
        if fine
        else "the progress to match is unknown"
        for metres, best, counts, fine in zip(raw, bar, matters, known, strict=True)
    ]
    result = judged(values, reasons)
    if known.all():
        return result
    return RuleResult(
        np.where(known, values, np.nan), known, result.step, result.agents, result.reasons
    )
