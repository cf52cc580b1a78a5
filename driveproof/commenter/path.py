"""The way that the ego is about to take: its lane, and through the next junction what the navigator commands."""

from __future__ import annotations

import math

import numpy as np

from driveproof.commenter.frame import Frame
from driveproof.commenter.road import TURNS, Road, turn_class, turn_of
from driveproof.geometry import Polyline
from driveproof.geometry.arrays import Float
from driveproof.maps import TownMap

REACH_M, BEHIND_M = 70.0, 60.0
STEP_M = 1.5
JOIN_M, JOIN_S = 8.0, 1.5
"""Metres, or seconds of its speed, within which an ego that lies beside its lane's middle joins it."""


def lane_course(town: TownMap, frame: Frame, road: Road) -> Polyline:
    """Middle of the lanes that the ego is about to take, points every 1.5 m, world frame, at most 70 m.

    Follows the ego's lane; where it forks, the branch that the near (else the far) command means, else the one that
    comes nearest to the navigator's next point. Against the traffic it follows the lane backwards; off the road, or
    across the lane, it is straight ahead.
    """
    ego = frame.ego
    here = np.array([ego.x, ego.y])
    direction = np.array([math.cos(ego.heading), math.sin(ego.heading)])
    if road.on_road and road.wrong_way and not road.in_junction:
        return _course(_backwards(town, road.lane, road.arc, REACH_M))
    if not road.on_road or abs(road.heading_error) > math.pi / 2:
        return Polyline(np.stack([here, here + REACH_M * direction]))
    lanes = town.lanes
    middle = town.lanes.polyline(road.lane)
    parts: list[Float] = [middle.at(np.array([road.arc]))]
    lane, start, length = road.lane, road.arc, 0.0
    seen: set[int] = set()
    while length < REACH_M and lane not in seen:
        seen.add(lane)
        part = lanes.points(lane)
        parts.append(lanes.centre[part][lanes.arc[part] > start + 0.5, :2])
        length += float(lanes.length[lane]) - start
        following = lanes.successors(lane).tolist()
        if not following:
            break
        lane, start = _branch(town, frame, lane, following), 0.0
    points = np.concatenate(parts)
    if len(points) < 2:
        points = np.stack([points[0], points[0] + direction])
    return _course(points)


def lane_behind(town: TownMap, frame: Frame, road: Road) -> Polyline:
    """Middle of the lanes that the ego comes from, from the ego backwards, at most 60 m; straight where it has none."""
    if road.on_road and abs(road.heading_error) < math.pi / 2:
        return _course(_backwards(town, road.lane, road.arc, BEHIND_M))
    ego = frame.ego
    here = np.array([ego.x, ego.y])
    back = np.array([math.cos(ego.heading), math.sin(ego.heading)]) * -BEHIND_M
    return Polyline(np.stack([here, here + back]))


def ego_path(course: Polyline, frame: Frame) -> Polyline:
    """The course, joined from where the ego is: it swings over a few metres to the middle of the lane."""
    ego = frame.ego
    _, beside = course.project(np.array([ego.x, ego.y]))
    over = max(JOIN_M, JOIN_S * ego.speed)
    share = np.clip(course.arc / over, 0.0, 1.0)
    headings = course.heading(course.arc)
    normal = np.stack([-np.sin(headings), np.cos(headings)], axis=1)
    left = float(beside) * (0.5 + 0.5 * np.cos(np.pi * share))
    return Polyline(course.points + left[:, None] * normal)


def _course(points: Float) -> Polyline:
    line = Polyline(points)
    return Polyline(line.at(np.arange(0.0, min(line.length, REACH_M) + STEP_M / 2, STEP_M)))


def _backwards(town: TownMap, lane: int, arc: float, reach: float) -> Float:
    """Middle of a lane and those before it, from metre ``arc`` on against its direction."""
    lanes = town.lanes
    parts = [lanes.polyline(lane).at(np.array([arc]))]
    before, length = arc - 0.5, 0.0
    while True:
        part = lanes.points(lane)
        parts.append(lanes.centre[part][lanes.arc[part] < before, :2][::-1])
        length += before
        preceding = lanes.predecessors(lane).tolist()
        if not preceding or length > reach:
            break
        lane = int(preceding[0])
        before = float(lanes.length[lane])
    heading = float(lanes.heading[lanes.points(lane).start])
    start = lanes.centre[lanes.points(lane).start, :2]
    away = np.array([math.cos(heading), math.sin(heading)])
    return np.concatenate([*parts, (start - 3.0 * away)[None]])


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
