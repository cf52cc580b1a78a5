"""LK, lane keeping: 0 if the box centre stays more than 0.5 m off the centreline for 2 s.

Weight 2, new in EPDMS. Source: NAVSIM's PDMScorer (v2).
"""

from __future__ import annotations

import numpy as np

from driveproof.geometry.arrays import Float, Int
from driveproof.rules.ego_progress import along_line
from driveproof.rules.result import NONE, RuleResult, judged, unjudged
from driveproof.rules.world import Batch

LIMIT = 0.5
PATIENCE = 20
"""Samples in a row (2 s) that break the rule."""


def lateral_deviation(batch: Batch) -> Float:
    """Distance ``[N, 41]`` in metres of the box centre to the route's centreline; corrected: to that of its lane.

    Where the centre is in no lane that runs its way, the corrected variant falls back to the route.
    """
    route = batch.world.roads.route
    flat = batch.centers.reshape(-1, 2)
    arc, distance = np.empty(len(flat)), np.full(len(flat), np.inf)
    if len(route):
        along_line(flat, route, arc, distance)
    to_route = distance.reshape(batch.centers.shape[:2])
    if batch.quirks.route_centreline_only:
        return to_route
    to_lane = batch.lane[0]
    return np.where(np.isfinite(to_lane), to_lane, to_route)


def _first_break(batch: Batch, deviation: Float) -> Int:
    """Step ``[N]`` at which the patience runs out, or -1; steps inside intersections neither count nor reset."""
    run = np.zeros(len(batch), np.int64)
    broken = np.full(len(batch), NONE, np.int64)
    for t in range(deviation.shape[1]):
        counted = ~batch.areas.center_in_junction[:, t]
        run = np.where(counted, np.where(deviation[:, t] > LIMIT, run + 1, 0), run)
        broken = np.where((broken == NONE) & (run >= PATIENCE), t, broken)
    return broken


def lane_keeping(batch: Batch) -> RuleResult:
    """LK of every proposal; a normal change of lanes fails as NAVSIM has it."""
    roads = batch.world.roads
    if not len(roads.route) and (batch.quirks.route_centreline_only or not len(roads.lines.points)):
        return unjudged(len(batch), "there is no centreline")
    deviation = lateral_deviation(batch)
    step = _first_break(batch, deviation)
    reasons = [
        "keeps to the centreline" if at == NONE else f"{LIMIT} m or more off for 2 s" for at in step
    ]
    return judged(np.where(step == NONE, 1.0, 0.0), reasons, step=step)
