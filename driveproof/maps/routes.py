"""Routes: a way through the town, with the command that a navigator would give at each point."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np

from driveproof.errors import BadInput
from driveproof.geometry import Polyline, wrap_angle
from driveproof.geometry.arrays import Float, Int
from driveproof.maps.lanes import LaneKind, LaneTable, MarkKind
from driveproof.scene import Command

#: A junction lane whose heading changes by less is straight on, radians (CARLA's planner: 35 degrees).
TURN_RAD = np.radians(35.0)
#: Metres before a junction from which its turn is announced.
ANNOUNCE_M = 20.0
#: Metres over which a lane change is stretched, and what it costs the search beyond its way.
CHANGE_M = 25.0
CHANGE_COST_M = 20.0
STEP_M = 1.0
#: Lanes may overlap by a hair or step aside where they join: closer points are dropped, lest the
#: route turn sharply there.
MIN_STEP_M = 0.3

_CROSSABLE = {MarkKind.NONE, MarkKind.BROKEN, MarkKind.BROKEN_BROKEN, MarkKind.BOTTS_DOTS}


@dataclass(frozen=True)
class Route:
    """A way along lanes, about one point a metre.

    Parameters
    ----------
    line
        The centre line, N points, world frame, metres.
    lanes
        ``[N]`` lane index of each point.
    commands
        ``[N]`` :class:`driveproof.scene.Command` values: the turn from 20 m before a junction to its
        end, a lane change while it happens, otherwise FOLLOW.
    speed_limit
        ``[N]`` metres a second, NaN where unknown.
    z
        ``[N]`` height of the road, metres.
    """

    line: Polyline
    lanes: Int
    commands: Int
    speed_limit: Float
    z: Float

    @property
    def length(self) -> float:
        """Metres."""
        return self.line.length


@dataclass(frozen=True)
class _Leg:
    """One lane of a route; ``change`` says how it was entered (FOLLOW: from behind)."""

    lane: int
    change: Command


def lane_graph(lanes: LaneTable) -> Any:
    """Directed graph over driving lanes: ``weight`` metres, ``change`` FOLLOW, CHANGE_LEFT or CHANGE_RIGHT."""
    graph = nx.DiGraph()
    driving = lanes.kind == LaneKind.DRIVING
    for lane in np.flatnonzero(driving).tolist():
        graph.add_node(lane)
        for target in lanes.successors(lane).tolist():
            if driving[target]:
                graph.add_edge(
                    lane, target, weight=float(lanes.length[lane]), change=Command.FOLLOW
                )
        for target, change in _changes(lanes, lane):
            if not graph.has_edge(lane, target):
                graph.add_edge(lane, target, weight=CHANGE_COST_M, change=change)
    return graph


def _changes(lanes: LaneTable, lane: int) -> list[tuple[int, Command]]:
    """Neighbour lanes into which one may change: same direction, broken or no mark, outside junctions."""
    if lanes.is_junction[lane] or lanes.length[lane] < CHANGE_M:
        return []
    found = []
    part = lanes.points(lane)
    for target, same, marks, change in (
        (lanes.left[lane], lanes.left_same[lane], lanes.left_mark, Command.CHANGE_LEFT),
        (lanes.right[lane], lanes.right_same[lane], lanes.right_mark, Command.CHANGE_RIGHT),
    ):
        middle = MarkKind(int(marks[(part.start + part.stop) // 2]))
        if same and lanes.kind[target] == LaneKind.DRIVING and middle in _CROSSABLE:
            found.append((int(target), change))
    return found


def find_route(
    lanes: LaneTable, graph: Any, start: tuple[int, float], goal: tuple[int, float]
) -> Route:
    """The cheapest way from (lane, arc) to (lane, arc); BadInput if no road leads there."""
    source, target = start[0], goal[0]
    try:
        if source == target and goal[1] <= start[1]:  # once around the block
            ways = [
                [source, *nx.dijkstra_path(graph, step, target)]
                for step in sorted(graph.successors(source))
                if nx.has_path(graph, step, target)
            ]
            if not ways:
                raise nx.NetworkXNoPath
            path = min(ways, key=lambda way: nx.path_weight(graph, way, "weight"))
        else:
            path = nx.dijkstra_path(graph, source, target)
    except nx.NetworkXNoPath as error:
        raise BadInput("no road leads from the start to the goal") from error
    legs = [_Leg(path[0], Command.FOLLOW)] + [
        _Leg(b, graph.edges[a, b]["change"]) for a, b in pairwise(path)
    ]
    return trace(lanes, legs, start[1], goal[1])


def random_way(
    lanes: LaneTable,
    graph: Any,
    rng: np.random.Generator,
    length: float,
    change_share: float = 0.15,
) -> Route:
    """A random way of at least ``length`` metres; the longest of 20 tries if roads end before."""
    starts = np.flatnonzero(
        (lanes.kind == LaneKind.DRIVING) & ~lanes.is_junction & (lanes.length > 10)
    )
    if len(starts) == 0:
        raise BadInput("the town has no driving lane outside a junction")
    best: Route | None = None
    for _ in range(20):
        lane = int(rng.choice(starts))
        arc = float(rng.uniform(0.0, 0.5) * lanes.length[lane])
        legs = _wander(lanes, graph, rng, lane, length + arc, change_share)
        route = trace(lanes, legs, arc, float(lanes.length[legs[-1].lane]))
        if route.length >= length:
            return _cut(route, length)
        if best is None or route.length > best.length:
            best = route
    assert best is not None
    return best


def _wander(
    lanes: LaneTable,
    graph: Any,
    rng: np.random.Generator,
    lane: int,
    length: float,
    change_share: float,
) -> list[_Leg]:
    legs, done = [_Leg(lane, Command.FOLLOW)], float(lanes.length[lane])
    changed = lanes.length[lane] < 2.0 * CHANGE_M  # the start may lie half a lane ahead
    while done < length:
        onward: list[_Leg] = []
        aside: list[_Leg] = []
        for _, target, data in sorted(
            graph.out_edges(legs[-1].lane, data=True), key=lambda e: e[1]
        ):
            (onward if data["change"] is Command.FOLLOW else aside).append(
                _Leg(target, data["change"])
            )
        aside = [] if changed else aside
        if aside and (not onward or rng.random() < change_share):
            leg, changed = aside[rng.integers(len(aside))], True
        elif onward:
            leg, changed = onward[rng.integers(len(onward))], False
            done += float(lanes.length[leg.lane])
        else:
            break
        legs.append(leg)
    return legs


def _cut(route: Route, length: float) -> Route:
    n = int(np.searchsorted(route.line.arc, length)) + 1
    return Route(
        Polyline(route.line.points[:n]),
        route.lanes[:n],
        route.commands[:n],
        route.speed_limit[:n],
        route.z[:n],
    )


def trace(lanes: LaneTable, legs: list[_Leg], start_arc: float, end_arc: float) -> Route:
    """The points of a way. A lane change blends from one lane centre to the next over :data:`CHANGE_M`."""
    points, owners, commands = [], [], []
    at = start_arc
    position = 0
    while position < len(legs):
        # Lanes side by side are driven as one stretch from ``at`` to its end.
        group = [legs[position]]
        while position + 1 < len(legs) and legs[position + 1].change is not Command.FOLLOW:
            position += 1
            group.append(legs[position])
        position += 1
        last = group[-1].lane
        end = end_arc if position == len(legs) else float(lanes.length[last])
        part, owner, command = _stretch(lanes, group, at, end)
        points.append(part)
        owners.append(owner)
        commands.append(command)
        at = 0.0
    line, lane, command = np.concatenate(points), np.concatenate(owners), np.concatenate(commands)
    keep = np.append(True, np.linalg.norm(np.diff(line[:, :2], axis=0), axis=1) > MIN_STEP_M)
    line, lane, command = line[keep], lane[keep], command[keep]
    if len(line) < 2:
        raise BadInput("start and goal are the same place")
    polyline = Polyline(line[:, :2])
    command = _announce_turns(lanes, polyline.arc, lane, command)
    return Route(polyline, lane, command, lanes.speed_limit[lane], line[:, 2])


def _stretch(
    lanes: LaneTable, group: list[_Leg], start: float, end: float
) -> tuple[Float, Int, Int]:
    first, last = group[0].lane, group[-1].lane
    # Neighbours on a curve differ in length: both are measured as shares of their own.
    low = start / max(lanes.length[first], 1e-9)
    high = end / max(lanes.length[last], 1e-9)
    high = max(high, low) if len(group) > 1 else high
    span = abs(high - low) * lanes.length[last]
    share = np.linspace(low, high, max(2, 1 + int(np.ceil(span / STEP_M))))
    tracks = [_along(lanes, leg.lane, share) for leg in group]
    line, owner = tracks[0], np.full(len(share), first)
    command = np.full(len(share), int(Command.FOLLOW))
    count = len(group) - 1
    for number, leg in enumerate(group[1:]):
        window = span / count
        begin = number * window + max(0.0, (window - CHANGE_M) / 2.0)
        travelled = (share - low) * lanes.length[last]
        phase = np.clip((travelled - begin) / max(min(CHANGE_M, window), 1e-6), 0.0, 1.0)
        blend = phase**2 * (3.0 - 2.0 * phase)
        line = (1.0 - blend[:, None]) * line + blend[:, None] * tracks[number + 1]
        owner = np.where(blend >= 0.5, leg.lane, owner)
        command = np.where((phase > 0.0) & (phase < 1.0), int(leg.change), command)
    return line, owner, command


def _along(lanes: LaneTable, lane: int, share: Float) -> Float:
    part = lanes.points(lane)
    arc = share * lanes.length[lane]
    return np.stack(
        [np.interp(arc, lanes.arc[part], lanes.centre[part, k]) for k in range(3)], axis=1
    )


def turn_command(lanes: LaneTable, first: int, last: int) -> Command:
    """The command of a way through a junction, by its net change of heading (left is positive)."""
    start, end = lanes.heading[lanes.offset[first]], lanes.heading[lanes.offset[last + 1] - 1]
    turn = float(wrap_angle(end - start))
    if abs(turn) < TURN_RAD:
        return Command.STRAIGHT
    return Command.LEFT if turn > 0.0 else Command.RIGHT


def _announce_turns(lanes: LaneTable, arc: Float, lane: Int, command: Int) -> Int:
    junction = np.where(lanes.kind[lane] >= 0, lanes.junction[lane], -1)
    edges = np.flatnonzero(np.diff(junction)) + 1
    command = command.copy()
    for begin, end in zip([0, *edges], [*edges, len(junction)], strict=True):
        if junction[begin] < 0:
            continue
        turn = int(turn_command(lanes, int(lane[begin]), int(lane[end - 1])))
        command[begin:end] = turn
        before = np.arange(np.searchsorted(arc, arc[begin] - ANNOUNCE_M), begin)
        command[before[command[before] == Command.FOLLOW]] = turn
    return command
