"""Lanes of the real towns: closed-form facts of roads, and agreement with CARLA's own map."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.geometry import from_carla_yaw, points_to_local, wrap_angle
from driveproof.maps import LaneKind, MarkColour, MarkKind, TownMap
from driveproof.maps.reference_line import Piece, cubic_at, sample_line

DRIVING = int(LaneKind.DRIVING)


def edges(town: TownMap) -> tuple[np.ndarray, np.ndarray]:
    lanes = town.lanes
    source = np.repeat(np.arange(len(lanes)), np.diff(lanes.successor_offset))
    target = lanes.successor_lane
    driving = (lanes.kind[source] == DRIVING) & (lanes.kind[target] == DRIVING)
    return source[driving], target[driving]


def test_successor_starts_where_its_predecessor_ends(town: TownMap) -> None:
    lanes = town.lanes
    source, target = edges(town)
    assert len(source) > 100
    end, start = lanes.offset[source + 1] - 1, lanes.offset[target]
    assert np.linalg.norm(lanes.centre[end] - lanes.centre[start], axis=1).max() < 0.3
    assert np.abs(wrap_angle(lanes.heading[end] - lanes.heading[start])).max() < 0.1


def test_predecessors_invert_successors(town: TownMap) -> None:
    lanes = town.lanes
    forward = {(a, int(b)) for a in range(len(lanes)) for b in lanes.successors(a)}
    backward = {(int(a), b) for b in range(len(lanes)) for a in lanes.predecessors(b)}
    assert forward == backward


def test_heading_is_the_direction_of_the_next_point(town: TownMap) -> None:
    lanes = town.lanes
    same = np.diff(lanes.lane_of_point) == 0
    same &= lanes.kind[lanes.lane_of_point[:-1]] == DRIVING
    delta = np.diff(lanes.centre[:, :2], axis=0)
    course = np.arctan2(delta[:, 1], delta[:, 0])
    middle = lanes.heading[:-1] + wrap_angle(lanes.heading[1:] - lanes.heading[:-1]) / 2.0
    error = np.abs(wrap_angle(course - middle))[same]
    assert np.quantile(error, 0.99) < 0.02
    assert error.max() < 0.2


def test_left_neighbour_lies_left(town: TownMap) -> None:
    lanes = town.lanes
    for lane in range(len(lanes)):
        for neighbour, same, sign in (
            (lanes.left[lane], lanes.left_same[lane], 1.0),
            (lanes.right[lane], lanes.right_same[lane], -1.0),
        ):
            if neighbour < 0:
                assert not same
                continue
            first = lanes.points(lane).start
            pose = np.append(lanes.centre[first, :2], lanes.heading[first])
            other = lanes.points(int(neighbour))
            at = other.start if same else other.stop - 1
            offset = points_to_local(lanes.centre[at, :2], pose)
            reach = (lanes.width[first] + lanes.width[at]) / 2.0
            assert offset[1] * sign == pytest.approx(reach, abs=0.05)
            turned = abs(wrap_angle(lanes.heading[at] - pose[2]))
            assert turned < 0.2 if same else turned > np.pi - 0.2


def test_agrees_with_carla(town: TownMap) -> None:
    """Position, heading, width, kind and marks at lane middles are those of carla.Map."""
    from driveproof.maps.opendrive import parse_opendrive

    lanes, drive = town.lanes, parse_opendrive(town.opendrive)
    checked = 0
    for lane in lanes.of_kind(LaneKind.DRIVING).tolist():
        part = lanes.points(lane)
        road, section = drive.roads[int(lanes.road[lane])], int(lanes.section[lane])
        spec, count = road.sections[section], part.stop - part.start
        step = count // 2
        share = step / (count - 1)
        share = share if lanes.lane[lane] < 0 else 1.0 - share
        s = spec.start + share * (spec.end - spec.start)
        waypoint = town.carla_map.get_waypoint_xodr(road.key, int(lanes.lane[lane]), s)
        if waypoint is None:
            continue
        at, place = part.start + step, waypoint.transform.location
        assert np.allclose([place.x, -place.y, place.z], lanes.centre[at], atol=1e-3)
        yaw = from_carla_yaw(waypoint.transform.rotation.yaw)
        assert abs(wrap_angle(yaw - lanes.heading[at])) < 1e-3
        assert waypoint.lane_width == pytest.approx(lanes.width[at], abs=1e-3)
        assert waypoint.is_junction == bool(lanes.is_junction[lane])
        for mark, ours in (
            (waypoint.right_lane_marking, lanes.right_mark[at]),
            (waypoint.left_lane_marking, lanes.left_mark[at]),
        ):
            assert str(mark.type).lower() == MarkKind(int(ours)).name.replace("_", "").lower()
        checked += 1
    assert checked > 50


def test_yellow_lines_separate_opposite_directions(town: TownMap) -> None:
    lanes = town.lanes
    middle = lanes.of_kind(LaneKind.DRIVING)
    left = lanes.left[middle]
    opposite = middle[(left >= 0) & ~lanes.left_same[middle] & ~lanes.is_junction[middle]]
    opposite = opposite[lanes.kind[lanes.left[opposite]] == DRIVING]
    points = np.concatenate([np.arange(len(lanes.width))[lanes.points(int(i))] for i in opposite])
    marked = points[lanes.left_mark[points] != MarkKind.NONE]
    assert len(marked) > 50
    assert (lanes.left_colour[marked] == MarkColour.YELLOW).mean() > 0.9


@given(st.floats(-0.2, 0.2), st.floats(-3.0, 3.0), st.floats(0.1, 30.0))
def test_arc_is_a_circle(curvature: float, heading: float, length: float) -> None:
    frame = sample_line([Piece(0.0, 5.0, -2.0, heading, curvature)], np.array([length]))
    turned = heading + curvature * length
    if abs(curvature) > 1e-4:
        x = 5.0 + (math.sin(turned) - math.sin(heading)) / curvature
        y = -2.0 - (math.cos(turned) - math.cos(heading)) / curvature
        assert frame.x[0] == pytest.approx(x, abs=1e-6)
        assert frame.y[0] == pytest.approx(y, abs=1e-6)
    assert frame.heading[0] == pytest.approx(turned)


def test_cubic_piece_equals_the_curve_it_states() -> None:
    piece = Piece(10.0, 1.0, 2.0, math.pi / 2.0, cubic=(0, 1, 0, 0, 0, 0, 0.05, 0))
    frame = sample_line([piece], np.array([10.0, 14.0]))
    # v = 0.05 u² in a frame that looks north: u goes along y, v along -x.
    assert frame.x == pytest.approx([1.0, 1.0 - 0.8])
    assert frame.y == pytest.approx([2.0, 6.0])
    assert frame.heading[1] == pytest.approx(math.pi / 2.0 + math.atan(0.4))
    assert frame.curvature[0] == pytest.approx(0.1)


def test_cubic_takes_the_last_row_that_has_begun() -> None:
    table = np.array([[0.0, 1.0, 0.0, 0.0, 0.0], [5.0, 3.0, 2.0, 0.0, 0.0]])
    value, slope = cubic_at(table, np.array([0.0, 4.9, 5.0, 6.0]))
    assert value.tolist() == [1.0, 1.0, 3.0, 5.0]
    assert slope.tolist() == [0.0, 0.0, 2.0, 2.0]
