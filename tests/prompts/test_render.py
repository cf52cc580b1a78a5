"""What prompts say, and what turn 1 must not know."""

from __future__ import annotations

import dataclasses
import inspect
import re

import numpy as np
import pytest

from driveproof.prompts import (
    COMPACT,
    FULL,
    PROMPT_HASH,
    PromptStyle,
    joint_messages,
    prompt_hash,
    prompt_hashes,
    render_joint_turn,
    render_options_turn,
    render_scene_turn,
    scene_messages,
    shown_images,
    with_options,
)
from driveproof.scene import FRONT_CAMERAS, Command, ImageRef, Observation

STYLES = pytest.mark.parametrize("style", [FULL, COMPACT], ids=["full", "compact"])
OPTIONS = np.stack(
    [np.stack([np.arange(1, 11) * k, np.full(10, -0.01)], -1) for k in range(3, 9)]
).astype(float)


def observation(**changes: object) -> Observation:
    values = {
        "record_key": "log/SECRET_KEY/7",
        "images": {c: tuple(ImageRef(f"{c}-{i}.jpg") for i in range(4)) for c in FRONT_CAMERAS},
        "history": np.array([[-12.0, 0, 0], [-8, 0.25, 0], [-4, 0, 0], [0, 0, 0]]),
        "velocity": np.array([8.0, -0.004]),
        "acceleration": np.array([-1.5, 0.0]),
        "command": Command.CHANGE_LEFT,
    }
    return Observation(**{**values, **changes})  # type: ignore[arg-type]


@STYLES
def test_the_scene_turn_says_what_the_driver_knows(style: PromptStyle) -> None:
    text = render_scene_turn(observation(), style)
    for fact in ("8", "-12", "change_left", "front_left", "front_right"):
        assert fact in text
    assert "SECRET_KEY" not in text
    assert not re.search(r"-0(\.0+)?(?![\d.])", text), "a negative zero is noise"


def test_the_full_scene_turn_asks_for_reasons_and_the_decision_line() -> None:
    text = render_scene_turn(observation(), FULL)
    for word in ("Scene", "Critical objects", "Implication", "Decision"):
        assert word in text
    assert "HIGH_LEVEL_DECISION: direction=<straight|left|right|shift_left|shift_right>" in text
    assert "speed=<stop|decelerate|keep|accelerate>" in text
    assert "FINAL_CHOICE" not in text


@STYLES
def test_turn_1_cannot_be_given_candidates(style: PromptStyle) -> None:
    assert list(inspect.signature(render_scene_turn).parameters) == ["observation", "style"]
    assert list(inspect.signature(scene_messages).parameters) == ["observation", "style"]
    text = str(scene_messages(observation(), style)).lower()
    assert "candidate" not in text
    assert "option" not in text


@STYLES
def test_the_options_turn_lists_every_candidate_in_order(style: PromptStyle) -> None:
    lines = render_options_turn(OPTIONS, style).splitlines()
    rows = [line for line in lines if re.match(r"[A-J]: ", line)]
    assert [row[0] for row in rows] == list("ABCDEF")
    for row, option in zip(rows, OPTIONS, strict=True):
        numbers = [[float(x) for x in point.split(",")] for point in row[3:].split()]
        shown = option[style.waypoint_every - 1 :: style.waypoint_every]
        np.testing.assert_allclose(numbers, shown.round(style.decimals), atol=1e-9)


def test_compact_whole_metres() -> None:
    assert "A: 15,0 30,0\n" in render_options_turn(OPTIONS, COMPACT)
    every = dataclasses.replace(COMPACT, waypoint_every=1)
    assert "A: 3,0 6,0 9,0 12,0" in render_options_turn(OPTIONS, every)
    with pytest.raises(ValueError, match="waypoint_every"):
        dataclasses.replace(COMPACT, waypoint_every=3)
    assert len(render_scene_turn(observation(), COMPACT)) < 200


@STYLES
def test_joint_is_both_turns_at_once(style: PromptStyle) -> None:
    joint = render_joint_turn(observation(), OPTIONS, style)
    facts = [*render_scene_turn(observation(), style).splitlines()[1:-1]]
    facts += [r for r in render_options_turn(OPTIONS, style).splitlines() if r[1:2] == ":"]
    missing = [fact for fact in facts if fact not in joint]
    assert not missing
    if style.verbosity == "full":
        assert joint.index("HIGH_LEVEL_DECISION") < joint.index("FINAL_CHOICE")


@STYLES
def test_as_many_placeholders_as_pictures(style: PromptStyle) -> None:
    gappy = observation(images={"front": (None, ImageRef("a"), None, ImageRef("b"))})
    for seen in (observation(), gappy, observation(images={})):
        messages = scene_messages(seen, style)
        parts = [part for message in messages for part in message["content"]]
        expected = len(shown_images(seen, style))
        assert sum(part["type"] == "image" for part in parts) == expected
        joint = joint_messages(seen, OPTIONS, style)
        assert sum(p["type"] == "image" for m in joint for p in m["content"]) == expected
    assert [str(i.ref) for i in shown_images(gappy, FULL)] == ["a", "b"]
    assert len(shown_images(observation(), COMPACT)) == 3
    assert not shown_images(observation(), dataclasses.replace(FULL, frames=0))


@STYLES
def test_turn_2_keeps_turn_1_and_the_reply(style: PromptStyle) -> None:
    first = scene_messages(observation(), style)
    second = with_options(first, "my plan", OPTIONS, style)
    assert second[: len(first)] == first
    assert [message["role"] for message in second[len(first) :]] == ["assistant", "user"]
    assert second[len(first)]["content"] == [{"type": "text", "text": "my plan"}]


def test_hashes_follow_templates_and_style() -> None:
    hashes = prompt_hashes(FULL)
    assert len(set(hashes.values())) == len(hashes)
    assert all(re.fullmatch("[0-9a-f]{64}", value) for value in hashes.values())
    assert PROMPT_HASH["full"] == prompt_hash(PromptStyle())
    assert prompt_hash(dataclasses.replace(FULL, decimals=1)) != PROMPT_HASH["full"]
    assert PROMPT_HASH["compact"] != PROMPT_HASH["full"]


@pytest.mark.parametrize("bad", [{"decimals": -1}, {"frames": 5}, {"verbosity": "chatty"}])
def test_a_bad_style_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="PromptStyle"):
        PromptStyle(**bad)  # type: ignore[arg-type]


def test_options_of_a_wrong_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="options"):
        render_options_turn(np.zeros((6, 9, 2)), FULL)
    with pytest.raises(ValueError, match="options"):
        render_options_turn(np.zeros((11, 10, 2)), FULL)
