"""Whether the lane beside is free enough to move into.

Source: Bench2Drive-VL's lane-change gap: 8 m ahead, the larger of 8 m and 1.5 s of the flow behind; on the oncoming
lane the way of passing there and back must be free for as long as it takes, at both speeds.
"""

from __future__ import annotations

import math

import numpy as np

from driveproof.commenter.context import Context
from driveproof.geometry import Polyline
from driveproof.questions import terms as t

AHEAD_M, BEHIND_M, BEHIND_S = 8.0, 8.0, 2.5
LANE_M = 3.5
EXPECTED_MPS = 5.0
"""Whoever stands in a lane may set out at this speed."""
START_S = 4.0
"""Seconds in which who starts from a stand is as fast as those who come."""
ONCOMING_M = 40.0
PASS_MPS = 7.0
PASS_AFTER_M = 8.0


def beside_is_free(context: Context, side: int, passed: tuple[int, ...] = ()) -> bool:
    """Whether the lane on ``side`` (1: left, -1: right) is free to enter, whatever direction it has.

    ``passed`` are rows of what is to be passed itself: it may reach into that lane.
    """
    return not occupants(context, side, passed)


def only_things(context: Context, rows: list[int]) -> bool:
    """Whether these are things that stand: who creeps past them finds the lane free."""
    return bool(rows) and all(context.frame.agents[row].kind == "prop" for row in rows)


def occupants(context: Context, side: int, passed: tuple[int, ...] = ()) -> list[int]:
    """Rows of those who keep the lane on ``side`` from being entered; ``passed`` as in :func:`beside_is_free`."""
    ego = context.frame.ego
    found = []
    for row, agent in enumerate(context.frame.agents):
        if row in passed or (agent.kind == "prop" and agent.height < 0.3):
            continue
        _, _, heading = context.local[row].tolist()
        x, lateral = context.lane_place(row)
        offset = side * lateral
        if not 0.3 * LANE_M < offset < 1.5 * LANE_M or abs(agent.z - ego.z) > 4.0:
            continue
        room = (ego.length + agent.length) / 2.0
        if agent.kind == "prop" and x < 0.6 - room:
            continue  # it stands behind the ego as that moves over
        closing = agent.speed * math.cos(heading) - ego.speed
        behind = max(BEHIND_M, BEHIND_S * max(closing, 0.0) + 5.0)
        if -(behind + room) < x < AHEAD_M + room - 2.0 * min(closing, 0.0):
            found.append(row)
    return found


def lane_is_free(context: Context, line: Polyline) -> bool:
    """Whether who starts from a stand beside a lane finds room in it: ahead, and behind for the time that it takes."""
    ego = context.frame.ego
    here, _ = line.project(np.array([ego.x, ego.y]))
    for agent in context.frame.agents:
        if agent.kind == "prop" or agent.parked or abs(agent.z - ego.z) > 4.0:
            continue
        s, lateral = line.project(np.array([agent.x, agent.y]))
        if abs(float(lateral)) > LANE_M / 2.0:
            continue
        gap = float(s - here)
        room = (ego.length + agent.length) / 2.0
        comes = max(agent.speed, EXPECTED_MPS)
        if -(START_S * comes + 4.0 + room) < gap < AHEAD_M + room:
            return False
    return True


def oncoming_is_free(context: Context, side: int, until: float) -> bool:
    """Whether nobody comes on the oncoming lane before the ego has passed ``until`` metres and is back."""
    needed = (until + PASS_AFTER_M) / max(PASS_MPS, context.frame.ego.speed)
    for row, agent in enumerate(context.frame.agents):
        if agent.kind == "prop" or agent.parked:
            continue
        x, _, heading = context.local[row].tolist()
        s, lateral = context.lane_place(row)
        offset = side * lateral
        if x < -5.0 or not 0.3 * LANE_M < offset < 1.5 * LANE_M:
            continue
        if abs(heading) < math.pi / 2:  # goes the ego's way, on the wrong side itself
            if x < AHEAD_M + until:
                return False
            continue
        reach = max(s, x) - max(agent.speed, 0.0) * needed
        if reach < until + ONCOMING_M / 4.0:
            return False
    return True


def why_not(free_beside: bool, oncoming: bool) -> t.Postponement:
    """The reason of a postponed move."""
    if oncoming and free_beside:
        return t.Postponement.ONCOMING_TRAFFIC
    return t.Postponement.LANE_OCCUPIED
