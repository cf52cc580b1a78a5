"""NC, no at-fault collision: 0 after hitting a road user, 0.5 after hitting an object, if the ego is to blame.

A multiplier. Source: NAVSIM's PDMScorer, after nuPlan's no_ego_at_fault_collisions.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numba
import numpy as np

from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.rules.contacts import agents_near
from driveproof.rules.kernels import BEHIND, bearing, boxes_touch
from driveproof.rules.result import RuleResult, judged
from driveproof.rules.world import Batch

STOPPED_SPEED = 0.05
"""m/s up to which the ego or a track counts as stopped."""


class Contact(IntEnum):
    """How ego and agent touch."""

    STOPPED_EGO = 0
    STOPPED_TRACK = 1
    ACTIVE_REAR = 2
    ACTIVE_FRONT = 3
    ACTIVE_LATERAL = 4


_WORDS = {
    Contact.STOPPED_TRACK: "runs into {agent}, which stands",
    Contact.ACTIVE_FRONT: "hits {agent} with its front",
    Contact.ACTIVE_LATERAL: "hits {agent} with its side while between lanes or off the road",
}


@numba.njit(nogil=True, cache=True)
def _contacts(
    states: Float,
    centers: Float,
    astray: Bool,
    size: Float,
    pose: Float,
    present: Bool,
    speed: Float,
    half: Float,
    static: Bool,
    nan_angle: bool,
    scores: Float,
    events: Int,
) -> int:
    """Write scores ``[N]`` and events ``[E, 5]`` (proposal, step, agent, contact, at fault); returns how many there were.

    Events beyond the capacity of ``events`` are counted but not written. ``size`` is the half length and half
    width of the ego.
    """
    count, agents = 0, len(half)
    near = np.empty(agents, np.int64)
    exempt = np.empty(agents, np.bool_)
    ego_radius = math.hypot(size[0], size[1])
    for n in range(states.shape[0]):
        n_near = agents_near(centers[n], ego_radius, pose, present, half, near)
        exempt[:] = False
        for t in range(states.shape[1]):
            cx, cy = centers[n, t, 0], centers[n, t, 1]
            c, s = math.cos(states[n, t, 2]), math.sin(states[n, t, 2])
            for k in range(n_near):
                a = near[k]
                if exempt[a] or not present[a, t]:
                    continue
                dx, dy = pose[a, t, 0] - cx, pose[a, t, 1] - cy
                ac, sn, hl, hw = pose[a, t, 2], pose[a, t, 3], half[a, 0], half[a, 1]
                reach = ego_radius + hl + hw
                if dx * dx + dy * dy > reach * reach:
                    continue
                if not boxes_touch(dx, dy, c, s, size[0], size[1], ac, sn, hl, hw):
                    continue
                rear_x, rear_y = pose[a, t, 0] - states[n, t, 0], pose[a, t, 1] - states[n, t, 1]
                if math.hypot(states[n, t, 3], states[n, t, 4]) <= STOPPED_SPEED:
                    kind = 0
                elif static[a] or speed[a, t] <= STOPPED_SPEED:
                    kind = 1
                elif bearing(rear_x, rear_y, c, s, nan_angle) == BEHIND:
                    kind = 2
                else:
                    # The front bumper is a box without length at the front end.
                    fx, fy = dx - size[0] * c, dy - size[0] * s
                    front = boxes_touch(fx, fy, c, s, 0.0, size[1], ac, sn, hl, hw)
                    kind = 3 if front else 4
                at_fault = kind == 1 or kind == 3 or (kind == 4 and astray[n, t])
                if at_fault:
                    scores[n] = min(scores[n], 0.5 if static[a] else 0.0)
                else:
                    exempt[a] = True
                if count < len(events):
                    events[count, 0], events[count, 1], events[count, 2] = n, t, a
                    events[count, 3], events[count, 4] = kind, at_fault
                count += 1
    return count


def find_contacts(batch: Batch) -> tuple[Float, Int]:
    """NC scores ``[N]`` and every contact ``[E, 5]``: proposal, step, agent, :class:`Contact`, at fault (0 or 1).

    A track that was touched without fault is exempt from then on; one touched at fault is not.
    """
    world, traffic = batch.world, batch.traffic
    scores = np.ones(len(batch))
    size = np.array([world.shape.length / 2.0, world.shape.width / 2.0])
    capacity = 64 * len(batch) + 256
    while True:
        events = np.zeros((capacity, 5), np.int64)
        count = _contacts(
            batch.states,
            batch.centers,
            batch.areas.astray,
            size,
            traffic.pose,
            traffic.present,
            traffic.judged_speed(first_appearance=batch.quirks.first_appearance_speed),
            traffic.half,
            traffic.static,
            batch.quirks.nan_angle,
            scores,
            events,
        )
        if count <= capacity:
            return scores, events[:count]
        capacity = count


def no_collision(batch: Batch) -> RuleResult:
    """NC of every proposal; step, agent and reason are those of the first at-fault contact."""
    scores, events = find_contacts(batch)
    count, tokens = len(batch), batch.traffic.tokens
    step = np.full(count, -1)
    agents: list[str | None] = [None] * count
    reasons = ["touches nobody"] * count
    for n, t, a, kind, at_fault in events.tolist():
        if step[n] >= 0:
            continue
        if at_fault:
            step[n], agents[n] = t, tokens[a]
            reasons[n] = _WORDS[Contact(kind)].format(agent=tokens[a])
        else:
            reasons[n] = f"touched by {tokens[a]} without fault"
    result = judged(scores, reasons, step=step, agents=agents)
    return result if batch.has_map else _without_map(result, events)


def _without_map(result: RuleResult, events: Int) -> RuleResult:
    """Without a map nobody can say who is to blame for a side contact, so such a proposal stays unjudged."""
    unknown = np.zeros(len(result.values), bool)
    unknown[events[events[:, 3] == int(Contact.ACTIVE_LATERAL), 0]] = True
    reasons = tuple(
        "a side contact cannot be judged without a drivable area" if lost else reason
        for lost, reason in zip(unknown, result.reasons, strict=True)
    )
    values = np.where(unknown, np.nan, result.values)
    return RuleResult(values, ~unknown, result.step, result.agents, reasons)
