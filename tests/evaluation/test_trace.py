"""What the reader of traces understands, in driving terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.evaluation.claims import Action, Entity, Mention, plan_actions
from driveproof.evaluation.facts_match import meets
from driveproof.evaluation.trace import read_trace


def test_the_compact_style() -> None:
    said = read_trace("signal red 20 ahead vehicle 10 slower\nmiddle 10,0 end 14,-1")
    assert said.mentions == (
        Mention(Entity.LIGHT, state="red", distance=20.0),
        Mention(Entity.VEHICLE, distance=10.0, motion="slower", side="ahead"),
    )
    assert said.plan == ((10.0, 0.0), (14.0, -1.0))
    none = read_trace("signal none ahead clear").mentions
    assert [(m.entity, m.present) for m in none] == [(Entity.CONTROL, False), (Entity.USER, False)]


@pytest.mark.parametrize(
    ("text", "mention"),
    [
        ("The traffic light ahead is red, about 20 m away.", Mention(Entity.LIGHT, state="red", distance=20.0)),
        ("We face an amber signal 15 metres ahead.", Mention(Entity.LIGHT, state="yellow", distance=15.0)),
        ("A red car 12 m ahead is slower than us.", Mention(Entity.VEHICLE, distance=12.0, motion="slower", side="ahead")),
        ("A parked truck stands on the right.", Mention(Entity.VEHICLE, motion="standing", side="right")),
        ("There is no stop sign.", Mention(Entity.STOP, present=False)),
        ("I do not see any pedestrians.", Mention(Entity.PEDESTRIAN, present=False)),
        ("A traffic light is not visible.", Mention(Entity.LIGHT, present=False)),
        ("The road ahead is clear.", Mention(Entity.USER, present=False, side="ahead")),
        ("The road has two lanes in clear weather and a sedan ahead.", Mention(Entity.VEHICLE, side="ahead")),
        ("A light 22 m ahead is visible and it is currently red.", Mention(Entity.LIGHT, state="red", distance=22.0)),
        ("Nothing in the way.", Mention(Entity.USER, present=False)),
        ("The cyclist rides at 18 km/h.", Mention(Entity.CYCLIST, speed=5.0)),
    ],
)  # fmt: skip
def test_one_mention(text: str, mention: Mention) -> None:
    assert read_trace(text).mentions == (mention,)


@pytest.mark.parametrize(
    ("text", "done", "denied"),
    [
        ("So the ego vehicle must stop before the line.", {Action.STOP}, set()),
        ("The vehicle should slow down.", {Action.SLOW}, set()),
        ("No need to stop, continue at this speed.", {Action.KEEP}, {Action.STOP}),
        ("A stop sign is 15 m ahead.", set(), set()),
        ("The car ahead is braking.", set(), set()),
        ("Do not accelerate; brake.", {Action.SLOW}, {Action.ACCELERATE}),
        ("Nothing demands that the ego vehicle stops.", set(), {Action.STOP}),
        ("Slow down; accelerating would risk a collision.", {Action.SLOW}, set()),
        ("If a pedestrian steps out, stop.", set(), set()),
        ("Keep the current speed unless the car brakes.", {Action.KEEP}, set()),
        ("The slow car ahead has stopped near the bus stop.", set(), set()),
        ("Keep to the lane and its brake lights are off.", set(), set()),
    ],
)
def test_what_is_to_happen(text: str, done: set[Action], denied: set[Action]) -> None:
    said = read_trace(text)
    assert (set(said.actions), set(said.denied)) == (done, denied)


def test_the_speeds_of_the_ego_and_of_others_are_told_apart() -> None:
    said = read_trace("The car drives at 3 m/s. It is slower than the ego vehicle at 8 m/s.")
    assert said.speed == 8.0
    assert said.mentions == (Mention(Entity.VEHICLE, motion="slower", speed=3.0),)
    assert read_trace("We are standing still.").speed == 0.0


@pytest.mark.parametrize(
    ("plan", "action"),
    [
        (((5.0, 0.0), (5.0, 0.0)), Action.STOP),
        (((18.0, 0.0), (28.0, 0.0)), Action.SLOW),
        (((20.0, 0.0), (40.0, 0.0)), Action.KEEP),
        (((24.0, 0.0), (52.0, 0.0)), Action.ACCELERATE),
    ],
)
def test_stated_positions_imply_a_speed(plan, action: Action) -> None:
    assert plan_actions(plan, 8.0) == {action}


CRITERION = "Names the red traffic light that governs the ego vehicle."


@pytest.mark.parametrize(
    ("trace", "criterion", "met"),
    [
        ("signal red 20", CRITERION, True),
        ("The light is red.", CRITERION, True),
        ("signal green 20", CRITERION, False),
        ("There is no red light.", CRITERION, False),
        ("signal red 20 signal green 20", CRITERION, False),  # hedging
        ("The light is red. No signal applies.", CRITERION, False),
        ("signal red 20", "Places the traffic light about 22 m ahead.", True),
        ("signal red 20", "Places the traffic light about 35 m ahead.", False),
        ("ahead vehicle 10 slower", "Says that the vehicle ahead is slower than the ego vehicle.", True),
        ("ahead vehicle 10 faster", "Says that the vehicle ahead is slower than the ego vehicle.", False),
        ("ahead clear", "States that the way ahead is clear.", True),
        ("A car is 10 m ahead.", "States that the way ahead is clear.", False),
        ("A car is parked on the left. The road ahead is clear.", "States that the way ahead is clear.", True),
        ("The light is red, so brake.", "Concludes from the red traffic light that the ego vehicle must slow down or stop.", True),
        ("The light is red, so accelerate.", "Concludes from the red traffic light that the ego vehicle must slow down or stop.", False),
        ("Brake or accelerate at the red light.", "Concludes from the red traffic light that the ego vehicle must slow down or stop.", False),
        ("Brake.", "Concludes from the red traffic light that the ego vehicle must slow down or stop.", False),
        ("signal none\nmiddle 20,0 end 40,0", "Concludes that there is no need to stop.", True),
        ("signal none\nmiddle 4,0 end 4,0", "Concludes that there is no need to stop.", False),
        ("The road is wet after heavy rain.", "Notes the wet road and the rain.", True),
        ("The road is dry.", "Notes the wet road and the rain.", False),
        ("We turn left.", "Follows the route command: left.", True),
        ("We do not turn left.", "Follows the route command: left.", False),
        ("", CRITERION, False),
    ],
)  # fmt: skip
def test_a_criterion_is_met_by_what_is_said_and_not_by_its_opposite(
    trace: str, criterion: str, met: bool
) -> None:
    assert meets(read_trace(trace), criterion, ego_speed=8.0) is met


def test_naming_everything_meets_nothing() -> None:
    colours = " ".join(f"signal {c} {d}" for c in ("red", "yellow", "green") for d in (5, 20, 40))
    assert not meets(read_trace(colours), CRITERION)
    distances = " ".join(f"ahead vehicle {d} slower" for d in range(0, 60, 5))
    assert not meets(read_trace(distances), "Places the vehicle about 20 m ahead.")


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    read_trace(text)
    meets(read_trace(text), text)
