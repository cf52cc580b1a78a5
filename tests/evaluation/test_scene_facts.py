"""Facts come from the past: the future of a scene can be anything, and they stay what they are."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.evaluation.facts import Demand, SceneFacts, Surroundings, facts_of, surroundings_of
from driveproof.scene import AgentTracks, LightState, Observation, Scene, TrafficSignal
from driveproof.testing import make_lead, make_scene
from driveproof.training.targets import ahead_words, signal_words

TIMES = np.linspace(-1.5, 5.0, 14)


def scene_with(
    *,
    speed: float = 8.0,
    lead: tuple[float, float] | None = None,
    light: tuple[LightState, float] | None = None,
) -> Scene:
    """A straight drive behind a car (distance, speed) towards a light (state, distance)."""
    scene = make_scene(speed=speed)
    signals = ()
    if light:
        state, distance = light
        signals = (TrafficSignal("l", "traffic_light", (distance, 3.0), state, True, distance),)
    agents = make_lead(*lead, TIMES) if lead else AgentTracks.empty(TIMES)
    return replace(scene, agents=agents, signals=signals)


def facts(scene: Scene) -> SceneFacts:
    return facts_of(scene.observe(), surroundings_of(scene))


def test_what_is_ahead_and_what_it_demands() -> None:
    known = facts(scene_with(lead=(20.0, 3.0), light=(LightState.RED, 30.0)))
    assert known.ahead is not None
    assert known.signal is not None
    assert known.ahead.x == pytest.approx(20.0 - 4.5 / 2)
    assert (known.ahead.kind, known.ahead.motion, known.signal.name) == ("vehicle", "slower", "red")
    assert (known.ahead_demand, known.signal_demand, known.demand) == (
        Demand.SLOW,
        Demand.STOP,
        Demand.STOP,
    )


@pytest.mark.parametrize(
    ("scene", "demand"),
    [
        ({}, Demand.FREE),
        ({"lead": (20.0, 8.0)}, Demand.FREE),
        ({"lead": (20.0, 12.0)}, Demand.FREE),
        ({"lead": (20.0, 0.0)}, Demand.STOP),
        ({"light": (LightState.GREEN, 10.0)}, Demand.FREE),
        ({"light": (LightState.RED, 200.0)}, Demand.FREE),  # not within five seconds
        ({"light": (LightState.YELLOW, 30.0)}, Demand.STOP),
        ({"light": (LightState.YELLOW, 4.0)}, Demand.FREE),  # 8 m/s² would be needed
    ],
)
def test_demands(scene, demand: Demand) -> None:
    assert facts(scene_with(**scene)).demand is demand


def test_a_faithful_expert_speaks_of_the_same_things() -> None:
    for lead, light in [
        ((20.0, 3.0), None),
        (None, (LightState.RED, 30.0)),
        ((9.0, 9.0), (LightState.GREEN, 12.0)),
    ]:
        scene = scene_with(lead=lead, light=light)
        known = facts(scene)
        assert signal_words(scene).split()[0] == (known.signal.name if known.signal else "none")
        assert ahead_words(scene).split()[0] == (known.ahead.kind if known.ahead else "clear")


@given(st.integers(0, 2**31), st.floats(-50.0, 50.0))
def test_no_future_changes_a_fact(seed: int, shift: float) -> None:
    scene = scene_with(lead=(20.0, 3.0), light=(LightState.RED, 30.0))
    rng = np.random.default_rng(seed)
    later = scene.agents.times > 0.0
    states = scene.agents.states.copy()
    states[:, later] = rng.uniform(-80.0, 80.0, states[:, later].shape)
    other = replace(
        scene,
        future=scene.future + rng.uniform(-20.0, 20.0, scene.future.shape) + shift,
        agents=replace(scene.agents, states=states),
        situation="HardBrake",
    )
    assert facts(other) == facts(scene)


def test_neither_input_of_the_facts_can_hold_a_future() -> None:
    names = {f.name for kind in (Surroundings, Observation, SceneFacts) for f in fields(kind)}
    assert not {
        n for n in names if "future" in n or "option" in n or "waypoint" in n or "oracle" in n
    }
    scene = scene_with(lead=(20.0, 3.0))
    around = surroundings_of(scene)
    assert around.states.shape == (1, 5)
    assert around.states[0, 0] == pytest.approx(20.0)


def test_what_a_source_cannot_tell_is_unknown() -> None:
    scene = replace(scene_with(), missing=frozenset({"signals", "agents", "images"}))
    assert facts(scene).known == frozenset()
