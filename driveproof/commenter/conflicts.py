"""Whose way meets the ego's, where, when and why.

Others go on with their speed and turn rate, the ego goes along its path with at least 4 m/s (Bench2Drive-VL). A way
is met where the boxes, seen along the ego's path, come closer than a safety margin within the time gap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from driveproof.commenter.context import Context
from driveproof.commenter.frame import Agent
from driveproof.commenter.traffic import Moving, moving
from driveproof.geometry.arrays import Float
from driveproof.questions import terms as t
from driveproof.scene import Command

ASSUMED_MPS = 4.0
HORIZON_S, STEP_S = 4.0, 0.25
GAP_S, RIGHT_TURN_GAP_S = 2.1, 1.5
"""A meeting counts if both are there within this time of each other."""
MARGIN_M = 0.4
LEAD_REACH_M = 40.0
TURN_FOR_S = 2.0
"""How long a turn is thought to go on."""
_TIMES = np.arange(STEP_S, HORIZON_S + STEP_S / 2, STEP_S)
_MOVES = {
    Command.LEFT: t.EgoMove.TURN_LEFT,
    Command.RIGHT: t.EgoMove.TURN_RIGHT,
    Command.STRAIGHT: t.EgoMove.GO_STRAIGHT,
}


@dataclass(frozen=True)
class Conflict:
    """A meeting of ways.

    Attributes
    ----------
    row
        The other's row in ``frame.agents``.
    reason, ego_move
        Why, and the ego's own move that leads to it.
    distance, time
        Metres along the ego's path to the place; seconds until the other is there (0 if it is there now).
    nearest
        Metres along the path to the place nearest to the ego that the other sweeps over while it is on the path.
    """

    row: int
    reason: t.ConflictReason
    ego_move: t.EgoMove
    distance: float
    time: float
    nearest: float


def find_conflicts(context: Context, facts: dict[int, Moving] | None = None) -> list[Conflict]:
    """All meetings with vehicles and walkers ahead, the nearest first.

    ``facts`` by row spare computing them again.
    """
    found = []
    for row, agent in enumerate(context.frame.agents):
        if agent.kind == "prop" or agent.parked or not _near(context, row):
            continue
        about = facts[row] if facts and row in facts else moving(context, row)
        conflict = _conflict(context, row, agent, about)
        if conflict is not None:
            found.append(conflict)
    return sorted(found, key=lambda c: (c.distance, c.row))


def _near(context: Context, row: int) -> bool:
    x, y, _ = context.local[row].tolist()
    level = abs(context.frame.agents[row].z - context.frame.ego.z) < 4.0
    return level and x > -15.0 and math.hypot(x, y) < 60.0


def _conflict(context: Context, row: int, agent: Agent, about: Moving) -> Conflict | None:
    s, lateral = context.path_place(row)
    reach = (agent.width + context.frame.ego.width) / 2.0
    move = _ego_move(context, s)
    inside = abs(lateral) < reach + MARGIN_M
    if inside and 0.0 < s < LEAD_REACH_M:
        if agent.kind == "walker":
            return Conflict(row, t.ConflictReason.CROSSING_ROAD, move, s, 0.0, s)
        if about.course is t.Course.OPPOSITE and abs(agent.speed) > 0.5:
            return Conflict(row, t.ConflictReason.ONCOMING_IN_LANE, move, s, 0.0, s)
        if about.course is t.Course.SAME:
            return Conflict(row, t.ConflictReason.AHEAD_IN_LANE, move, s, 0.0, s)
    if about.intent is t.Intent.CUTTING_IN and 0.0 < s < LEAD_REACH_M:
        return Conflict(row, t.ConflictReason.CUTTING_IN, move, s, 0.0, s)
    turning = context.frame.command_near in (Command.LEFT, Command.RIGHT)
    behind = about.course is t.Course.SAME and context.local[row][0] < 0.0
    if abs(agent.speed) < 0.3 or (behind and not turning):  # who overtakes has to mind the ego
        return None
    return _crossing(context, row, agent, about, reach)


def _crossing(
    context: Context, row: int, agent: Agent, about: Moving, reach: float
) -> Conflict | None:
    """Where the other's predicted way enters the ego's corridor, if the ego gets there at about the same time."""
    places = predict(agent, about.yaw_rate)
    along, lateral = context.path.project(places)
    ahead = (along > 0.5) & (along < context.path.length - 0.5)
    inside = ahead & (np.abs(lateral) < reach + MARGIN_M)
    ego = max(context.frame.ego.speed, ASSUMED_MPS)
    arrival = np.maximum(along - context.frame.ego.length / 2.0, 0.0) / ego
    gap = RIGHT_TURN_GAP_S if context.frame.command_near is Command.RIGHT else GAP_S
    soon = arrival - _TIMES >= -gap
    if agent.kind != "walker":  # for people one waits however late one would come
        soon &= arrival - _TIMES <= gap
    meet = np.flatnonzero(inside & soon)
    if not len(meet):
        return None
    first = int(meet[0])
    distance, time = float(along[first]), float(_TIMES[first])
    gone = np.flatnonzero(~inside[first:])
    sweep = along[first : first + int(gone[0])] if len(gone) else along[first:]
    nearest = float(sweep.min())
    move = _ego_move(context, distance)
    if agent.kind == "walker":
        return Conflict(row, t.ConflictReason.CROSSING_ROAD, move, distance, time, nearest)
    return Conflict(row, _why(context, about, move), move, distance, time, nearest)


def predict(agent: Agent, yaw_rate: float) -> Float:
    """``[T, 2]`` positions over the next four seconds: speed stays, a turn goes on for two seconds."""
    turned = yaw_rate * np.minimum(_TIMES, TURN_FOR_S)
    heading = agent.heading + np.concatenate([[0.0], turned[:-1]])
    step = agent.speed * STEP_S
    moves = np.stack([np.cos(heading), np.sin(heading)], axis=1) * step
    return np.asarray(np.array([agent.x, agent.y]) + np.cumsum(moves, axis=0), dtype=np.float64)


def _why(context: Context, about: Moving, move: t.EgoMove) -> t.ConflictReason:
    junction = context.road.in_junction or context.road.to_junction < 30.0
    turning = move in (t.EgoMove.TURN_LEFT, t.EgoMove.TURN_RIGHT)
    if about.course is t.Course.OPPOSITE:
        return (
            t.ConflictReason.ONCOMING_TURN
            if junction and turning
            else t.ConflictReason.ONCOMING_IN_LANE
        )
    if about.course is t.Course.SAME:
        return t.ConflictReason.MERGING
    return t.ConflictReason.CROSSING_JUNCTION if junction else t.ConflictReason.MERGING


def _ego_move(context: Context, distance: float) -> t.EgoMove:
    """What the ego does on its way to a place so far along its path."""
    road = context.road
    if road.in_junction or distance > road.to_junction:
        return _MOVES.get(context.frame.command_near, t.EgoMove.GO_ON)
    if context.frame.command_near is Command.CHANGE_LEFT:
        return t.EgoMove.CHANGE_LEFT
    if context.frame.command_near is Command.CHANGE_RIGHT:
        return t.EgoMove.CHANGE_RIGHT
    return t.EgoMove.GO_ON
