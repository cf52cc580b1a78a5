"""A model that talks, driving: keys, failures, and the door to what is privileged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from driveproof.errors import BadInput, Unreachable
from driveproof.policy import ChatReply, ChatRequest
from driveproof.policy.driving import DrivingPolicy
from driveproof.policy.tiny import build_tiny_vlm
from driveproof.prompts.inputs import Cameras, InputMode, Shown
from driveproof.questions import ActionKeys, DirectionKey, QuestionKey, SpeedKey
from driveproof.reasoning import (
    PRESETS,
    GraphPolicy,
    Privileged,
    ReasoningGraph,
    open_graph_driver,
)
from driveproof.reasoning.trace import trace_from_json
from driveproof.render.marks import Mark
from tests.reasoning.talkers import KEYS, Talker, picture, seen

COT, PAPER, ACTION = (PRESETS[name].graph for name in ("cot", "paper", "action"))


class Untouchable:
    """Whatever is asked of it is one question too many."""

    def __getattribute__(self, name: str) -> object:
        raise AssertionError(f"privileged input was touched: {name}")


class Oracle:
    """Knows a red car, and what the expert says."""

    name = "oracle"

    def marks(self) -> Sequence[Mark]:
        return [Mark("c7", "red car", 12.0, 0.0)]

    def bev(self, *, references: bool) -> np.ndarray:
        return picture(200 if references else 100)

    def marked(self, view: str, pictures: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return [image + 1 for image in pictures]

    def answer(self, key: QuestionKey) -> str | None:
        return f"The red car (c7, CAM_FRONT) answers {key.number}."


def test_it_drives_by_the_keys_of_question_50() -> None:
    policy = GraphPolicy(Talker(), COT)
    assert isinstance(policy, DrivingPolicy)
    assert (policy.views, policy.history, policy.name) == (("CAM_FRONT",), 1, "talker")
    policy.begin("route 1", 3)
    decision = policy.decide(seen())
    assert decision.keys == ActionKeys(DirectionKey.TURN_LEFT, SpeedKey.STOP)
    assert decision.usage == {"prompt_tokens": 90, "completion_tokens": 18}
    trace = trace_from_json(json.loads(json.dumps(decision.trace)))
    assert (trace.episode, trace.graph) == ("route 1", COT.digest)
    assert trace.latency_s == pytest.approx(9 * 0.5)
    json.dumps(policy.identity())


@pytest.mark.parametrize(
    ("answer", "keys", "error"),
    [
        ("I would say STOP", ActionKeys(None, SpeedKey.STOP), ""),
        ("I would not know", None, "question 50: no key in 'I would not know'"),
        ("", None, "question 50: no key in ''"),
        (None, None, "question 50: lost"),
    ],
)
def test_a_failure_is_a_decision_with_an_error(answer, keys, error: str) -> None:
    policy = GraphPolicy(Talker(lambda _: answer), ACTION)
    policy.begin("e", 0)
    decision = policy.decide(seen())
    assert (decision.keys, decision.error) == (keys, error)
    assert decision.trace is not None


def test_a_models_own_words_do_not_excuse_it() -> None:
    policy = GraphPolicy(Talker(lambda _: "model server: APITimeoutError: I fell asleep"), ACTION)
    policy.begin("e", 0)
    decision = policy.decide(seen())
    assert "model server: " in decision.error
    assert not decision.outage


def test_a_lost_server_spoils_the_decision_even_where_the_last_question_is_answered() -> None:
    talker = Talker()
    answer = talker.reply

    def reply(requests: Sequence[ChatRequest]) -> list[ChatReply]:
        if len(talker.batches) == 1:
            talker.batches.append([])
            return [ChatReply(None, "quota", outage=True)] * len(requests)
        return answer(requests)

    talker.reply = reply  # type: ignore[method-assign]
    policy = GraphPolicy(talker, COT)
    policy.begin("e", 0)
    decision = policy.decide(seen())
    assert decision.outage
    assert decision.keys is None
    assert decision.error.endswith(": quota")
    steps = json.loads(json.dumps(decision.trace))["steps"]
    assert [step["error"] for step in steps if step.get("outage")] == ["quota"] * 2
    assert any(step.outage for step in trace_from_json(decision.trace).steps)


def test_only_who_says_so_was_not_reached() -> None:
    for error, outage in ((Unreachable("the model"), True), (RuntimeError("Unreachable"), False)):

        def fail(_: object, error: Exception = error) -> list[ChatReply]:
            raise error

        talker = Talker()
        talker.reply = fail  # type: ignore[method-assign]
        policy = GraphPolicy(talker, ACTION)
        policy.begin("e", 0)
        assert policy.decide(seen()).outage is outage


def test_a_missing_camera_is_an_error_too() -> None:
    policy = GraphPolicy(Talker(), ACTION, InputMode(cameras=Cameras.SIX))
    policy.begin("e", 0)
    assert policy.decide(seen()).error == "no picture of CAM_FRONT_LEFT"


def test_camera_mode_never_touches_what_is_privileged() -> None:
    for mode in (InputMode(), InputMode(history=2, cameras=Cameras.SIX)):
        policy = GraphPolicy(Talker(), COT, mode, privileged=Untouchable())  # type: ignore[arg-type]
        policy.begin("e", 0)
        for frame in range(3):
            assert policy.decide(seen(frame, mode.views)).error == ""
        assert policy.identity()["privileged"] is None


@pytest.mark.parametrize(
    ("mode", "graph", "field"),
    [
        (InputMode(Shown.BEV), ACTION, "mode"),
        (InputMode(Shown.TEXT), ACTION, "mode"),
        (InputMode(references=True), ACTION, "mode"),
        (InputMode(), PAPER, "USE_GT"),
    ],
)
def test_nothing_is_given_away_without_a_provider(mode, graph, field: str) -> None:
    with pytest.raises(BadInput) as caught:
        GraphPolicy(Talker(), graph, mode)
    assert caught.value.field == field
    oracle = Oracle()
    assert isinstance(oracle, Privileged)
    policy = GraphPolicy(Talker(), graph, mode, privileged=oracle)
    policy.begin("e", 0)
    assert policy.decide(seen()).error == ""
    assert policy.identity()["privileged"]["provider"] == "oracle"


def test_a_graph_that_cannot_drive_is_refused() -> None:
    with pytest.raises(BadInput, match="no question 50"):
        GraphPolicy(Talker(), ReasoningGraph((43,)))


def _asked(mode: InputMode, graph: ReasoningGraph = ACTION, moments: int = 1):
    talker = Talker()
    policy = GraphPolicy(talker, graph, mode, privileged=Oracle())
    policy.begin("e", 0)
    for frame in range(moments):
        policy.decide(seen(10 + frame, mode.views))
    return talker.batches[-1][-1], talker.prompts[-1]


def test_each_mode_shows_what_it_says() -> None:
    request, _ = _asked(InputMode(Shown.BEV))
    assert [int(image[0, 0, 0]) for image in request.images] == [100]
    request, _ = _asked(InputMode(Shown.BEV, references=True))
    assert [int(image[0, 0, 0]) for image in request.images] == [200]
    request, prompt = _asked(InputMode(Shown.TEXT, references=True))
    assert not request.images
    assert '"id": "c7"' in prompt
    request, prompt = _asked(InputMode(references=True))
    assert [int(image[0, 0, 0]) for image in request.images] == [11]  # 10, and written on


def test_ids_stay_out_of_what_is_asked_without_references() -> None:
    def prompts(references: bool) -> str:
        talker = Talker()
        mode = InputMode(references=references)
        policy = GraphPolicy(talker, PAPER, mode, privileged=Oracle())
        policy.begin("e", 0)
        policy.decide(seen())
        return "\n".join(talker.prompts)

    assert "The red car answers 24." in prompts(references=False)
    assert "c7" not in prompts(references=False)
    assert "The red car (c7, CAM_FRONT) answers 24." in prompts(references=True)


def test_a_history_shows_all_views_of_a_moment_before_the_next() -> None:
    talker = Talker()
    policy = GraphPolicy(talker, ACTION, InputMode(history=2, cameras=Cameras.SIX))
    policy.begin("e", 0)
    views = policy.views
    shades = {view: [picture(10 + i), picture(20 + i)] for i, view in enumerate(views)}
    policy.decide(seen(0, views).__class__(0, 0.0, shades, 1.0))
    shown = [int(image[0, 0, 0]) for image in talker.batches[0][0].images]
    assert shown == [10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25]


def test_whatever_talks_can_be_opened_to_drive(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "my_talker.py").write_text(
        "from tests.reasoning.talkers import Talker\nclass Mine(Talker):\n    name = 'mine'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    plugin = open_graph_driver("my_talker:Mine", graph=ACTION)
    assert isinstance(plugin, GraphPolicy)
    plugin.begin("e", 0)
    keys = plugin.decide(seen()).keys
    assert keys is not None
    assert keys.text() == KEYS
    build_tiny_vlm(tmp_path / "m", ["left"], hidden=32, layers=2, heads=2, vision_hidden=32)
    model = open_graph_driver(f"transformers:{tmp_path / 'm'}", graph=ACTION)
    assert isinstance(model, GraphPolicy)
    assert not isinstance(open_graph_driver("random", graph=ACTION), GraphPolicy)
    for spec in ("oracle", "nobody", "nobody:there"):
        with pytest.raises(BadInput):
            open_graph_driver(spec, graph=ACTION)


def test_a_model_is_asked_as_it_was_taught(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    build_tiny_vlm(folder, ["left"], hidden=32, layers=2, heads=2, vision_hidden=32)
    mode = {"shown": "camera", "references": False, "history": 1, "cameras": "front"}
    (folder / "driveproof.json").write_text(json.dumps({"mode": mode, "graph": "action"}))
    open_graph_driver(f"transformers:{folder}", graph=ACTION)
    with pytest.raises(BadInput, match="trained with action, not with cot"):
        open_graph_driver(f"transformers:{folder}", graph=COT)
