"""The maps of real logs under the rules: routes, lights, areas; what a source does not say stays unjudged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_map_examples import crossroads, drive, moved_map

from driveproof.datasets import open_logs
from driveproof.geometry import compose
from driveproof.rules import Scores, score_plans
from driveproof.rules.aggregate import epdms_of_judged
from driveproof.rules.lane_path import lanes_driven, straight_on
from driveproof.rules.reference import reference_plan
from driveproof.rules.scenes import world_of
from driveproof.scene import LightState, Log, Scene, WindowReport, WindowRules, scenes_of
from driveproof.scene.log_map import LogMap


def judged(scene: Scene, log_map: LogMap | None) -> Scores:
    made = world_of(scene, log_map=log_map)
    return score_plans(made.world, made.human[None])


def route_of(scene: Scene, log_map: LogMap) -> set[str]:
    roads = world_of(scene, log_map=log_map).world.roads
    return {token for token, ours in zip(roads.ids, roads.on_route, strict=True) if ours}


def test_driving_straight_through_a_crossroads_breaks_nothing() -> None:
    row = judged(drive(40.0), crossroads()).row(0)
    assert row.pop("EC") is None
    assert set(row.values()) == {1.0}


def test_the_route_is_the_lanes_driven_and_those_beside_in_the_same_direction() -> None:
    route = route_of(drive(40.0), crossroads())
    assert route == {
        "laneright",
        "laneleft",
        "laneright-on",
        "laneleft-on",
        "laneright-out",
        "laneleft-out",
    }


def test_lanes_driven_follow_a_change_of_lane_and_fill_gaps() -> None:
    lanes = crossroads().lanes
    poses = np.array([[40.0, 0.0, 0.0], [48.0, 0.4, 0.2], [54.0, 3.2, 0.2], [70.0, 3.5, 0.0]])
    assert [lanes[n].id for n in lanes_driven(lanes, poses)] == ["right", "left", "left-on"]
    far = np.array([[40.0, 0.0, 0.0], [120.0, 0.0, 0.0]])  # nobody looked while it crossed
    assert [lanes[n].id for n in lanes_driven(lanes, far)] == ["right", "right-on", "right-out"]
    assert lanes_driven(lanes, np.array([[40.0, 30.0, 0.0]])) == []
    path = straight_on(lanes, [0])
    assert [lanes[n].id for n in path] == ["right", "right-on", "right-out"]


def test_a_vehicle_in_the_oncoming_lane_is_not_said_to_drive_it_backwards() -> None:
    lanes = crossroads().lanes
    assert lanes_driven(lanes, np.array([[0.0, 7.0, 0.0]])) == []
    west = lanes_driven(lanes, np.array([[0.0, 7.0, np.pi]]))
    assert [lanes[n].id for n in west] == ["oncoming-out"]


def test_a_change_of_lane_is_part_of_the_routes_line() -> None:
    world = world_of(drive(0.0, shift=3.5), log_map=crossroads()).world
    start, end = world.roads.route[0], world.roads.route[-1]
    assert start[1] == pytest.approx(0.0)
    assert end[1] == pytest.approx(3.5)
    assert (np.diff(world.roads.route[:, 0]) > 0.0).all()
    assert judged(drive(0.0, shift=3.5), crossroads()).row(0)["LK"] == 1.0


def test_leaving_the_drivable_area_and_the_wrong_way_are_seen() -> None:
    off = judged(drive(0.0, shift=-4.0), crossroads()).verdicts(0)["DAC"]
    assert off.value == 0.0
    assert off.step is not None
    # West of the junction y = 7 is the oncoming lane; it is off the route of the lane that was left.
    assert judged(drive(-20.0, shift=7.0), crossroads()).row(0)["DDC"] == 0.0


def test_a_red_light_counts_in_its_own_lane_only() -> None:
    into = judged(drive(40.0), crossroads("right-on")).verdicts(0)["TLC"]
    assert (into.value, into.agent) == (0.0, "laneright-on")
    # The front is 4.049 m before the axle: it reaches the junction at x = 60 after 15.95 m at 8 m/s.
    assert into.step == 20
    assert judged(drive(40.0), crossroads("turn")).row(0)["TLC"] == 1.0
    assert judged(drive(40.0), crossroads("oncoming-on")).row(0)["TLC"] == 1.0


def test_a_light_is_red_when_it_was_seen_red() -> None:
    lights = crossroads("right-on").lights
    assert lights is not None
    states = {"right-on": (LightState.RED, LightState.GREEN, LightState.RED)}
    changed = replace(crossroads(), lights=replace(lights, states=states))
    later = replace(
        drive(40.0), timestamp_s=8.0
    )  # from 8 s to 12 s the sample at 10 s is the nearest
    assert judged(later, changed).row(0)["TLC"] == 1.0


def test_lights_that_nobody_recorded_are_unjudged_and_withhold_no_progress() -> None:
    made = world_of(drive(40.0), log_map=crossroads(lights=False))
    scores = score_plans(made.world, made.human[None], reference=reference_plan(made.world))
    row, verdict = scores.row(0), scores.verdicts(0)["TLC"]
    assert row["TLC"] is None
    assert "unknown" in verdict.reason
    assert row["EPDMS_raw"] is None
    assert row["EP"] is not None
    values = {code: rule.values for code, rule in scores.rules.items()}
    assert epdms_of_judged(values)[0] == pytest.approx((5 * row["EP"] + 9) / 14)
    known = world_of(drive(40.0), log_map=crossroads())
    same = score_plans(known.world, known.human[None], reference=reference_plan(known.world))
    assert same.row(0)["EP"] == row["EP"]


def test_without_a_map_the_lights_are_unknown_too() -> None:
    row = judged(drive(0.0), None).row(0)
    assert [code for code, value in row.items() if value is None] == [
        "DAC", "DDC", "TLC", "EP", "LK", "EC", "EPDMS_raw",
    ]  # fmt: skip


def test_epdms_of_judged_drops_what_is_unknown() -> None:
    nan = np.array([np.nan])
    one, half = np.array([1.0]), np.array([0.5])
    values = dict.fromkeys(("NC", "DAC", "DDC", "TLC", "EP", "TTC", "LK", "HC", "EC"), one)
    assert epdms_of_judged({**values, "EC": nan, "EP": half})[0] == pytest.approx(11.5 / 14)
    assert epdms_of_judged({**values, "DAC": nan, "DDC": half})[0] == 0.5
    assert np.isnan(epdms_of_judged({**values, "NC": nan})[0])


@settings(max_examples=15, deadline=None)
@given(st.floats(-2000, 2000), st.floats(-2000, 2000), st.floats(-3.1, 3.1))
def test_moving_map_and_drive_together_changes_nothing(x: float, y: float, turn: float) -> None:
    pose = np.array([x, y, turn])
    scene = drive(30.0, shift=1.0)
    moved = replace(scene, world_pose=compose(pose, scene.world_pose))
    before = judged(scene, crossroads("left-on")).row(0)
    after = judged(moved, moved_map(crossroads("left-on"), pose)).row(0)
    for code, value in before.items():
        assert after[code] == (None if value is None else pytest.approx(value, abs=1e-6)), code


SOURCES = (
    ("av2_sensor", "av2/sensor"),
    ("av2_forecasting", "av2/motion_forecasting"),
    ("womd", "waymo/womd/motion_data_one_scenario.tfrecord"),
    ("scenarionet", "nuscenes_scenarionet"),
    ("womd_json", "womd_json"),
)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(("format", "place"), SOURCES)
def test_humans_of_real_logs_drive_on_their_maps(format: str, place: str, shared_dir: Path) -> None:
    for log in open_logs(format, [shared_dir / "data/fixtures" / place]):
        assert isinstance(log, Log)
        assert log.load_map is not None
        log_map = log.load_map()
        assert len({lane.id for lane in log_map.lanes}) == len(log_map.lanes)
        assert log_map.drivable
        scenes = list(scenes_of(log, WindowRules(stride_s=3.0), WindowReport()))
        for scene in scenes:
            made = world_of(scene, log_map=log_map, rear_axle=log.frame_origin == "rear_axle")
            row = score_plans(made.world, made.human[None]).row(0)
            assert row["NC"] == row["DAC"] == row["DDC"] == 1.0
            assert row["EP"] is not None
            assert (row["TLC"] is None) == (format != "womd")
            assert not any("no route" in note for note in made.notes)
        assert scenes
