"""Properties and closed forms of the plane geometry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely.geometry import Polygon

from driveproof.geometry import (
    Polyline,
    box_corners,
    boxes_overlap,
    compose,
    constant_velocity,
    differentiate,
    from_carla_points,
    from_carla_yaw,
    inverse,
    net_heading_change,
    path_length,
    poses_to_local,
    poses_to_world,
    to_carla_points,
    to_carla_yaw,
    wrap_angle,
)
from driveproof.testing import motion

coordinate = st.floats(-1e4, 1e4, allow_nan=False)
angle = st.floats(-20.0, 20.0, allow_nan=False)
pose = st.tuples(coordinate, coordinate, angle).map(np.array)


def same_angle(a: float, b: float) -> bool:
    return abs(np.angle(np.exp(1j * (a - b)))) < 1e-9


@given(angle)
def test_wrapped_angle_is_the_same_direction_within_half_a_turn(value: float) -> None:
    wrapped = float(wrap_angle(value))
    assert -np.pi < wrapped <= np.pi
    assert same_angle(wrapped, value)


@given(pose, pose)
def test_local_and_world_are_inverse(origin: np.ndarray, other: np.ndarray) -> None:
    back = poses_to_world(poses_to_local(other, origin), origin)
    np.testing.assert_allclose(back[:2], other[:2], atol=1e-7)
    assert same_angle(back[2], other[2])


@given(pose)
def test_composing_with_the_inverse_is_the_identity(value: np.ndarray) -> None:
    identity = compose(value, inverse(value))
    np.testing.assert_allclose(identity[:2], 0.0, atol=1e-7)
    assert same_angle(identity[2], 0.0)


def test_a_point_ahead_and_to_the_left_has_positive_coordinates() -> None:
    # facing north at (10, 5): a point one metre further north and two metres west
    local = poses_to_local(np.array([8.0, 6.0, np.pi]), np.array([10.0, 5.0, np.pi / 2]))
    np.testing.assert_allclose(local, [1.0, 2.0, np.pi / 2])


def test_carla_y_points_right_and_yaw_turns_clockwise() -> None:
    np.testing.assert_allclose(from_carla_points([1.0, 2.0, 3.0]), [1.0, -2.0, 3.0])
    assert from_carla_yaw(90.0) == pytest.approx(-np.pi / 2)


@given(coordinate, coordinate, angle)
def test_the_carla_door_closes_behind_itself(x: float, y: float, heading: float) -> None:
    np.testing.assert_array_equal(to_carla_points(from_carla_points([x, y])), [x, y])
    assert same_angle(float(from_carla_yaw(to_carla_yaw(heading))), heading)


def test_corners_of_a_car_start_front_left() -> None:
    corners = box_corners(np.array([10.0, 0.0, 0.0]), 4.0, 2.0)
    np.testing.assert_allclose(corners, [[12, 1], [8, 1], [8, -1], [12, -1]])


box = st.tuples(st.floats(-6, 6), st.floats(-6, 6), angle, st.floats(0.5, 6.0), st.floats(0.5, 3.0))


@given(box, box)
def test_overlap_agrees_with_shapely(a: tuple[float, ...], b: tuple[float, ...]) -> None:
    ca, cb = (box_corners(np.array(v[:3]), v[3], v[4]) for v in (a, b))
    pa, pb = Polygon(ca), Polygon(cb)
    if abs(pa.distance(pb)) > 1e-9 or pa.intersection(pb).area > 1e-9:
        assert bool(boxes_overlap(ca, cb)) == pa.intersects(pb)


def test_overlap_broadcasts_over_agents_and_time() -> None:
    ego = box_corners(np.zeros((5, 3)), 4.0, 2.0)
    others = box_corners(np.array([[[3.0, 0, 0]], [[30.0, 0, 0]]]), 4.0, 2.0)
    np.testing.assert_array_equal(boxes_overlap(ego, others), [[True] * 5, [False] * 5])


def test_net_heading_change_of_a_circle_is_yaw_rate_times_time() -> None:
    times = np.linspace(0.5, 5.0, 10)
    poses, _ = motion(times, speed=8.0, yaw_rate=0.3)
    # the last chord's course lags the tangent by half a step
    assert net_heading_change(poses[:, :2]) == pytest.approx(0.3 * (5.0 - 0.25), abs=1e-3)


def test_net_heading_change_ignores_jitter_at_standstill_and_counts_beyond_half_a_turn() -> None:
    rng = np.random.default_rng(0)
    assert net_heading_change(rng.normal(0, 0.02, (10, 2))) == 0.0
    poses, _ = motion(np.linspace(0.5, 5.0, 10), speed=6.0, yaw_rate=0.8)
    assert net_heading_change(poses[:, :2]) == pytest.approx(0.8 * 4.75, abs=1e-3)


def test_constant_velocity_and_path_length() -> None:
    waypoints = constant_velocity(np.array([3.0, 4.0]), np.array([1.0, 2.0]))
    np.testing.assert_allclose(waypoints, [[3, 4], [6, 8]])
    assert path_length(waypoints) == pytest.approx(5.0)
    assert path_length(waypoints, from_origin=True) == pytest.approx(10.0)


def test_differentiate_is_exact_for_constant_acceleration_on_irregular_times() -> None:
    times = np.array([0.0, 0.1, 0.25, 0.3, 0.5])
    np.testing.assert_allclose(differentiate(2.0 * times**2 + times, times), 4.0 * times + 1.0)
    with pytest.raises(ValueError, match="two samples"):
        differentiate([1.0], [0.0])


points = st.lists(st.tuples(st.floats(-100, 100), st.floats(-100, 100)), min_size=2, max_size=12)


@given(points, st.floats(0, 1))
def test_a_point_of_the_line_projects_onto_itself(
    raw: list[tuple[float, float]], part: float
) -> None:
    array = np.array(raw)
    if np.linalg.norm(array[-1] - array[0]) < 1e-3:
        return
    line = Polyline(array)
    point = line.at(part * line.length)
    s, lateral = line.project(point)
    np.testing.assert_allclose(line.at(s), point, atol=1e-6)
    assert abs(lateral) < 1e-6


def test_left_of_a_polyline_is_positive() -> None:
    line = Polyline(np.array([[0.0, 0.0], [10.0, 0.0]]))
    s, lateral = line.project(np.array([[4.0, 1.5], [4.0, -1.5]]))
    np.testing.assert_allclose(s, [4, 4])
    np.testing.assert_allclose(lateral, [1.5, -1.5])


def test_a_polyline_needs_two_distinct_finite_points() -> None:
    with pytest.raises(ValueError, match="two distinct"):
        Polyline(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="not finite"):
        Polyline(np.array([[0.0, 0.0], [np.nan, 1.0]]))
    with pytest.raises(ValueError, match=r"shape \*x2"):
        Polyline(np.zeros((3, 3)))


def test_resampling_keeps_the_ends_and_the_length() -> None:
    line = Polyline(np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])).resample(0.5)
    assert line.length == pytest.approx(7.0)
    np.testing.assert_allclose(line.points[[0, -1]], [[0, 0], [3, 4]])
    assert float(line.heading(5.0)) == pytest.approx(np.pi / 2)
