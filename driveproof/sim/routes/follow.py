"""From the positions of a route file to a dense way along lanes, with commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from driveproof.errors import BadInput
from driveproof.geometry import Polyline
from driveproof.geometry.arrays import Float, Int
from driveproof.maps import LaneMatch, LaneTable, Route, TownMap
from driveproof.maps.lanes import offset_sideways
from driveproof.maps.routes import ANNOUNCE_M, CHANGE_M, MIN_STEP_M, STEP_M, turn_command
from driveproof.scene import Command

HOP_M = 7.0
"""Positions further apart than this leave out a part of the way (a lane change steps 6.2 m)."""
_BACK_M = 1.0
"""A position may lie this much behind the one before it, from rounding."""


@dataclass(frozen=True)
class _Leg:
    """A lane driven from arc ``start`` to ``end``; ``change`` says how it was entered (FOLLOW: from behind)."""

    lane: int
    start: float
    end: float
    change: Command = Command.FOLLOW


def steps(positions: Float) -> Float:
    """``[N - 1]`` metres in the plane between consecutive positions ``[N, 3]``."""
    return np.asarray(np.linalg.norm(np.diff(positions[:, :2], axis=0), axis=1))


def headings(positions: Float) -> Float:
    """``[N]`` direction of travel at positions ``[N, 3]``, from the shorter step beside each; NaN if both are hops."""
    if len(positions) < 2:
        return np.full(len(positions), np.nan)
    delta = np.diff(positions[:, :2], axis=0)
    angle, length = np.arctan2(delta[:, 1], delta[:, 0]), steps(positions)
    before = np.concatenate([[np.inf], length])
    after = np.concatenate([length, [np.inf]])
    course = np.where(
        before <= after, np.concatenate([[0.0], angle]), np.concatenate([angle, [0.0]])
    )
    return np.where(np.minimum(before, after) > HOP_M, np.nan, course)


def match_positions(positions: Float, town: TownMap) -> LaneMatch:
    """The driving lane of each position ``[N, 3]``, preferring lanes along the way.

    Raises
    ------
    BadInput
        If the town has no driving lane.
    """
    course = headings(positions)
    known = np.isfinite(course)
    try:
        plain = town.nearest_lane(positions[:, :2])
        along = town.nearest_lane(positions[:, :2], np.where(known, course, 0.0))
    except ValueError:
        raise BadInput("the town has no driving lane", field=town.name) from None
    parts = ("lane", "arc", "lateral", "heading_error", "distance")
    return LaneMatch(*(np.where(known, getattr(along, n), getattr(plain, n)) for n in parts))


def dense_route(positions: Float, town: TownMap) -> Route:
    """The way through positions ``[N, 3]``, about a point a metre, along the centres of the lanes.

    Where positions lie far apart the shortest way between them is taken. A lane change happens where the
    positions change lanes, stretched over :data:`driveproof.maps.routes.CHANGE_M`.

    Raises
    ------
    BadInput
        If there are fewer than two positions, or no road leads from one to the next.
    """
    if len(positions) < 2:
        raise BadInput("a way needs two positions")
    match = match_positions(positions, town)
    inside = town.lanes.is_junction[match.lane] & ~np.isfinite(headings(positions))
    inside[[0, -1]] = False  # which of the lanes of a junction a lone position means, nobody knows
    lane, arc = match.lane[~inside].tolist(), match.arc[~inside].tolist()
    return _trace(town.lanes, _legs(town, lane, arc))


def route_along(town: TownMap, lanes: Sequence[int], start: float, end: float) -> Route:
    """The way over consecutive lanes, from arc ``start`` of the first to arc ``end`` of the last, metres.

    Raises
    ------
    BadInput
        If the way has no length.
    """
    last = len(lanes) - 1
    legs = [
        _Leg(
            lane,
            start if number == 0 else 0.0,
            end if number == last else float(town.lanes.length[lane]),
        )
        for number, lane in enumerate(lanes)
    ]
    return _trace(town.lanes, legs)


def _legs(town: TownMap, lane: list[int], arc: list[float]) -> list[_Leg]:
    lanes = town.lanes
    legs = [_Leg(lane[0], arc[0], arc[0])]
    for target, at in zip(lane[1:], arc[1:], strict=True):
        last = legs[-1]
        if target == last.lane and at >= last.end - _BACK_M:
            legs[-1] = _Leg(last.lane, last.start, max(at, last.end), last.change)
        elif (change := _beside(lanes, last.lane, target)) is not None:
            length, other = float(lanes.length[last.lane]), float(lanes.length[target])
            share = (last.end / length + at / other) / 2.0
            legs[-1] = _Leg(last.lane, last.start, share * length, last.change)
            legs.append(_Leg(target, share * other, at, change))
        else:
            legs[-1:] = _connect(town, last, target, at)
    return legs


def _beside(lanes: LaneTable, lane: int, target: int) -> Command | None:
    if lanes.left[lane] == target and lanes.left_same[lane]:
        return Command.CHANGE_LEFT
    if lanes.right[lane] == target and lanes.right_same[lane]:
        return Command.CHANGE_RIGHT
    return None


def _connect(town: TownMap, last: _Leg, target: int, at: float) -> list[_Leg]:
    """The legs from ``last`` (included) to arc ``at`` of another lane, the shortest way."""
    graph, lanes = town.lane_graph, town.lanes
    try:
        if target == last.lane:  # once around the block
            ways = [
                [target, *nx.dijkstra_path(graph, step, target)]
                for step in sorted(graph.successors(target))
                if nx.has_path(graph, step, target)
            ]
            path = min(ways, key=lambda way: nx.path_weight(graph, way, "weight"), default=[])
        else:
            path = nx.dijkstra_path(graph, last.lane, target)
    except (nx.NetworkXNoPath, nx.NodeNotFound):
        path = []
    if not path:
        x, y = lanes.polyline(last.lane).at(last.end)
        raise BadInput("no road leads to the next position", field=f"({x:.1f}, {y:.1f})")
    legs, current = [], last
    for number, lane in enumerate(path[1:], start=1):
        length, final = float(lanes.length[current.lane]), number == len(path) - 1
        change = graph.edges[path[number - 1], lane]["change"]
        end = at if final else float(lanes.length[lane])
        if change is Command.FOLLOW:
            legs.append(_Leg(current.lane, current.start, length, current.change))
            current = _Leg(lane, 0.0, end)
        else:  # in the middle of what both lanes have left
            goal = at / float(lanes.length[lane]) if final else 1.0
            share = (current.start / length + max(goal, current.start / length)) / 2.0
            legs.append(_Leg(current.lane, current.start, share * length, current.change))
            current = _Leg(lane, share * float(lanes.length[lane]), end, change)
    return [*legs, current]


def _trace(lanes: LaneTable, legs: list[_Leg]) -> Route:
    points: list[Float] = []
    owners: list[Int] = []
    changes: list[tuple[int, Command]] = []
    for leg in legs:
        arc = np.arange(leg.start, leg.end, STEP_M)
        arc = np.append(arc, leg.end) if len(arc) == 0 or leg.end - arc[-1] > MIN_STEP_M else arc
        part = lanes.points(leg.lane)
        track = [np.interp(arc, lanes.arc[part], lanes.centre[part, k]) for k in range(3)]
        if leg.change is not Command.FOLLOW:
            changes.append((sum(len(owner) for owner in owners), leg.change))
        points.append(np.stack(track, axis=1))
        owners.append(np.full(len(arc), leg.lane))
    line, owner = np.concatenate(points), np.concatenate(owners)
    if len(line) < 2:
        raise BadInput("the positions are one and the same place")
    line, command = _smooth_changes(line, changes)
    keep = np.append(True, steps(line) > MIN_STEP_M)
    line, owner, command = line[keep], owner[keep], command[keep]
    if len(line) < 2:
        raise BadInput("the positions are one and the same place")
    polyline = Polyline(line[:, :2])
    command = _announce(lanes, polyline.arc, owner, command)
    return Route(polyline, owner, command, lanes.speed_limit[owner], line[:, 2])


def _smooth_changes(line: Float, changes: list[tuple[int, Command]]) -> tuple[Float, Int]:
    """Stretch the steps between lanes over :data:`CHANGE_M`; ``changes`` are the first points of new lanes."""
    command = np.full(len(line), int(Command.FOLLOW))
    changes = [(first, change) for first, change in changes if 1 < first < len(line) - 1]
    firsts = [first for first, _ in changes]
    delta = np.diff(line[:, :2], axis=0)
    forward = np.hypot(delta[:, 0], delta[:, 1])
    course = np.arctan2(delta[:, 1], delta[:, 0])
    for first in firsts:  # the step between lanes goes sideways
        course[first - 1] = angle = course[first - 2]
        forward[first - 1] = abs(float(np.array([np.cos(angle), np.sin(angle)]) @ delta[first - 1]))
    arc = np.concatenate([[0.0], np.cumsum(forward)])
    shift = np.zeros(len(line))
    for first, change in changes:
        angle, step = course[first - 1], delta[first - 1]
        aside = float(-np.sin(angle) * step[0] + np.cos(angle) * step[1])
        phase = np.clip((arc - arc[first]) / CHANGE_M + 0.5, 0.0, 1.0)
        blend = phase**2 * (3.0 - 2.0 * phase)
        shift += aside * (blend - (np.arange(len(line)) >= first))
        command[(phase > 0.0) & (phase < 1.0)] = int(change)
    return offset_sideways(line, np.append(course, course[-1]), shift), command


def _announce(lanes: LaneTable, arc: Float, lane: Int, command: Int) -> Int:
    """Commands with the turns of junctions, from :data:`ANNOUNCE_M` before them."""
    junction, command = lanes.junction[lane], command.copy()
    edges = np.flatnonzero(np.diff(junction)) + 1
    for begin, end in zip([0, *edges], [*edges, len(lane)], strict=True):
        if junction[begin] >= 0:
            turn = int(turn_command(lanes, int(lane[begin]), int(lane[end - 1])))
            low = int(np.searchsorted(arc, arc[begin] - ANNOUNCE_M))
            command[begin:end] = turn
            command[low:begin][command[low:begin] == Command.FOLLOW] = turn
    return command
