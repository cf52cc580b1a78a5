"""Cutting scenes out of logs: exact resampling, counted rejections."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driveproof.scene import (
    FUTURE_TIMES,
    HISTORY_TIMES,
    Command,
    ImageRef,
    LightState,
    Log,
    TrafficSignal,
    WindowReport,
    WindowRules,
    scenes_of,
)
from driveproof.testing import make_lead, make_log, motion

RULES = WindowRules()


def cut(log: Log, rules: WindowRules = RULES):
    report = WindowReport()
    return list(scenes_of(log, rules, report)), report


@settings(max_examples=40)
@given(
    st.floats(0.0, 20.0),
    st.floats(-0.4, 0.4),
    st.tuples(st.floats(-5e5, 5e5), st.floats(-5e5, 5e5), st.floats(-3.1, 3.1)),
)
def test_the_future_is_exact_wherever_the_log_lies_in_the_world(speed, yaw_rate, origin) -> None:
    scenes, _ = cut(make_log(speed=speed, yaw_rate=yaw_rate, origin=origin))
    poses, _ = motion(np.concatenate([HISTORY_TIMES, FUTURE_TIMES]), speed=speed, yaw_rate=yaw_rate)
    for scene in scenes:
        np.testing.assert_allclose(scene.history[:, :2], poses[:4, :2], atol=1e-6)
        np.testing.assert_allclose(scene.future[:, :2], poses[4:, :2], atol=1e-6)
        assert scene.speed == pytest.approx(speed)


def test_every_moment_is_counted_once() -> None:
    scenes, report = cut(make_log(seconds=12.0))
    assert len(scenes) == report.kept == 12  # 1.5 .. 7.0 s every half second
    assert report.rejected == {"short_history": 3, "short_future": 10}
    assert report.total == 25


def test_keys_name_source_log_and_frame() -> None:
    scenes, _ = cut(make_log(log_id="a"))
    assert scenes[0].record_key == "made/a/000015"
    assert {scene.scene_key for scene in scenes} == {"made/a"}


def test_a_gap_rejects_the_moments_that_reach_over_it() -> None:
    log = make_log(seconds=20.0)
    keep = ~((log.times > 9.0) & (log.times < 10.0))
    gappy = replace(
        log,
        times=log.times[keep],
        poses=log.poses[keep],
        velocity=log.velocity[keep],
        command=log.command[keep],
    )
    scenes, report = cut(gappy)
    assert report.rejected["gap"] > 0
    for scene in scenes:
        assert not (scene.timestamp_s - 1.5 < 9.5 < scene.timestamp_s + 5.0)


def test_a_teleport_is_a_jump_and_kilometres_for_metres_too() -> None:
    log = make_log(seconds=12.0)
    poses = log.poses.copy()
    poses[60:, 1] += 30.0
    _, report = cut(replace(log, poses=poses))
    assert report.kept == 0
    assert report.rejected["jump"] == 12
    _, report = cut(replace(log, poses=log.poses * [1000.0, 1000.0, 1.0]))
    assert report.rejected["jump"] == 12


def test_nan_rejects_only_the_windows_that_contain_it() -> None:
    log = make_log(seconds=20.0)
    poses = log.poses.copy()
    poses[100] = np.nan
    scenes, report = cut(replace(log, poses=poses))
    assert report.rejected["not_finite"] > 0
    assert scenes
    for scene in scenes:
        assert np.isfinite(scene.future).all()
        assert np.isfinite(scene.history).all()


def test_a_clock_that_runs_backwards_rejects_the_log() -> None:
    log = make_log()
    times = log.times.copy()
    times[50] = times[49]
    scenes, report = cut(replace(log, times=times))
    assert not scenes
    assert set(report.rejected) == {"clock"}


def test_velocity_and_acceleration_come_from_poses_where_the_source_has_none() -> None:
    log = make_log(speed=5.0, acceleration=1.0)
    scenes, _ = cut(replace(log, velocity=None))
    for scene in scenes:
        np.testing.assert_allclose(scene.velocity, [5.0 + scene.timestamp_s, 0.0], atol=1e-6)
        np.testing.assert_allclose(scene.acceleration, [1.0, 0.0], atol=1e-6)


def test_centripetal_acceleration_points_left_in_a_left_turn() -> None:
    scenes, _ = cut(make_log(speed=8.0, yaw_rate=0.25))
    np.testing.assert_allclose(scenes[0].acceleration, [0.0, 2.0], atol=5e-3)


def test_agents_are_seen_from_the_ego() -> None:
    times = np.linspace(0.0, 12.0, 121)
    log = make_log(speed=8.0, agents=make_lead(30.0, 6.0, times))
    scenes, _ = cut(log)
    scene = scenes[0]  # t0 = 1.5 s: the gap has shrunk by 2 m/s * 1.5 s
    np.testing.assert_allclose(scene.agents.at(0.0), [[27.0, 0.0, 0.0, 6.0, 0.0]], atol=1e-6)
    np.testing.assert_allclose(scene.agents.at(5.0)[0, 0], 27.0 + 30.0, atol=1e-6)


def test_pictures_are_matched_by_time_and_none_where_there_is_none() -> None:
    log = make_log(seconds=12.0)
    times = np.arange(2.0, 12.0, 0.5)
    refs = tuple(ImageRef("clip.tar", f"front/{i:05d}.jpg") for i in range(len(times)))
    scenes, _ = cut(replace(log, images={"front": (times, refs)}))
    first = scenes[0].images["front"]  # t0 = 1.5 s: nothing yet
    assert first == (None, None, None, None)
    later = next(s for s in scenes if s.timestamp_s == pytest.approx(3.5)).images["front"]
    assert later == refs[0:4]


def test_signals_move_into_the_scene_frame() -> None:
    light = TrafficSignal("7", "traffic_light", (40.0, 3.0), LightState.RED, affects_ego=True)
    log = replace(make_log(speed=8.0), signals={20: (light,)})
    scene = next(s for s in cut(log)[0] if s.timestamp_s == pytest.approx(2.0))
    assert scene.signals[0].position == pytest.approx((24.0, 3.0))
    assert scene.signals[0].state is LightState.RED


def test_an_observation_holds_nothing_of_the_truth() -> None:
    """Changing everything privileged leaves the observation equal."""
    times = np.linspace(0.0, 12.0, 121)
    scene = cut(make_log(speed=8.0, agents=make_lead(30.0, 6.0, times)))[0][0]
    changed = replace(
        scene,
        future=scene.future + 1.0,
        agents=type(scene.agents).empty(),
        signals=(TrafficSignal("1", "stop", (1.0, 1.0)),),
        situation="other",
        town="Town05",
    )
    a, b = scene.observe(), changed.observe()
    assert a.command is Command.FOLLOW
    assert repr(a) == repr(b)
    assert not {"future", "agents", "signals", "situation", "town"} & set(vars(a))


def test_a_single_sample_has_no_history() -> None:
    log = replace(
        make_log(), times=np.zeros(1), poses=np.zeros((1, 3)), velocity=None, command=None
    )
    scenes, report = cut(log)
    assert scenes == []
    assert report.rejected == {"short_history": 1}
