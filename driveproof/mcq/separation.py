"""Is the right option right, and are the wrong ones wrong? (DEFT-RLVR, table 10)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.geometry.kinematics import path_length
from driveproof.mcq.items import McqItem

STATISTICS = ("mean", "p50", "p75", "p90", "p95")
MIN_PATH_M = 1.0
"""Below this logged path length the ratio of oracle error and path says nothing and is left out."""


def option_errors(item: McqItem) -> Float:
    """ADE ``[M]`` in metres of each option against the logged future."""
    errors: Float = np.linalg.norm(item.options - item.waypoints, axis=-1).mean(-1)
    return errors


def separation(items: Sequence[McqItem]) -> dict[str, Any]:
    """The statistics of table 10 over questions, metres; every quantity with its n, None where n is 0.

    ``nearest_farther_than_oracle`` is the fraction of questions whose nearest distractor is farther from
    the log than the oracle, ``median_gap`` the median of that difference.
    """
    errors = [option_errors(item) for item in items]
    oracle = np.array([e[item.oracle_index] for e, item in zip(errors, items, strict=True)])
    others = [np.delete(e, item.oracle_index) for e, item in zip(errors, items, strict=True)]
    nearest = np.array([rest.min() for rest in others])
    ends = [item.options[item.oracle_index, -1] - item.waypoints[-1] for item in items]
    paths = np.array([float(path_length(item.waypoints, from_origin=True)) for item in items])
    moving = paths >= MIN_PATH_M
    return {
        "n": len(items),
        "oracle_ade": _spread(oracle),
        "oracle_fde": _spread(np.array([np.hypot(*end) for end in ends])),
        "oracle_ade_percent_of_path": _spread(100 * oracle[moving] / paths[moving]),
        "distractor_ade": _spread(np.concatenate(others) if others else np.empty(0)),
        "nearest_distractor_ade": _spread(nearest),
        "nearest_farther_than_oracle": float((nearest > oracle).mean()) if len(items) else None,
        "median_gap": float(np.median(nearest - oracle)) if len(items) else None,
    }


def _spread(values: Float) -> dict[str, float | int | None]:
    if not len(values):
        return {"n": 0, **dict.fromkeys(STATISTICS)}
    percentiles = np.percentile(values, (50, 75, 90, 95))
    figures = (values.mean(), *percentiles)
    return {"n": len(values), **{k: float(v) for k, v in zip(STATISTICS, figures, strict=True)}}
