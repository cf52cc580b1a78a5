"""What a judge sees, and what a verdict looks like: colours where the geometry says, the same bytes again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from judge_examples import clip

from driveproof.judge import PAPER_THRESHOLDS, gate_labels, judge_score
from driveproof.judge.archive import write_pictures
from driveproof.judge.bev import ARROW, KIND_COLOURS, RED, WHITE, BevView, draw_bev
from driveproof.judge.explanation import explain, rescore
from driveproof.judge.frames import (
    CYAN,
    Course,
    FrameStyle,
    beside,
    draw_dots,
    encode,
    frame_times,
)
from driveproof.judge.scripted.build import clips_of, make_unit
from driveproof.judge.scripted.places import places_of
from driveproof.judge.scripted.registry import TOPICS
from driveproof.judge.windows import Surroundings, every, low_rules, window
from driveproof.maps import load_town
from driveproof.policy.pictures import Pictures
from driveproof.render import Camera
from driveproof.rules import MapPolygon, PolygonKind, RoadMap, shape_of
from driveproof.scene import AgentKind, ImageStore
from driveproof.testing import make_lead, make_scene

VIEW = BevView(ahead=30.0, behind=10.0, width=30.0, px=4.0)
CAR = shape_of(4.7, 2.0)


def road() -> RoadMap:
    """One lane of 4 m along x."""
    ring = [[-50.0, -2.0], [80.0, -2.0], [80.0, 2.0], [-50.0, 2.0]]
    line = [[-50.0, 0.0], [80.0, 0.0]]
    block = MapPolygon("block", PolygonKind.ROADBLOCK, ring)
    return RoadMap.of([block, MapPolygon("lane", PolygonKind.LANE, ring, True, line)], line)


def at(image, x: float, y: float) -> tuple[int, int, int]:
    """The colour at a place of the ego frame."""
    row, column = (VIEW.ahead - x) * VIEW.px, (VIEW.width / 2.0 - y) * VIEW.px
    return tuple(image[int(row), int(column)].tolist())


def test_the_map_from_above_shows_each_thing_in_its_colour() -> None:
    lead = make_lead(15.0, 0.0, np.zeros(1))
    path = np.stack([np.linspace(0.0, 25.0, 20), np.linspace(0.0, 6.0, 20)], axis=-1)
    image = draw_bev(road(), lead, 0.0, np.zeros(3), path, CAR, VIEW)
    assert image.shape == (160, 120, 3)
    assert at(image, CAR.rear_axle_to_center, 0.5) == RED
    assert at(image, 24.0, 5.76) == RED
    assert at(image, 15.0, -0.5) == KIND_COLOURS[AgentKind.VEHICLE]
    assert at(image, 0.0, -8.0) == WHITE
    assert min(at(image, -8.0, 1.95)) <= 90  # the lane's boundary
    shown = {tuple(c) for c in image.reshape(-1, 3).tolist()}
    assert ARROW in shown


def test_the_map_turns_with_the_ego() -> None:
    lead = make_lead(15.0, 0.0, np.zeros(1))
    ego = np.array([15.0, -10.0, np.pi / 2.0])  # looks at the car from the side
    image = draw_bev(road(), lead, 0.0, ego, np.array([[15.0, -9.0]]), CAR, VIEW)
    assert at(image, 10.0, 0.0) == KIND_COLOURS[AgentKind.VEHICLE]


def test_dots_lie_on_the_road_where_the_trajectory_goes() -> None:
    camera = Camera(width=160, height=96)
    dark = np.zeros((96, 160, 3), np.uint8)
    drawn = draw_dots(dark, camera, np.array([[10.0, 0.0], [10.0, 3.0], [-5.0, 0.0]]))
    (u, v), _ = camera.project([10.0, 0.0, 0.0])
    assert tuple(drawn[int(v), int(u)].tolist()) == CYAN
    blobs, _ = cv2.connectedComponents((drawn[..., 1] > 128).astype(np.uint8))
    assert blobs - 1 == 2  # the point behind is not drawn
    assert not dark.any()


def test_a_course_is_past_and_plan_in_one() -> None:
    scene = make_scene(speed=8.0)
    course = Course.of(scene, scene.future)
    assert course.at(np.array([-1.5, 0.0, 0.25, 5.0]))[:, 0] == pytest.approx(
        [-12.0, 0.0, 2.0, 40.0]
    )
    assert frame_times(2).tolist() == [-0.5, 0.0]


def test_views_of_other_sizes_stand_side_by_side() -> None:
    front, above = np.zeros((50, 100, 3), np.uint8), np.zeros((100, 60, 3), np.uint8)
    assert beside(front, above).shape == (100, 260, 3)
    assert beside(front[:, :40], above[:50]).shape == (50, 100, 3)


def test_a_window_of_a_log_without_a_map_says_what_it_cannot_judge() -> None:
    scene = make_scene(speed=8.0, acceleration=-6.0, seconds=8.0)
    made, frames = window(scene, Surroundings(), FrameStyle(), ImageStore())
    assert made.label is None
    assert made.rules["LK"] is None
    assert made.epdms is None
    assert len(frames) == 4
    assert frames[0].shape == (96, 160, 3)
    assert not frames[0][:, :96].any()  # no picture in the log
    assert (frames[-1][:, 96:] == RED).all(-1).any()


def test_windows_of_a_drive_are_two_seconds_apart() -> None:
    scene = make_scene()
    drive = [replace(scene, timestamp_s=0.5 * n) for n in range(9)]
    other = replace(scene, scene_key="other", timestamp_s=0.5)
    assert [s.timestamp_s for s in every([*drive, other])] == [0.0, 2.0, 4.0, 0.5]


def test_mining_knows_what_is_low() -> None:
    low = clip(LK=0.0, EP=0.6, TLC=0.0)
    assert low_rules(low.rules, PAPER_THRESHOLDS) == ("LK", "TLC")
    assert low_rules(clip(DDC=None).rules, PAPER_THRESHOLDS) == ()


def test_pictures_come_back_from_their_archive(tmp_path: Path) -> None:
    pixels = np.full((32, 48, 3), (200, 30, 30), np.uint8)
    (kept,) = write_pictures([(clip(), (encode(pixels),))], tmp_path / "p.tar", tmp_path / "p.tar")
    back = Pictures().pixels(kept.frames[0])
    assert np.abs(back.astype(int) - pixels).max() < 12


@pytest.mark.slow
def test_a_verdict_is_drawn_with_whoever_is_to_blame(tmp_path: Path) -> None:
    town = load_town("Town01")
    unit = make_unit(TOPICS["nudge"], 0, "train", places_of(town), town, 0, "navsim")
    one, _, made = next(c for c in clips_of(unit) if c[0].kind == "hits_stopped_car")
    gates = gate_labels(one.criteria, one.label, PAPER_THRESHOLDS)
    scores = rescore(one, made.world, made.scene.speed)
    assert scores.row(0)["NC"] == one.rules["NC"] == 0.0
    frames = [np.zeros((96, 160, 3), np.uint8)] * 4
    for name in ("one.png", "two.png", "three.svg"):
        verdict = judge_score(one.rules, gates)
        explain(one, verdict, scores, made.world, made.scene.agents, frames, tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
    text = (tmp_path / "three.svg").read_text()
    assert "with car0" in text
    assert "score 0.00" in text
