"""DAC, drivable area compliance: 0 if a corner of the box leaves the drivable area at any step.

A multiplier. Source: NAVSIM's PDMScorer.
"""

from __future__ import annotations

import numpy as np

from driveproof.rules.result import RuleResult, first_step, judged, unjudged
from driveproof.rules.world import Batch


def drivable_area(batch: Batch) -> RuleResult:
    """DAC of every proposal; different corners may stand in different polygons."""
    if not batch.has_map:
        return unjudged(len(batch), "the map has no drivable polygon")
    step = first_step(batch.areas.non_drivable)
    flawed = batch.world.roads.flawed
    note = f"; the map has polygons that cross themselves: {', '.join(flawed)}" if flawed else ""
    stays, leaves = f"stays on the drivable area{note}", f"a corner leaves the drivable area{note}"
    reasons = [stays if at < 0 else leaves for at in step]
    return judged(np.where(step < 0, 1.0, 0.0), reasons, step=step)
