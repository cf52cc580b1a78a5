"""Routes drive along lanes, turn where they say, and are the same for the same seed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from driveproof.errors import BadInput
from driveproof.geometry import wrap_angle
from driveproof.maps import LaneKind, Route, TownMap
from driveproof.scene import Command

TURNS = {Command.LEFT: 1.0, Command.RIGHT: -1.0}


def check(town: TownMap, route: Route) -> None:
    line, count = route.line, len(route.line.points)
    assert (
        len(route.lanes) == len(route.commands) == len(route.z) == len(route.speed_limit) == count
    )
    assert np.diff(line.arc).max() < 1.6
    heading = line.heading(line.arc)
    assert np.abs(wrap_angle(np.diff(heading))).max() < 0.6
    plain = route.commands < Command.CHANGE_LEFT
    match = town.nearest_lane(line.points, heading)
    assert np.abs(match.lateral[plain]).max() < 0.3
    assert np.abs(match.heading_error[plain]).max() < 0.4
    inside = town.lanes.is_junction[route.lanes]
    assert not np.isin(route.commands[inside], [Command.FOLLOW, Command.UNKNOWN]).any()
    edges = np.flatnonzero(np.diff(inside.astype(int)))
    for begin, end in pairwise(edges):
        command = Command(int(route.commands[end]))
        if inside[end] and command in (*TURNS, Command.STRAIGHT):
            turn = float(wrap_angle(heading[end] - heading[begin]))
            if command in TURNS:
                assert turn * TURNS[command] > 0.4
            else:
                assert abs(turn) < 0.8


@pytest.mark.parametrize("seed", range(8))
def test_random_routes(town: TownMap, seed: int) -> None:
    route = town.random_route(np.random.default_rng(seed), 300.0)
    assert 300.0 <= route.length < 303.0
    check(town, route)
    again = town.random_route(np.random.default_rng(seed), 300.0)
    assert np.array_equal(route.line.points, again.line.points)


def test_route_reaches_its_goal(town: TownMap) -> None:
    lanes = town.lanes
    rng = np.random.default_rng(3)
    streets = np.flatnonzero(
        (lanes.kind == LaneKind.DRIVING) & ~lanes.is_junction & (lanes.length > 60)
    )
    found = 0
    for first, last in rng.choice(streets, (12, 2)):
        start, goal = lanes.points(int(first)).start + 2, lanes.points(int(last)).stop - 4
        pose = np.append(lanes.centre[start, :2], lanes.heading[start])
        end = np.append(lanes.centre[goal, :2], lanes.heading[goal])
        try:
            route = town.route(pose, end)
        except BadInput:
            continue
        found += 1
        assert np.linalg.norm(route.line.points[0] - pose[:2]) < 0.1
        assert np.linalg.norm(route.line.points[-1] - end[:2]) < 0.1
        assert route.length >= np.linalg.norm(end[:2] - pose[:2]) - 0.1
        check(town, route)
    assert found >= 9


def test_lane_change_says_so_and_moves_that_way(town10: TownMap) -> None:
    seen = set()
    for seed in range(40):
        route = town10.random_route(np.random.default_rng(seed), 300.0)
        for command, sign in ((Command.CHANGE_LEFT, 1.0), (Command.CHANGE_RIGHT, -1.0)):
            rows = np.flatnonzero(route.commands == command)
            if len(rows) == 0:
                continue
            # Over one change the route ends on the neighbour lane on that side.
            first = rows[0]
            last = first + int(np.argmax(np.append(route.commands[first:] != command, True))) - 1
            before, after = int(route.lanes[first]), int(route.lanes[last])
            side = town10.lanes.left if sign > 0 else town10.lanes.right
            assert side[before] == after
            seen.add(command)
    assert seen == {Command.CHANGE_LEFT, Command.CHANGE_RIGHT}


def test_turn_is_announced_before_the_junction(town: TownMap) -> None:
    route = town.random_route(np.random.default_rng(1), 400.0)
    inside = town.lanes.is_junction[route.lanes]
    entries = np.flatnonzero(np.diff(inside.astype(int)) == 1) + 1
    assert len(entries)
    for entry in entries:
        before = np.searchsorted(route.line.arc, route.line.arc[entry] - 15.0)
        if not inside[before:entry].any() and route.commands[before] < Command.CHANGE_LEFT:
            assert route.commands[before] == route.commands[entry]
