"""What a mode shows, and what it must not: marks, lists, and a camera request that holds nothing privileged."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from driveproof.commenter import Agent, Frame, Window
from driveproof.commenter.inputs import marks_of, policy_input
from driveproof.prompts.inputs import (
    Cameras,
    InputMode,
    Shown,
    actor_list,
    compose,
    without_references,
)
from driveproof.render import Camera
from driveproof.render.marks import Mark, draw_marks, draw_marks_from_above, shown

BLANK = np.full((180, 320, 3), 90, np.uint8)
SECRET = Mark("c987654", "fuchsia ambulance", 31.4, 2.7, speed=7.77, heading=0.33)
"""Values that occur nowhere by chance."""


def _agent(key: str, x: float, y: float, **more) -> Agent:
    plain = {"type_id": "vehicle.audi.tt", "base_type": "car", "kind": "vehicle", "z": 0.7}
    size = {"heading": 0.0, "length": 4.0, "width": 2.0, "height": 1.4, "speed": 5.0}
    return Agent(id=key, x=x, y=y, **{**plain, **size, **more})


def _window(shift: float = 0.0) -> Window:
    """The ego drives along x; one ahead does, too, twice as fast."""

    def at(index: int) -> Frame:
        seconds = index / 10
        ego = _agent("1", 5.0 * seconds, 0.0)
        other = _agent("7", 20.0 + 10.0 * seconds, 3.0, colour=(250, 20, 20), speed=10.0)
        return Frame(index, seconds, "", ego, (other,), ())

    frames = tuple(at(index) for index in range(31))
    return Window(frames[:-1], frames[-1])


def test_marks_are_in_the_frame_of_now() -> None:
    (mark,) = marks_of(_window())
    assert (mark.tag, mark.description) == ("c7", "red car")
    assert (mark.x, mark.y, mark.z) == pytest.approx((35.0, 3.0, 0.0))  # 20 + 30 - 15
    # it was 5 m further back every half second, in the frame of now
    assert np.array(mark.history)[:3] == pytest.approx(np.array([[30, 3], [25, 3], [20, 3]]))


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({}, True),
        ({"points": 3}, True),
        ({"points": 2}, False),
        ({"x": 49.0, "y": 0.0}, True),
        ({"x": 51.0, "y": 0.0}, False),
        ({"z": 29.0}, True),
        ({"z": -31.0}, False),
        ({"parked": True}, False),
    ],
)
def test_the_list_of_actors_has_its_filters(change: dict, kept: bool) -> None:
    from dataclasses import replace

    rows = json.loads(actor_list([replace(SECRET, **change)]))
    assert len(rows) == int(kept)


def test_a_row_of_the_list() -> None:
    (row,) = json.loads(actor_list([SECRET]))
    assert row == {
        "id": "c987654",
        "description": "fuchsia ambulance",
        "position": "31.4 m to the front, 2.7 m to the left",
        "speed": "7.8 m/s",
        "heading": "19 degrees to the left",
    }
    assert "id" not in json.loads(actor_list([SECRET], references=False))[0]
    opposite = Mark("c1", "car", 5.0, -2.0, heading=math.pi)
    assert json.loads(actor_list([opposite]))[0]["heading"] == "opposite direction"


@pytest.mark.parametrize("cameras", list(Cameras))
@pytest.mark.parametrize("history", [1, 3])
def test_a_camera_request_holds_nothing_privileged(cameras: Cameras, history: int) -> None:
    """The taint test: no value of the expert's in the messages, no pixel changed."""
    mode = InputMode(Shown.CAMERA, False, history, cameras)
    window = _window()
    pictures = [dict.fromkeys(mode.views, BLANK + k) for k in range(history)]
    question = "Where is the car to the front left (c7, CAM_FRONT) going?"
    messages, images = policy_input(mode, [window] * history, question, pictures)
    text = json.dumps(messages)
    (mark,) = marks_of(window)
    for secret in ("c7", "red", f"{mark.x:.1f}", f"{mark.speed:.1f}", "Actors", "m/s"):
        assert secret not in text
    assert len(images) == history * (6 if cameras is Cameras.SIX else 1)
    given = [moment[name] for moment in pictures for name in mode.views]
    assert all(np.array_equal(a, b) for a, b in zip(images, given, strict=True))
    assert sum(part["type"] == "image" for part in messages[0]["content"]) == len(images)
    # even whoever passes the list by mistake shows nothing of it
    leaky, _ = compose(mode, question, images, [SECRET])
    assert leaky == messages


def test_references_are_shown_where_the_mode_allows_them() -> None:
    question = "Where is the car (c7, CAM_FRONT, CAM_FRONT_LEFT) going?"
    assert without_references(question) == "Where is the car going?"
    bare, _ = compose(InputMode(Shown.TEXT, references=False), question, (), [SECRET])
    full, _ = compose(InputMode(Shown.TEXT, references=True), question, (), [SECRET])
    assert "c987654" not in json.dumps(bare)
    assert "c7" not in json.dumps(bare)
    assert "c987654" in json.dumps(full)
    assert "(c7, CAM_FRONT, CAM_FRONT_LEFT)" in json.dumps(full)


def test_marks_on_a_camera_picture_stand_where_the_thing_is() -> None:
    camera = Camera(width=320, height=180)
    mark = Mark("c7", "red car", 12.0, 0.0, colour=(190, 30, 35), history=((9.0, 0.0), (6.0, 0.0)))
    drawn = draw_marks(BLANK, camera.project, [mark])
    changed = np.argwhere((drawn != BLANK).any(2))
    (u, v), _ = camera.project(np.array([12.0, 0.0, 0.0]))
    assert np.abs(changed - np.array([v, u])).sum(1).min() <= 2
    reddish = drawn[..., 0].astype(int) - drawn[..., 1] > 40
    assert reddish.any(), "the way has the body's colour"
    assert np.array_equal(draw_marks(BLANK, camera.project, []), BLANK)
    behind = Mark("c8", "car", -20.0, 0.0, history=((-25.0, 0.0),))
    assert np.array_equal(draw_marks(BLANK, camera.project, [behind]), BLANK)


def test_from_above_the_body_is_where_it_is() -> None:
    square = np.zeros((400, 400, 3), np.uint8)
    mark = Mark("c7", "red car", 20.0, 10.0, colour=(190, 30, 35))
    drawn = draw_marks_from_above(square, [mark], [(10.0, 0.0), (-10.0, 0.0)], references=False)
    # 5 pixels a metre, the ego in the middle, forward is up, left is left
    place = drawn[200 - 100 - 3 : 200 - 100 + 4, 200 - 50 - 3 : 200 - 50 + 4]
    assert (place == (190, 30, 35)).all(2).any()
    assert tuple(drawn[150, 200]) == (255, 220, 0), "the sign ahead"
    assert not (drawn[245:256, 195:206] == (255, 220, 0)).all(2).any(), "not the one behind"
    labelled = draw_marks_from_above(square, [mark])
    assert not np.array_equal(labelled, draw_marks_from_above(square, [mark], references=False))


def test_speed_and_command_stand_before_the_question() -> None:
    messages, _ = compose(
        InputMode(Shown.TEXT), "What now?", (), [], ego_speed=-0.04, command="left"
    )
    (part,) = messages[0]["content"]
    assert part["text"].splitlines() == [
        "Actors around: []",
        "The ego vehicle drives 0.0 m/s.",
        "The navigator says: turn left at the junction.",
        "What now?",
    ]
    unknown, _ = compose(InputMode(Shown.TEXT), "What now?", command="unknown")
    assert "navigator" not in json.dumps(unknown)


def test_nearest_come_first() -> None:
    far, near = Mark("c1", "car", 30.0, 0.0), Mark("c2", "car", 10.0, 0.0)
    assert [mark.tag for mark in shown([far, near], 75.0)] == ["c2", "c1"]


def test_a_mode_wants_its_own_number_of_pictures() -> None:
    with pytest.raises(ValueError, match="shows 6 pictures, not 1"):
        compose(InputMode(cameras=Cameras.SIX), "?", [BLANK])
    with pytest.raises(ValueError, match="moments"):
        InputMode(history=0)
    with pytest.raises(ValueError, match="no picture"):
        policy_input(InputMode(), [_window()], "?", [{"CAM_BACK": BLANK}])
