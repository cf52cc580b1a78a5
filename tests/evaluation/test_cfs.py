"""CFS: the offline judge in driving terms, and whole runs with intervals and lost counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.errors import BadInput
from driveproof.evaluation.cfs import (
    AXES,
    CfsCase,
    CfsScore,
    ModelJudge,
    OfflineJudge,
    cfs,
    open_judge,
)
from driveproof.evaluation.cfs_table import report_cfs
from driveproof.evaluation.facts import SceneFacts, SignalFact, UserFact
from driveproof.evaluation.mcq import tabulate
from driveproof.mcq.interaction import Answer
from driveproof.policy import ChatReply, ChatRequest

RED = SignalFact("red", 20.0, True)
CAR = UserFact("vehicle", 10.0, 0.2, 3.0, "slower", True)
BOTH = frozenset({"agents", "signals"})


def scene(signal=RED, ahead=CAR, speed=8.0, known=BOTH) -> SceneFacts:
    signals = (signal,) if signal else ()
    users = (ahead,) if ahead else ()
    return SceneFacts("k", speed, 0.0, "follow", signal, ahead, signals, users, known)


GOOD = "signal red 20 ahead vehicle 10 slower\nmiddle 10,0 end 14,0\nHIGH_LEVEL_DECISION: direction=straight; speed=decelerate"
ENGLISH = (
    "The traffic light about 18 m ahead is red. A car 11 m ahead is slower than us. "
    "So the ego vehicle slows down and stops behind it."
)
LONG = """1. Scene: a two-lane urban road in clear weather. A traffic light roughly 22 metres ahead is currently red.
2. Critical objects: A silver sedan about 9 meters in front of us is slower than we are. There are no pedestrians or cyclists.
3. Implication: Because the light is red and the lead vehicle is slowing, we need to brake and come to a stop behind it.
4. Decision: Slow down smoothly and stop; accelerating would risk a rear-end collision, and if the car sets off we follow."""
EMPTY = "signal none ahead clear\nmiddle 20,0 end 40,0\nHIGH_LEVEL_DECISION: direction=straight; speed=keep"


@pytest.mark.parametrize("text", [GOOD, ENGLISH, LONG])
def test_a_faithful_reason_has_all_four(text: str) -> None:
    assert cfs(text, scene()) == CfsScore(True, True, True, True)
    assert cfs(text, scene()).value == 1.0


def test_an_empty_scene_can_be_described_faithfully() -> None:
    assert cfs(EMPTY, scene(None, None)).value == 1.0


@pytest.mark.parametrize(
    ("text", "facts", "failed"),
    [
        ("signal green 20 ahead vehicle 10 slower\nmiddle 10,0 end 14,0", scene(), {"grounding", "no_hallucination"}),
        ("signal red 20 ahead clear\nmiddle 10,0 end 14,0", scene(), {"grounding"}),
        ("signal none ahead vehicle 10 slower\nmiddle 10,0 end 14,0", scene(), {"grounding"}),
        ("signal red 20 ahead vehicle 35 slower\nmiddle 10,0 end 14,0", scene(), {"grounding", "no_hallucination"}),
        ("signal red 20 ahead vehicle 10 faster\nmiddle 10,0 end 14,0", scene(), {"no_hallucination"}),
        ("signal red 20 ahead vehicle 10 slower\nmiddle 25,0 end 55,0", scene(), {"coherence"}),
        ("A pedestrian 5 m ahead crosses, so stop.", scene(None, None), {"grounding", "no_hallucination"}),
        ("Drive carefully and slow down.", scene(None, None), {"specificity"}),
        ("The light is red, 20 m ahead, so stop. A car is ahead. Accelerate.", scene(), {"coherence"}),
    ],
)  # fmt: skip
def test_each_failing_has_its_axis(text: str, facts: SceneFacts, failed: set[str]) -> None:
    score = cfs(text, facts)
    assert {name for name in AXES if not getattr(score, name)} == failed


def test_a_decision_against_the_stated_plan_is_incoherent() -> None:
    turned = GOOD.replace("direction=straight", "direction=left").replace("end 14,0", "end 14,-6")
    assert not cfs(turned, scene()).coherence
    assert not cfs(GOOD.replace("decelerate", "accelerate"), scene()).coherence


def test_what_the_source_does_not_know_is_neither_true_nor_false() -> None:
    blind = scene(None, None, known=frozenset())
    assert cfs(GOOD, blind) == CfsScore(True, True, True, True)


@given(st.text(max_size=200))
def test_the_offline_judge_takes_any_text(text: str) -> None:
    assert 0.0 <= cfs(text, scene()).value <= 1.0


class Talker:
    """A model that says what it is told to."""

    name = "talker"

    def __init__(self, *texts: str | None) -> None:
        self._texts, self.seen = list(texts), []

    def identity(self):
        return {"kind": "talker"}

    def reply(self, requests: list[ChatRequest]) -> list[ChatReply]:
        self.seen += requests
        texts = [self._texts.pop(0) for _ in requests]
        return [ChatReply(t) if t is not None else ChatReply(None, "gone") for t in texts]


FORM = '{"grounding": true, "no_hallucination": false, "specificity": true, "coherence": true}'


def test_a_model_is_asked_again_for_what_cannot_be_read(make_item) -> None:
    talker = Talker("no idea", f"```json\n{FORM}\n```", None)
    judge = ModelJudge(talker, concurrency=1, attempts=2)
    case = CfsCase(GOOD, make_item().observation)
    assert judge.judge([case, case]) == [CfsScore(True, False, True, True), "gone"]
    first, second, third = talker.seen
    # a greedy reply would be the same again under any seed
    assert (first.temperature, third.temperature) == (0.0, 0.0)
    assert second.temperature > 0.0
    assert first.seed != second.seed
    request = talker.seen[0]
    assert len(request.images) == 4
    assert request.schema is not None
    assert set(request.schema["required"]) == set(AXES)
    # neither the future nor an option is in the request
    text = str(request.messages)
    assert "signal red 20" in text
    for point in (*make_item().waypoints.ravel(), *make_item().options.ravel()):
        assert f"{point:.2f}" not in text or abs(point) < 10.0


def test_a_run_has_an_interval_and_counts_what_was_lost(make_item) -> None:
    items = [make_item(n, scene=f"d{n}") for n in range(3)]
    facts = {items[0].record_key: scene(), items[1].record_key: scene()}
    answers = [
        Answer(items[0].record_key, 0, "deft", turn1=GOOD),
        Answer(items[0].record_key, 1, "deft", turn1="<answer>B</answer>"),  # nothing is left of it
        Answer(items[1].record_key, 0, "deft", error="dead"),
        Answer(items[1].record_key, 1, "deft", turn1=GOOD, turn2="x"),
        Answer(items[2].record_key, 0, "deft", turn1=GOOD),  # no facts
    ]
    report, values = report_cfs(tabulate(items, answers), OfflineJudge(), 0, facts=facts)
    assert report.score.mean == pytest.approx((0.5 + 1.0) / 2)
    assert report.score.n == 2
    assert report.score.lost == 1
    assert report.judged == 3
    assert report.lost == 3
    assert report.reasons == {"dead": 1, "no facts of this scene": 1, "no text": 1}
    assert set(report.axes) == set(AXES)
    assert np.array_equal(np.isnan(values["score"]), [[False, False], [True, False], [True, True]])


def test_pictures_of_other_drives_are_judged_by_the_own_scene(make_item) -> None:
    own, other = make_item(0, scene="a"), make_item(1, scene="b")
    asked = replace(own, observation=replace(own.observation, images=other.observation.images))
    talker = Talker(FORM)
    table = tabulate([asked], [Answer(own.record_key, 0, "deft", turn1=GOOD)])
    report_cfs(table, ModelJudge(talker), 0, seen={own.record_key: own.observation})
    assert [str(ref) for ref in talker.seen[0].images] == [f"a-0-{n}.jpg" for n in range(4)]


def test_a_judge_is_named_or_refused() -> None:
    assert open_judge("offline").name == "offline"
    with pytest.raises(BadInput, match="cannot judge"):
        open_judge("random")
