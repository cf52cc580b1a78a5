"""DDC, driving direction compliance: metres driven against traffic within about a second.

A multiplier: below 2 m 1, below 6 m 0.5, else 0. Source: NAVSIM's PDMScorer, after nuPlan.
"""

from __future__ import annotations

import numpy as np

from driveproof.geometry.arrays import Bool, Float
from driveproof.rules.result import RuleResult, first_step, judged, unjudged
from driveproof.rules.world import Batch

WINDOW = 11
"""Displacements that are summed: 1.1 s, although the reference calls its parameter 1.0 s."""
TOLERATED, VIOLATION = 2.0, 6.0


def wrong_way(batch: Batch, *, ignore_junctions: bool = True) -> Bool:
    """Steps ``[N, 41]`` whose displacement counts as driven against traffic.

    As NAVSIM has it, that is: the box centre is in no lane of the route. Corrected, it is: the centre is in
    lanes, and all of them run the other way. Inside intersections nothing counts (in v1 it does).
    """
    against = batch.areas.off_route if batch.quirks.off_route_is_oncoming else batch.lane[1]
    return against & ~batch.areas.center_in_junction if ignore_junctions else against


def metres_against(batch: Batch, *, ignore_junctions: bool = True) -> Float:
    """Metres ``[N, 41]`` driven against traffic in the window that ends at each step."""
    moved = np.zeros(batch.centers.shape[:2])
    moved[:, 1:] = np.sqrt((np.diff(batch.centers, axis=1) ** 2).sum(-1))
    moved[~wrong_way(batch, ignore_junctions=ignore_junctions)] = 0.0
    padded = np.pad(moved, ((0, 0), (WINDOW - 1, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, WINDOW, axis=1)
    return np.asarray(windows.sum(-1), np.float64)


def driving_direction(batch: Batch, *, ignore_junctions: bool = True) -> RuleResult:
    """DDC of every proposal; ``ignore_junctions=False`` is the reading of PDMS v1."""
    quirk = batch.quirks.off_route_is_oncoming
    if quirk and not batch.has_lanes:
        return unjudged(len(batch), "the map has no lane")
    if not quirk and not len(batch.world.roads.lines.points):
        return unjudged(len(batch), "the map has no lane with a centreline")
    metres = metres_against(batch, ignore_junctions=ignore_junctions)
    worst = metres.max(-1)
    values = np.where(worst < TOLERATED, 1.0, np.where(worst < VIOLATION, 0.5, 0.0))
    where = "off the lanes of the route" if quirk else "against the direction of its lane"
    reasons = [
        f"drives {m:.2f} m within {WINDOW} steps {where}" if m > 0.0 else f"never {where}"
        for m in worst
    ]
    return judged(values, reasons, step=first_step(metres >= TOLERATED))
