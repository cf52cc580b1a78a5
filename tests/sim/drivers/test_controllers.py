"""Controllers and the follower model against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.sim.drivers import LateralPlan, Path, Style
from driveproof.sim.drivers.control import (
    THROTTLES,
    Plant,
    pedals,
    pursuit_angle,
    steer_command,
    steering_share,
    throttle_curve,
    trimmed,
)
from driveproof.sim.drivers.idm import equilibrium_gap, free_acceleration, idm_acceleration
from driveproof.sim.drivers.lateral import smoothstep

PLANT = Plant()


@given(st.floats(8.0, 60.0), st.floats(0.1, 0.9), st.sampled_from([-1.0, 1.0]))
def test_pursuit_steers_along_the_circle_through_the_point(
    radius: float, share: float, side: float
) -> None:
    angle = share * math.pi / 2.0  # of the arc to the point
    dx, dy = radius * math.sin(angle), side * radius * (1.0 - math.cos(angle))
    assert pursuit_angle(dx, dy, 0.0, 2.85) == pytest.approx(side * math.atan(2.85 / radius))


@given(st.floats(-math.pi, math.pi))
def test_a_point_straight_ahead_asks_for_no_steering(heading: float) -> None:
    dx, dy = 7.0 * math.cos(heading), 7.0 * math.sin(heading)
    assert pursuit_angle(dx, dy, heading, 2.85) == pytest.approx(0.0, abs=1e-9)


def test_steering_follows_the_curve_of_carla_and_its_sign() -> None:
    assert steering_share(0.0) == 1.0
    assert steering_share(20.0 / 3.6) == pytest.approx(0.9)
    assert steering_share(40.0 / 3.6) == pytest.approx(0.85)
    assert steering_share(70.0) == 0.7
    # left is positive inside and negative for CARLA; at 20 km/h full lock gives 90 % of 70 degrees
    assert steer_command(math.radians(31.5), 20.0 / 3.6, PLANT) == pytest.approx(-0.5)
    assert steer_command(-2.0, 5.0, PLANT) == 1.0


@given(st.floats(-12.0, 6.0), st.floats(0.0, 30.0))
def test_pedals_invert_the_table(accel: float, speed: float) -> None:
    throttle, brake = pedals(accel, speed, PLANT)
    assert 0.0 <= throttle <= 1.0
    assert 0.0 <= brake <= 1.0
    assert throttle == 0.0 or brake == 0.0
    curve = throttle_curve(speed, PLANT)
    reached = float(np.interp(throttle, THROTTLES, curve)) - brake * PLANT.brake
    best = min(max(accel, curve[0] - PLANT.brake), curve[-1])
    assert reached == pytest.approx(best, abs=1e-6)


@given(st.floats(0.0, 25.0))
def test_more_throttle_never_gives_less_acceleration(speed: float) -> None:
    assert (np.diff(throttle_curve(speed, PLANT)) > 0.0).all()


def test_the_integrator_removes_a_constant_miss() -> None:
    trim, reached = 0.0, 0.0
    for _ in range(200):  # an engine that always gives 0.7 m/s² less than asked for
        reached = 1.5 + trim - 0.7
        trim = trimmed(trim, 1.5, reached, 0.05)
    assert reached == pytest.approx(1.5, abs=1e-3)


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


@given(st.floats(-4.0, 4.0), st.floats(-4.0, 4.0))
def test_a_lateral_plan_starts_holds_and_ends_where_it_says(start: float, offset: float) -> None:
    plan = LateralPlan(offset, begin=10.0, full=20.0, leave=30.0, end=40.0, start=start)
    assert plan.at(5.0) == pytest.approx(start)
    assert plan.at(15.0) == pytest.approx((start + offset) / 2.0)
    assert plan.at(25.0) == pytest.approx(offset)
    assert plan.at(45.0) == pytest.approx(0.0)
    s = np.linspace(0.0, 50.0, 501)
    along = plan.at(s)
    assert along == pytest.approx([plan.at(float(x)) for x in s])
    assert (
        np.abs(np.diff(along)).max() < 0.1 * 1.6 * max(abs(offset - start), abs(offset)) / 10 + 1e-9
    )


def test_smoothstep_is_flat_at_both_ends() -> None:
    assert smoothstep(0.01, 0.0, 1.0) == pytest.approx(0.0, abs=4e-4)
    assert smoothstep(0.99, 0.0, 1.0) == pytest.approx(1.0, abs=4e-4)


@given(st.floats(8.0, 60.0))
def test_speed_in_a_bend_keeps_the_lateral_acceleration(radius: float) -> None:
    turn = np.linspace(0.0, math.pi / 2.0, 80)
    arc = np.stack([100.0 + radius * np.sin(turn), radius - radius * np.cos(turn)], 1)
    points = np.concatenate([np.stack([np.arange(100.0), np.zeros(100)], 1), arc])
    path = Path.of(points, limit=25.0)
    middle = path.index(100.0 + radius * math.pi / 4.0)
    assert float(path.cap[middle]) ** 2 / radius == pytest.approx(2.2, rel=0.1)
    # and it is approached at 1.5 m/s², never later
    drop = np.diff(path.cap[: middle + 1] ** 2) / (2.0 * 0.5)
    assert drop.min() > -1.5 - 1e-6
