"""Comfort against closed forms: a Savitzky-Golay filter of order two leaves polynomials up to that as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from made_records import motion, record

from driveproof.evaluation.driving.comfort import corrected_comfort, peer_comfort
from driveproof.evaluation.driving.motion import Motion
from driveproof.evaluation.driving.route_score import Variant
from driveproof.evaluation.driving.scores import driving_scores
from driveproof.geometry.arrays import Float

Comfort = Callable[[Motion], float | None]
BOTH = (peer_comfort, corrected_comfort)


@pytest.mark.parametrize("comfort", BOTH)
@pytest.mark.parametrize(
    ("lon", "lat", "yaw", "passes"),
    [
        (0.0, 0.0, 0.0, True),
        (2.39, 0.0, 0.0, True),
        (2.41, 0.0, 0.0, False),  # accelerating: 2.40 is the bound
        (-4.04, 0.0, 0.0, True),
        (-4.06, 0.0, 0.0, False),  # braking: -4.05
        (0.0, 4.88, 0.0, True),
        (0.0, -4.90, 0.0, False),  # to either side: 4.89
        (0.0, 0.0, 0.94, True),
        (0.0, 0.0, -0.96, False),  # yaw rate: 0.95
    ],
)
def test_held_values_pass_up_to_their_bounds(
    comfort: Comfort, lon: float, lat: float, yaw: float, passes: bool
) -> None:
    assert comfort(motion(0.1, lon, lat, yaw, n=20)) == 100.0 * passes


def triangle(dt: float, slope: float, half_s: float, seconds: float) -> Float:
    """A wave of straight flanks, from 0 up with this slope for ``half_s`` seconds and down again."""
    time = dt * np.arange(round(seconds / dt))
    phase = time % (2.0 * half_s)
    return slope * np.where(phase < half_s, phase, 2.0 * half_s - phase)


@pytest.mark.parametrize("comfort", BOTH)
@pytest.mark.parametrize(("jerk", "passes"), [(4.0, True), (4.25, False)])
def test_the_slope_of_the_acceleration_is_its_jerk(
    comfort: Comfort, jerk: float, passes: bool
) -> None:
    # Flanks of one second are longer than the filter's 0.6 s, so it sees their slope exactly: bound 4.13.
    lon = triangle(0.1, jerk, 1.0, 2.0) - 2.2  # within -2.2 and 2.05 m/s2
    assert comfort(motion(0.1, lon)) == 100.0 * passes


@pytest.mark.parametrize("comfort", BOTH)
@pytest.mark.parametrize(("scale", "passes"), [(0.9, True), (1.0, False)])
def test_the_size_of_the_acceleration_has_a_bound_of_its_own(
    comfort: Comfort, scale: float, passes: bool
) -> None:
    # Braking at 4.1 m/s3 while turning in at 8 m/s3: each within 4.13 and unbounded, together
    # sqrt(4.1^2 + 8^2) = 8.99 m/s3 over 8.37; nine tenths of it are 8.09.
    wave = triangle(0.1, scale, 0.6, 2.4)[:20]
    assert comfort(motion(0.1, -4.1 * wave, 8.0 * wave)) == 100.0 * passes


def test_a_drive_at_20_hz_is_felt_half_as_hard_there() -> None:
    # A true jerk of 6.2 m/s3 is over 4.13; taken for samples 0.1 s apart it is 3.1.
    lon = triangle(0.05, 6.2, 0.95, 3.8) - 3.7
    drive = motion(0.05, lon)
    assert peer_comfort(drive) == 100.0
    assert corrected_comfort(drive) == 0.0


@pytest.mark.parametrize("dt", [0.1, 0.05, 0.025])
def test_how_often_a_drive_is_sampled_changes_nothing_here(dt: float) -> None:
    assert corrected_comfort(motion(dt, triangle(dt, 4.25, 1.0, 4.0) - 2.2)) == 0.0
    assert corrected_comfort(motion(dt, triangle(dt, 4.0, 1.0, 4.0) - 2.2)) == 100.0


@pytest.mark.parametrize(("slope", "half_s"), [(2.1, 0.8), (4.5, 0.35)])
def test_yaw_acceleration_is_never_differentiated_there(slope: float, half_s: float) -> None:
    # The wheel is thrown left and right at 2.1 (4.5) rad/s2, over 1.93, the rate staying below 0.95 rad/s.
    yaw = triangle(0.1, slope, half_s, 4.0) - slope * half_s / 2.0
    drive = motion(0.1, 0.0, 0.0, yaw)
    assert peer_comfort(drive) == 100.0
    assert corrected_comfort(drive) == 0.0
    gentle = motion(0.1, 0.0, 0.0, 0.2 * yaw)  # 0.42 and 0.9 rad/s2
    assert corrected_comfort(gentle) == 100.0


@pytest.mark.parametrize("comfort", BOTH)
def test_windows_are_counted_and_a_tail_is_dropped(comfort: Comfort) -> None:
    calm, harsh = np.zeros(20), np.full(20, 5.0)
    assert comfort(motion(0.1, np.concatenate([calm, harsh]))) == 50.0
    assert comfort(motion(0.1, np.concatenate([calm, harsh, calm]))) == pytest.approx(200.0 / 3.0)
    assert comfort(motion(0.1, np.concatenate([calm, harsh[:19]]))) == 100.0
    assert comfort(motion(0.1, calm[:19])) is None


def test_uneven_time_stamps_are_evened() -> None:
    steps = np.where(np.arange(200) % 2 == 0, 0.04, 0.06)
    time = np.cumsum(steps)
    lon = 4.0 * np.abs(time % 2.0 - 1.0) - 2.2
    uneven = replace(motion(0.05, lon), time=time)
    assert corrected_comfort(uneven) == 100.0
    assert corrected_comfort(replace(uneven, accel_lon=1.1 * lon)) == 0.0


def test_the_mean_over_routes_leaves_out_what_was_not_recorded() -> None:
    drives = {
        "1": motion(0.1, 0.0, n=20),
        "2": motion(0.1, np.concatenate([np.zeros(20), np.full(20, 5.0)])),
        "3": motion(0.1, 0.0, n=5),
        "4": None,
    }
    there = [record(route) for route in drives]
    for variant in Variant:
        scores = driving_scores(there, None, variant, motions=lambda one: drives[one.route_id])
        assert scores.comfort.mean == 75.0  # (100 + 50) / 2
        assert (scores.comfort.n, scores.comfort.lost) == (2, 2)
        why = [one.why.get("comfort") for one in scores.routes]
        assert why == [None, None, "shorter than one window", "no motion was recorded"]
