"""The compiled predicates say what GEOS says; the fits say what plain least squares says."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from driveproof.rules.kernels import (
    AHEAD,
    BEHIND,
    BESIDE,
    bearing,
    box_meets_polygon,
    boxes_touch,
    project,
)
from driveproof.rules.plan import plan_poses
from driveproof.rules.polygon_index import PolygonIndex, holds
from driveproof.rules.profile import curvature_profile, speed_profile
from driveproof.rules.simulator import simulate
from driveproof.rules.states import VehicleShape

GRID = st.integers(-6, 6).map(float)
POINT = st.tuples(GRID, GRID)
BOX = st.tuples(GRID, GRID, st.floats(-3.1, 3.1), st.floats(0.1, 4.0), st.floats(0.1, 2.0))
QUIET = settings(max_examples=150, deadline=None, derandomize=True)


def _star(radii: list[float], shift: float) -> np.ndarray:
    """A star-shaped ring, often not convex."""
    angle = np.linspace(0.0, 2.0 * np.pi, len(radii), endpoint=False) + shift
    return np.stack([np.cos(angle), np.sin(angle)], -1) * np.array(radii)[:, None]


RING = st.builds(_star, st.lists(st.floats(0.5, 6.0), min_size=3, max_size=40), st.floats(0.0, 3.0))


def _box(box: tuple[float, ...]) -> shapely.Polygon:
    x, y, heading, length, width = box
    c, s = np.cos(heading), np.sin(heading)
    corners = [
        (x + c * a - s * b, y + s * a + c * b)
        for a, b in ((length, width), (-length, width), (-length, -width), (length, -width))
    ]
    return shapely.Polygon(corners)


def _inside(ring: np.ndarray, points: np.ndarray) -> list[bool]:
    bounds = np.concatenate([ring.min(0), ring.max(0)])[None]
    index = PolygonIndex.of(ring, np.array([0, len(ring)]), bounds)
    parts = (index.edges, index.slabs, index.first, index.scale, index.flipped)
    return [
        bool(
            (bounds[0, :2] <= p).all()
            and (p <= bounds[0, 2:]).all()
            and holds(*parts, 0, p[0], p[1])
        )
        for p in points
    ]


@QUIET
@given(RING, st.lists(POINT, min_size=1, max_size=12))
def test_points_in_polygons_as_geos(ring: np.ndarray, points: list[tuple[float, float]]) -> None:
    queries = np.array([*points, *ring])  # its own corners are on the boundary: outside
    expected = shapely.contains_xy(shapely.Polygon(ring), queries[:, 0], queries[:, 1])
    assert _inside(ring, queries) == expected.tolist()


def test_a_boundary_is_outside_on_every_side() -> None:
    ring = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 2.0], [0.0, 2.0]])
    edge = np.array([[2.0, 0.0], [4.0, 1.0], [2.0, 2.0], [0.0, 1.0], [0.0, 0.0]])
    assert not any(_inside(ring, edge))
    assert all(_inside(ring, np.array([[2.0, 1e-9], [4.0 - 1e-9, 1.0]])))


@QUIET
@given(BOX, BOX)
def test_boxes_touch_as_geos(a: tuple[float, ...], b: tuple[float, ...]) -> None:
    gap = shapely.distance(_box(a), _box(b))
    if 0.0 < gap < 1e-9:
        return
    got = boxes_touch(
        b[0] - a[0], b[1] - a[1], np.cos(a[2]), np.sin(a[2]), a[3], a[4],
        np.cos(b[2]), np.sin(b[2]), b[3], b[4],
    )  # fmt: skip
    assert got == (gap == 0.0)


@QUIET
@given(BOX, RING)
def test_box_meets_polygon_as_geos(box: tuple[float, ...], ring: np.ndarray) -> None:
    shape = shapely.Polygon(ring)
    gap = shapely.distance(_box(box), shape)
    if 0.0 < gap < 1e-9:
        return
    x, y, heading, length, width = box
    got = box_meets_polygon(x, y, np.cos(heading), np.sin(heading), length, width, ring)
    assert got == (gap == 0.0)


def test_a_box_inside_a_polygon_and_around_one_meets_it() -> None:
    ring = np.array([[-9.0, -9.0], [9.0, -9.0], [9.0, 9.0], [-9.0, 9.0]])
    assert box_meets_polygon(0.0, 0.0, 1.0, 0.0, 1.0, 1.0, ring)
    assert box_meets_polygon(0.0, 0.0, 1.0, 0.0, 20.0, 20.0, ring)
    assert not box_meets_polygon(30.0, 0.0, 1.0, 0.0, 1.0, 1.0, ring)


@QUIET
@given(st.lists(POINT, min_size=2, max_size=9, unique=True), POINT)
def test_project_as_geos(line: list[tuple[float, float]], point: tuple[float, float]) -> None:
    geos, target = shapely.LineString(line), shapely.Point(point)
    arc, distance, segment = project(np.array(line), *point)
    assert distance == pytest.approx(geos.distance(target), abs=1e-9)
    # Several points of the line can be equally near; ours must be one of them.
    assert geos.interpolate(arc).distance(target) == pytest.approx(distance, abs=1e-9)
    assert 0 <= segment < len(line) - 1


def test_bearings() -> None:
    for degrees, expected in ((0, AHEAD), (29, AHEAD), (31, BESIDE), (149, BESIDE), (151, BEHIND)):
        angle = np.radians(degrees + 40.0)
        heading = np.radians(40.0)
        got = bearing(np.cos(angle), np.sin(angle), np.cos(heading), np.sin(heading), False)
        assert got == expected, degrees


def test_the_unclipped_arccos_loses_an_agent_dead_ahead() -> None:
    lost = 0
    for degrees in range(360):
        angle = np.radians(degrees)
        c, s = np.cos(angle), np.sin(angle)
        assert bearing(7.0 * c, 7.0 * s, c, s, False) == AHEAD
        lost += bearing(7.0 * c, 7.0 * s, c, s, True) == BESIDE
    assert lost > 0


def _wavy_plan(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    steps = np.arange(1, 9) * 0.5
    relative = np.stack([6.0 * steps, rng.normal(0, 1, 8), rng.normal(0, 0.2, 8)], -1)
    return plan_poses([3.0, -2.0, 0.4], relative, 0.5)[None]


@pytest.mark.parametrize("broken", [True, False])
def test_speed_fit_is_regularised_least_squares(broken: bool) -> None:
    plans, dt = _wavy_plan(3), 0.1
    delta = np.diff(plans[0, :, :2], axis=0)
    heading = plans[0, :-1, 2]
    rows, target = [], []
    for k in range(40):
        v = np.array([1.0, *(dt if j < k else 0.0 for j in range(39))])
        for axis, direction in enumerate((np.cos(heading[k]), np.sin(heading[k]))):
            rows.append(dt * direction * v)
            target.append(delta[k, axis])
    for j in range(38):  # penalty rows, weight 1e-4
        row = np.zeros(40)
        row[1 + j] = -1.0
        if not broken or j == 37:
            row[2 + j] = 1.0
        rows.append(np.sqrt(1e-4) * row)
        target.append(0.0)
    solution = np.linalg.lstsq(np.array(rows), np.array(target), rcond=None)[0]
    speeds = solution[0] + dt * np.concatenate([[0.0], np.cumsum(solution[1:])])
    assert speed_profile(plans, broken_jerk_penalty=broken)[0] == pytest.approx(speeds, abs=1e-8)


@pytest.mark.parametrize("speed", [8.0, 0.0])
def test_curvature_fit_is_regularised_least_squares(speed: float) -> None:
    rng, dt = np.random.default_rng(5), 0.1
    turns, speeds = rng.normal(0, 0.02, (1, 40)), np.full((1, 40), speed)
    rows = [
        dt * speed * np.array([1.0, *(dt if j < k else 0.0 for j in range(39))]) for k in range(40)
    ]
    penalty = np.diag([1e-5, *[0.1] * 39])
    system = np.concatenate([rows, penalty])
    solution = np.linalg.lstsq(system, np.concatenate([turns[0], np.zeros(40)]), rcond=None)[0]
    expected = solution[0] + dt * np.concatenate([[0.0], np.cumsum(solution[1:])])
    got = np.empty((1, 40))
    curvature_profile(turns, speeds, got)
    assert got[0] == pytest.approx(expected, abs=1e-7)


def test_a_vehicle_at_the_planned_speed_follows_a_straight_plan_exactly() -> None:
    relative = np.stack([np.arange(1, 9) * 4.0, np.zeros(8), np.zeros(8)], -1)
    ego = np.array([5.0, 1.0, 0.7, 8.0, *[0.0] * 7])
    states = simulate(plan_poses(ego[:3], relative, 0.5)[None], ego, VehicleShape())[0]
    way = 8.0 * np.arange(41) * 0.1
    assert states[:, 0] == pytest.approx(5.0 + way * np.cos(0.7), abs=1e-6)
    assert states[:, 1] == pytest.approx(1.0 + way * np.sin(0.7), abs=1e-6)
    assert states[:, 3] == pytest.approx(np.full(41, 8.0), abs=1e-6)


def test_first_order_lag_of_the_first_step() -> None:
    """A speed error of 1 m/s commands -10/11 m/s²; a third of it arrives within the first step."""
    relative = np.stack([np.arange(1, 9) * 4.0, np.zeros(8), np.zeros(8)], -1)
    ego = np.array([0.0, 0.0, 0.0, 9.0, *[0.0] * 7])
    states = simulate(plan_poses(ego[:3], relative, 0.5)[None], ego, VehicleShape())[0]
    assert states[1, 5] == pytest.approx(-10.0 / 11.0 / 3.0, abs=1e-3)
    assert states[1, 0] == pytest.approx(0.9)  # Euler with the old speed


def test_a_standing_vehicle_stays_and_does_not_steer() -> None:
    ego = np.array([2.0, 3.0, 1.0, *[0.0] * 8])
    plans = plan_poses(ego[:3], np.zeros((8, 3)), 0.5)[None]
    states = simulate(plans, ego, VehicleShape())[0]
    assert np.abs(states - ego).max() < 1e-9


def test_steering_is_limited_to_sixty_degrees() -> None:
    turn = np.arange(1, 41) * 0.3
    relative = np.stack([2.0 * np.sin(turn), 2.0 * (1.0 - np.cos(turn)), turn], -1)
    ego = np.array([0.0, 0.0, 0.0, 6.0, *[0.0] * 7])
    states = simulate(plan_poses(ego[:3], relative, 0.1)[None], ego, VehicleShape())[0]
    assert np.abs(states[:, 7]).max() == pytest.approx(np.pi / 3)


def test_plans_are_interpolated_through_their_poses_and_wrap() -> None:
    relative = np.array([[2.0 * k, 0.5 * k, 0.4 * k] for k in range(1, 9)])
    plan = plan_poses([1.0, 2.0, 2.9], relative, 0.5)
    fine = plan_poses(
        [1.0, 2.0, 2.9], np.array([[0.4 * k, 0.1 * k, 0.08 * k] for k in range(1, 41)]), 0.1
    )
    assert plan.shape == (41, 3)
    assert plan[0] == pytest.approx([1.0, 2.0, 2.9])
    assert plan == pytest.approx(fine, abs=1e-9)
    assert (np.abs(plan[:, 2]) <= np.pi).all()
    turns = np.diff(plan[:, 2])
    assert (np.minimum(np.abs(turns), 2 * np.pi - np.abs(turns)) < 0.1).all()


@pytest.mark.parametrize(
    ("relative", "dt", "message"),
    [
        (np.zeros((7, 3)), 0.5, "end before"),
        (np.full((8, 3), np.nan), 0.5, "not finite"),
        (np.zeros((8, 3)), -0.5, "positive"),
        (np.zeros((8, 2)), 0.5, "expected"),
    ],
)
def test_bad_plans_are_refused(relative: np.ndarray, dt: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan_poses(np.zeros(3), relative, dt)
