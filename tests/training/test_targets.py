"""The teacher's texts: reasons before options, and a choice that the parser reads as the oracle."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
import toy_world

from driveproof.mcq.items import McqItem
from driveproof.prompts import parse_choice, parse_decision
from driveproof.scene import (
    AgentKind,
    AgentTracks,
    LightState,
    Scene,
    TrafficSignal,
    decision_of,
)
from driveproof.testing import make_lead, make_scene
from driveproof.training.targets import (
    ahead_words,
    gaps,
    signal_words,
    teacher_joint,
    teacher_plan,
    teacher_turn1,
    teacher_turn2,
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Scene, McqItem]]:
    made = toy_world.scenes(tmp_path_factory.mktemp("pictures"))
    return list(zip(made, toy_world.items(made, toy_world.codebook()), strict=True))


def test_turn_1_names_no_option_and_no_letter(world: list[tuple[Scene, McqItem]]) -> None:
    for scene, _ in world:
        text = teacher_turn1(teacher_plan(scene))
        assert not re.search(r"\b[A-J]\b|FINAL_CHOICE|gap", text)


def test_turn_1_commits_to_the_decision_of_the_log(world: list[tuple[Scene, McqItem]]) -> None:
    for scene, item in world:
        decision = parse_decision(teacher_turn1(teacher_plan(scene)))
        assert decision == decision_of(item.waypoints, scene.speed)


def test_turn_1_depends_on_nothing_later_than_the_plan(
    world: list[tuple[Scene, McqItem]],
) -> None:
    """Other road users' futures do not leak: with all states after t = 0 removed the text is the same."""
    scene, _ = world[1]
    scene = replace(scene, agents=lead(scene, 15.0, 3.0))
    later = scene.agents.times > 0
    states, valid = scene.agents.states.copy(), scene.agents.valid.copy()
    states[:, later], valid[:, later] = np.nan, False
    blind = replace(scene, agents=replace(scene.agents, states=states, valid=valid))
    assert teacher_turn1(teacher_plan(blind)) == teacher_turn1(teacher_plan(scene))


def test_the_choice_is_the_oracle_and_the_smallest_gap(
    world: list[tuple[Scene, McqItem]],
) -> None:
    for scene, item in world:
        plan = teacher_plan(scene)
        text = teacher_turn2(item.options, plan, item.oracle_index)
        assert parse_choice(text, item.n_options).index == item.oracle_index
        pairs = [(int(x), int(y)) for x, y in re.findall(r"gap (\d+),(\d+)", text)]
        assert pairs == gaps(item.options, plan)
        stated = [x + y for x, y in pairs]
        assert int(np.argmin(stated)) == item.oracle_index
        for shown in range(1, item.n_options + 1):
            best = re.findall(r"best ([A-F])", text)[shown - 1]
            assert "ABCDEF".index(best) == int(np.argmin(stated[:shown]))


def test_jeft_says_what_deft_says(world: list[tuple[Scene, McqItem]]) -> None:
    scene, item = world[0]
    plan = teacher_plan(scene)
    text = teacher_joint(item.options, plan, item.oracle_index)
    assert text.startswith(teacher_turn1(plan))
    assert text.endswith(teacher_turn2(item.options, plan, item.oracle_index))


def lead(scene: Scene, distance: float, speed: float) -> AgentTracks:
    return make_lead(distance, speed, np.arange(-1.5, 5.01, 0.5))


@pytest.mark.parametrize(
    ("distance", "speed", "words"),
    [
        (12.25, 8.0, "vehicle 10 same"),  # the box begins 2.25 m before its centre
        (22.25, 3.0, "vehicle 20 slower"),
        (22.25, 0.0, "vehicle 20 standing"),
        (32.25, 12.0, "vehicle 30 faster"),
        (60.0, 8.0, "clear"),
        (-10.0, 8.0, "clear"),
    ],
)
def test_the_lead_is_named(distance: float, speed: float, words: str) -> None:
    scene = make_scene(speed=8.0)
    assert ahead_words(replace(scene, agents=lead(scene, distance, speed))) == words


def test_only_what_is_in_the_way_is_named() -> None:
    scene = make_scene(speed=8.0)
    ahead = lead(scene, 15.0, 0.0)
    for lateral, kind in itertools.product((0.0, 3.0, 6.0), AgentKind):
        states = ahead.states.copy()
        states[..., 1] = lateral
        moved = replace(scene, agents=replace(ahead, states=states, kinds=(kind,)))
        on_foot = kind in (AgentKind.PEDESTRIAN, AgentKind.CYCLIST)
        assert (ahead_words(moved) == "clear") == (lateral > (4.0 if on_foot else 2.0))


def test_the_governing_signal_is_named() -> None:
    def signal(kind: str, affects: bool, distance: float, state: str = "unknown") -> TrafficSignal:
        return TrafficSignal(
            f"{kind}{distance}", kind, (30.0, 4.0), LightState(state), affects, distance
        )

    scene = make_scene()
    assert signal_words(scene) == "none"
    other = signal("traffic_light", False, 5.0, "red")
    limit = signal("speed_limit", True, 3.0)
    assert signal_words(replace(scene, signals=(other, limit))) == "none"
    light, stop = signal("traffic_light", True, 23.0, "yellow"), signal("stop", True, 41.0)
    assert signal_words(replace(scene, signals=(other, stop, light))) == "yellow 25"
    unknown = signal("traffic_light", True, float("nan"), "red")
    assert signal_words(replace(scene, signals=(unknown,))) == "red 30"
