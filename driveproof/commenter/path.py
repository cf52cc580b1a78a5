"""The way that the ego is about to take: its lane, and through the next junction what the navigator commands."""

from __future__ import annotations

import math

import numpy as np

from driveproof.commenter.frame import Frame
from driveproof.commenter.road import Road
from driveproof.geometry import Polyline, wrap_angle
from driveproof.geometry.arrays import Float
from driveproof.maps import TownMap
from driveproof.scene import Command

REACH_M = 70.0
STEP_M = 1.5
_TURNS = {Command.LEFT: 1.0, Command.RIGHT: -1.0, Command.STRAIGHT: 0.0}


def ego_path(town: TownMap, frame: Frame, road: Road) -> Polyline:
    """Points every 1.5 m from the ego on, world frame, at most 70 m.

    Follows the ego's lane; where it forks, the branch that the near (else the far) command means, else the one that
    comes nearest to the navigator's next point. Off the road, or against the lane, it is straight ahead.
    """
    ego = frame.ego
    here = np.array([ego.x, ego.y])
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
    line = Polyline(points)
    return Polyline(line.at(np.arange(0.0, min(line.length, REACH_M) + STEP_M / 2, STEP_M)))


def _branch(town: TownMap, frame: Frame, lane: int, following: list[int]) -> int:
    if len(following) == 1:
        return int(following[0])
    turns = np.array([turn_of(town, n) for n in following])
    for command in (frame.command_near, frame.command_far):
        if command in _TURNS:
            wanted = _TURNS[command]
            fits = np.abs(np.clip(turns / math.radians(60.0), -1.0, 1.0) - wanted)
            return int(following[int(fits.argmin())])
    goal = frame.near or frame.far
    if goal is None:
        return int(following[int(np.abs(turns).argmin())])
    ends = np.array([town.lanes.centre[town.lanes.points(n).stop - 1, :2] for n in following])
    return int(following[int(np.hypot(*(ends - goal).T).argmin())])


def turn_of(town: TownMap, lane: int) -> float:
    """Net change of heading along a lane, radians, left positive."""
    part = town.lanes.points(lane)
    return float(wrap_angle(town.lanes.heading[part.stop - 1] - town.lanes.heading[part.start]))
