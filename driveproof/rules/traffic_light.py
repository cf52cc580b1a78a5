"""TLC, traffic light compliance: 0 if the box meets a lane connector of the route while its light is red.

A multiplier, new in EPDMS. Source: NAVSIM's PDMScorer (v2).
"""

from __future__ import annotations

import math

import numba
import numpy as np

from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.rules.kernels import box_meets_polygon
from driveproof.rules.result import RuleResult, judged, unjudged
from driveproof.rules.world import Batch


@numba.njit(nogil=True, cache=True)
def _first_red(
    states: Float,
    centers: Float,
    size: Float,
    red: Bool,
    polygon: Int,
    rings: Float,
    starts: Int,
    bounds: Float,
    out: Int,
) -> None:
    """Write into ``out`` ``[N, 2]`` the first step inside a red region and its light, -1 where there is none."""
    radius = math.hypot(size[0], size[1])
    for n in range(states.shape[0]):
        for t in range(states.shape[1]):
            if out[n, 0] >= 0:
                break
            x, y = centers[n, t, 0], centers[n, t, 1]
            c, s = math.cos(states[n, t, 2]), math.sin(states[n, t, 2])
            for light in range(len(polygon)):
                p = polygon[light]
                if not red[light, t] or not (
                    bounds[p, 0] <= x + radius
                    and bounds[p, 2] >= x - radius
                    and bounds[p, 1] <= y + radius
                    and bounds[p, 3] >= y - radius
                ):
                    continue
                ring = rings[starts[p] : starts[p + 1]]
                if box_meets_polygon(x, y, c, s, size[0], size[1], ring):
                    out[n, 0], out[n, 1] = t, light
                    break


def traffic_light(batch: Batch) -> RuleResult:
    """TLC of every proposal. A box that is already inside when the light turns red counts, too (NAVSIM)."""
    world, roads = batch.world, batch.world.roads
    if not world.signals.known:
        return unjudged(len(batch), "what the traffic lights show is unknown")
    ours = roads.on_route[world.signals.polygon]
    polygon, red = world.signals.polygon[ours], world.signals.red[ours]
    found = np.full((len(batch), 2), -1, np.int64)
    if red.any():
        size = np.array([world.shape.length / 2.0, world.shape.width / 2.0])
        rings = roads.rings
        _first_red(
            batch.states, batch.centers, size, np.ascontiguousarray(red), polygon, rings.points,
            rings.starts, roads.bounds, found,
        )  # fmt: skip
    passes = found[:, 0] < 0
    calm = "enters no red light" if red.any() else "no light on the route is red"
    agents = [None if light < 0 else roads.ids[polygon[light]] for light in found[:, 1]]
    reasons = [
        calm if light is None else f"is on connector {light} while it is red" for light in agents
    ]
    return judged(np.where(passes, 1.0, 0.0), reasons, step=found[:, 0], agents=agents)
