"""TTC, time to collision: 0 if holding speed and heading for up to 0.9 s would meet an agent ahead.

Weight 5. Source: NAVSIM's PDMScorer (v2 checks steps 0 … 31, so that the future exists).
"""

from __future__ import annotations

import math

import numba
import numpy as np

from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.rules.contacts import agents_near
from driveproof.rules.kernels import AHEAD, BEHIND, bearing, boxes_touch
from driveproof.rules.result import RuleResult, judged
from driveproof.rules.states import DT
from driveproof.rules.world import Batch

STANDING = 0.005
"""m/s below which the ego cannot be said to approach anyone."""
_FUTURE = (0, 3, 6, 9)
LAST_STEP = 31


@numba.njit(nogil=True, cache=True)
def _violations(
    states: Float,
    centers: Float,
    loose: Bool,
    size: Float,
    pose: Float,
    present: Bool,
    half: Float,
    last: int,
    unshifted: bool,
    nan_angle: bool,
    out: Int,
) -> None:
    """Write into ``out`` ``[N, 3]`` step, agent and future step of the first violation, -1 if none.

    ``loose`` ``[N, T]``: between lanes, off the road or in an intersection, where agents beside count, too.
    """
    agents, horizon = len(half), pose.shape[1]
    near = np.empty(agents, np.int64)
    exempt = np.empty(agents, np.bool_)
    radius = math.hypot(size[0], size[1])
    for n in range(states.shape[0]):
        fastest = 0.0
        for t in range(last + 1):
            fastest = max(fastest, math.hypot(states[n, t, 3], states[n, t, 4]))
        n_near = agents_near(centers[n], radius + fastest, pose, present, half, near)
        exempt[:] = False
        for t in range(last + 1):
            speed = math.hypot(states[n, t, 3], states[n, t, 4])
            if speed < STANDING or out[n, 0] >= 0:
                continue
            c, s = math.cos(states[n, t, 2]), math.sin(states[n, t, 2])
            for ahead in _FUTURE:
                step = t + ahead
                if step >= horizon:
                    break
                shift = speed * (ahead * DT)
                cx, cy = centers[n, t, 0] + c * shift, centers[n, t, 1] + s * shift
                for k in range(n_near):
                    a = near[k]
                    if exempt[a] or not present[a, step]:
                        continue
                    dx, dy = pose[a, step, 0] - cx, pose[a, step, 1] - cy
                    hl, hw = half[a, 0], half[a, 1]
                    reach = radius + hl + hw
                    if dx * dx + dy * dy > reach * reach:
                        continue
                    if not boxes_touch(
                        dx, dy, c, s, size[0], size[1], pose[a, step, 2], pose[a, step, 3], hl, hw
                    ):
                        continue
                    rx, ry = pose[a, step, 0] - states[n, t, 0], pose[a, step, 1] - states[n, t, 1]
                    if not unshifted:
                        rx, ry = rx - c * shift, ry - s * shift
                    where = bearing(rx, ry, c, s, nan_angle)
                    if where == AHEAD or (loose[n, t] and where != BEHIND):
                        if out[n, 0] < 0:
                            out[n, 0], out[n, 1], out[n, 2] = t, a, ahead
                    else:
                        exempt[a] = True


def _find(batch: Batch, loose: Bool, last_step: int) -> Int:
    """First violations ``[N, 3]``: step, agent, steps ahead; -1 where there is none."""
    world, traffic = batch.world, batch.traffic
    size = np.array([world.shape.length / 2.0, world.shape.width / 2.0])
    found = np.full((len(batch), 3), -1, np.int64)
    _violations(
        batch.states,
        batch.centers,
        loose,
        size,
        traffic.pose,
        traffic.present,
        traffic.half,
        last_step,
        batch.quirks.ttc_unshifted_ego,
        batch.quirks.nan_angle,
        found,
    )
    return found


def time_to_collision(batch: Batch, *, last_step: int = LAST_STEP) -> RuleResult:
    """TTC of every proposal; step and agent are those of the first violation.

    An agent met beside or behind is exempt from then on. ``last_step=40`` is the reading of PDMS v1. Without a map a
    proposal is judged only where the answer does not depend on it.
    """
    loose = batch.areas.astray | batch.areas.rear_in_junction
    found = _find(batch, loose, last_step)
    free = found[:, 0] < 0
    agents = [None if a < 0 else batch.traffic.tokens[a] for a in found[:, 1]]
    reasons = [
        "keeps its distance" if a is None else f"would meet {a} in {ahead * DT:.1f} s"
        for a, ahead in zip(agents, found[:, 2], strict=True)
    ]
    result = judged(np.where(free, 1.0, 0.0), reasons, step=found[:, 0], agents=agents)
    if batch.has_map:
        return result
    sure = free == (_find(batch, np.zeros_like(loose), last_step)[:, 0] < 0)
    unsure = "whether agents beside count cannot be judged without a drivable area"
    reasons = [why if fine else unsure for why, fine in zip(reasons, sure, strict=True)]
    return RuleResult(
        np.where(sure, result.values, np.nan), sure, result.step, result.agents, tuple(reasons)
    )
