"""Which lanes a vehicle drove: the cheapest sequence of lanes under its poses (Viterbi over the lane graph)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
import shapely

from driveproof.geometry.arrays import Float
from driveproof.geometry.polyline import Polyline
from driveproof.scene.log_map import MapLane

AHEAD = 120.0
"""Metres that a route shall reach."""
_TURN = np.pi / 3
"""A lane that runs more than this off the vehicle's heading was not driven in."""
_STRAY = 1.0
"""Metres outside a lane at which it still is a candidate."""
_JUMP, _HOPS = 8.0, 3
"""Cost, in metres of offset, of going to a lane that is not reached within three successors."""


def lanes_driven(lanes: Sequence[MapLane], poses: Float) -> list[int]:
    """Numbers of the lanes under ``poses`` ``[K, 3]`` in order, gaps filled by successors; empty where there is none.

    A pose's cost in a lane is its distance to the centreline plus 3 m a radian of heading; poses in no lane say nothing.
    """
    if not lanes:
        return []
    tree = shapely.STRtree([shapely.Polygon(lane.outline) for lane in lanes])
    ahead = _graph(lanes)
    hops: dict[int, dict[int, list[int]]] = {}
    costs: dict[int, tuple[float, list[int]]] = {}
    for pose in poses:
        here = _candidates(lanes, tree, pose)
        if not here:
            continue
        following: dict[int, tuple[float, list[int]]] = {}
        for lane, cost in here.items():
            options: list[tuple[float, list[int]]] = [(0.0, [])] if not costs else []
            for before, (paid, path) in costs.items():
                ways = hops.setdefault(before, _within(ahead, before))
                way = ways.get(lane)
                step = _JUMP if way is None else 0.5 * max(len(way) - 1, 0)
                options.append((paid + step, path + (way if way is not None else [lane])))
            paid, path = min(options, key=lambda option: (option[0], len(option[1])))
            following[lane] = (paid + cost, path or [lane])
        costs = following
    if not costs:
        return []
    _, best = min(costs.values(), key=lambda option: option[0])
    return [lane for n, lane in enumerate(best) if n == 0 or lane != best[n - 1]]


def straight_on(lanes: Sequence[MapLane], path: Sequence[int], ahead: float = AHEAD) -> list[int]:
    """The path, extended by the straightest successors until it is ``ahead`` metres longer or ends."""
    found, graph = list(path), _graph(lanes)
    length = 0.0
    while found and length < ahead:
        onward = [lane for lane in graph[found[-1]] if lane not in found]
        if not onward:
            break
        here = _turn(lanes[found[-1]], -1)
        found.append(
            min(onward, key=lambda n: abs(np.angle(np.exp(1j * (_turn(lanes[n], -1) - here)))))
        )
        length += Polyline(lanes[found[-1]].centre).length
    return found


def _turn(lane: MapLane, end: int) -> float:
    """Heading of a lane at its end."""
    x, y = lane.centre[end] - lane.centre[end - 1]
    return float(np.arctan2(y, x))


def _graph(lanes: Sequence[MapLane]) -> list[list[int]]:
    number = {lane.id: n for n, lane in enumerate(lanes)}
    return [[number[name] for name in lane.successors if name in number] for lane in lanes]


def _within(ahead: Sequence[Sequence[int]], start: int) -> dict[int, list[int]]:
    """Lanes reached from ``start`` within three hops, with the lanes on the way (``start`` left out)."""
    ways: dict[int, list[int]] = {start: []}
    queue = deque([start])
    while queue:
        lane = queue.popleft()
        if len(ways[lane]) < _HOPS:
            for onward in ahead[lane]:
                if onward not in ways:
                    ways[onward] = [*ways[lane], onward]
                    queue.append(onward)
    return ways


def _candidates(lanes: Sequence[MapLane], tree: shapely.STRtree, pose: Float) -> dict[int, float]:
    found: dict[int, float] = {}
    for n in tree.query(shapely.Point(pose[:2]), predicate="dwithin", distance=_STRAY).tolist():
        line = Polyline(lanes[n].centre)
        arc, offset = line.project(pose[None, :2])
        turn = float(np.angle(np.exp(1j * (line.heading(arc)[0] - pose[2]))))
        if abs(turn) < _TURN:
            found[n] = float(abs(offset[0])) + 3.0 * abs(turn)
    return found
