"""The way that the ego is about to take: its lane, and through the next junction what the navigator commands."""

from __future__ import annotations

import math

import numpy as np

from driveproof.commenter.frame import Frame
from driveproof.commenter.road import TURNS, Road, turn_class, turn_of
from driveproof.geometry import Polyline
from driveproof.geometry.arrays import Float
from driveproof.maps import TownMap

REACH_M = 70.0
STEP_M = 1.5


def ego_path(town: TownMap, frame: Frame, road: Road) -> Polyline:
    """Points every 1.5 m from the ego on, world frame, at most 70 m.

    Follows the ego's lane; where it forks, the branch that the near (else the far) command means, else the one that
    comes nearest to the navigator's next point. Against the traffic it follows the lane backwards; off the road, or
    across the lane, it is straight ahead.
    """
    ego = frame.ego
    here = np.array([ego.x, ego.y])
    if road.on_road and road.wrong_way and not road.in_junction:
        return _resampled(np.concatenate([here[None], *_backwards(town, road)]))
    if not road.on_road or abs(road.heading_error) > math.pi / 2:
        direction = np.array([math.cos(ego.heading), math.sin(ego.heading)])
        return Polyline(np.stack([here, here + REACH_M * direction]))
    lanes = town.lanes
    parts: list[Float] = []
    lane, start, length = road.lane, road.arc, 0.0
    seen: set[int] = set()
    while length < REACH_M and lane not in seen:
        seen.add(lane)
        part = lanes.points(lane)
        keep = lanes.arc[part] > start + 0.5
        parts.append(lanes.centre[part][keep, :2])
        length += float(lanes.length[lane]) - start
        following = lanes.successors(lane).tolist()
        if not following:
            break
        lane, start = _branch(town, frame, lane, following), 0.0
    points = np.concatenate([here[None], *parts])
    if len(points) < 2:
        points = np.stack([here, here + np.array([math.cos(ego.heading), math.sin(ego.heading)])])
    return _resampled(points)


def _resampled(points: Float) -> Polyline:
    line = Polyline(points)
    return Polyline(line.at(np.arange(0.0, min(line.length, REACH_M) + STEP_M / 2, STEP_M)))


def _backwards(town: TownMap, road: Road) -> list[Float]:
    """Points of the ego's lane against its direction, from a little ahead of the ego on."""
    lanes = town.lanes
    lane, before = road.lane, road.arc - 0.5
    parts: list[Float] = []
    length = 0.0
    while length < REACH_M:
        part = lanes.points(lane)
        parts.append(lanes.centre[part][lanes.arc[part] < before, :2][::-1])
        length += before
        following = [n for n in lanes.predecessors(lane).tolist() if lanes.junction[n] < 0]
        if not following:
            break
        lane = int(following[0])
        before = float(lanes.length[lane])
    end = parts[-1][-1] if len(parts[-1]) else lanes.centre[lanes.points(lane).start, :2]
    heading = float(lanes.heading[lanes.points(lane).start]) + math.pi
    return [*parts, (end + 2.0 * np.array([math.cos(heading), math.sin(heading)]))[None]]


def _branch(town: TownMap, frame: Frame, lane: int, following: list[int]) -> int:
    if len(following) == 1:
        return int(following[0])
    turns = np.array([turn_of(town, n) for n in following])
    for command in (frame.command_near, frame.command_far):
        if command in TURNS:
            fits = [abs(turn_class(turn) - TURNS[command]) for turn in turns.tolist()]
            return int(following[int(np.argmin(fits))])
    goal = frame.near or frame.far
    if goal is None:
        return int(following[int(np.abs(turns).argmin())])
    ends = np.array([town.lanes.centre[town.lanes.points(n).stop - 1, :2] for n in following])
    return int(following[int(np.hypot(*(ends - goal).T).argmin())])
