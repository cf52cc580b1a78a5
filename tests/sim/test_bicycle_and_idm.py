"""Motion of one vehicle and of a follower, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.sim.world import Body, Path, Style, Vehicle, World
from driveproof.sim.world.bicycle import BicycleState, Limits
from driveproof.sim.world.idm import equilibrium_gap, free_acceleration, idm_acceleration

CAR = Body(4.9, 1.85, 1.5, 2.85, "vehicle.lincoln.mkz_2020", "car")


@given(st.floats(0.05, 0.7), st.floats(1.0, 15.0), st.sampled_from([-1.0, 1.0]))
def test_bicycle_drives_a_circle_of_wheelbase_over_tan_delta(
    delta: float, speed: float, side: float
) -> None:
    state = BicycleState(0.0, 0.0, 0.0, speed, steer=side * delta)
    radius = 2.85 / math.tan(delta)
    for _ in range(40):
        state.step(0.0, side * delta, 2.85, 0.1, Limits())
        assert math.hypot(state.x, state.y - side * radius) == pytest.approx(radius, rel=1e-9)


def test_bicycle_on_a_straight_line_covers_half_a_t_squared() -> None:
    state = BicycleState(0.0, 0.0, 0.5, 0.0, accel=2.0)
    for _ in range(30):
        state.step(2.0, 0.0, 2.85, 0.1, Limits())
    assert math.hypot(state.x, state.y) == pytest.approx(0.5 * 2.0 * 3.0**2)
    assert state.speed == pytest.approx(6.0)


@given(st.lists(st.tuples(st.floats(-20, 20), st.floats(-3, 3)), min_size=1, max_size=30))
def test_actuators_keep_their_limits(controls: list[tuple[float, float]]) -> None:
    limits, state = Limits(), BicycleState(0.0, 0.0, 0.0, 5.0)
    for accel, steer in controls:
        before = (state.accel, state.steer, state.speed)
        state.step(accel, steer, 2.85, 0.1, limits)
        assert -limits.brake <= state.accel <= limits.accel
        assert state.speed >= 0.0
        assert abs(state.steer) <= limits.steer
        assert abs(state.steer - before[1]) <= limits.steer_rate * 0.1 + 1e-12
        stopped = state.speed == 0.0
        assert stopped or state.accel - before[0] >= -limits.jerk_down * 0.1 - 1e-9


def test_idm_neither_brakes_nor_accelerates_at_the_equilibrium_gap() -> None:
    style = Style()
    for speed in (0.0, 3.0, 8.0, 12.0):
        gap = equilibrium_gap(speed, 14.0, style)
        accel = idm_acceleration(speed, 14.0, gap, 0.0, style, style.standstill)
        assert accel == pytest.approx(0.0, abs=1e-9)


def test_free_road_reaches_the_wanted_speed_and_no_more() -> None:
    style = Style()
    assert free_acceleration(0.0, 10.0, style) == style.accel
    assert free_acceleration(10.0, 10.0, style) == pytest.approx(0.0)
    assert free_acceleration(11.0, 10.0, style) < 0.0


def test_follower_settles_at_the_equilibrium_gap_of_the_closed_form() -> None:
    path = Path.of(np.stack([np.arange(3000.0), np.zeros(3000)], 1), limit=15.0)
    lead = Vehicle.on_path(2, CAR, path, 60.0, 8.0)
    lead.style = Style(speed_factor=8.0 / 15.0)
    world = World(Vehicle.on_path(1, CAR, path, 10.0, 8.0), [lead])
    for _ in range(1500):
        world.step(0.1)
    wanted = 15.0 * Style().speed_factor
    expected = equilibrium_gap(lead.speed, wanted, Style())
    gap = lead.s_back - world.ego.s_front
    assert world.ego.speed == pytest.approx(lead.speed, abs=0.02)
    assert gap == pytest.approx(expected, abs=0.3)
