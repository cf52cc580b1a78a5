"""What a model is taught of the expert's answers, and that it is asked in training as in a drive."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driveproof.commenter.moments import Moment, clips_of_split
from driveproof.config.sft import TinyParams
from driveproof.config.vqa import VqaSftParams
from driveproof.errors import BadInput
from driveproof.evaluation.vqa.asking import ask_moments
from driveproof.files import read_json, write_json
from driveproof.policy.chat import ChatReply, ChatRequest
from driveproof.policy.driving import DriveObservation
from driveproof.policy.manner import check_manner
from driveproof.policy.registry import PolicySettings, open_policy
from driveproof.policy.vocabulary import build_tokenizer
from driveproof.prompts.asking import wording_hash
from driveproof.prompts.inputs import Cameras, InputMode, Shown, mode_from_json, mode_to_json
from driveproof.questions import QUESTIONS, SpeedKey, parse_keys
from driveproof.reasoning import GraphPolicy, open_graph
from driveproof.training.sft import train
from driveproof.training.vqa import VqaLessons, other_speeds
from tests.training.vqa_world import moment, moments

TEXT = InputMode(Shown.TEXT)
TINY = TinyParams(hidden=32, layers=1, heads=2, vision_hidden=16, vision_layers=1)


def params(**changes: object) -> VqaSftParams:
    settings = {
        "tiny": TINY, "modes": {"text": 60, "camera": 60}, "batch_size": 8, "precision": "fp32", "questions": (50, 8),
        "learning_rate": 0.01, "matrix_learning_rate": 0.04, **changes,
    }  # fmt: skip
    return VqaSftParams.model_validate(settings)


def lessons(mode: InputMode = TEXT, **changes: object) -> VqaLessons:
    return VqaLessons(moments(), mode, params(**changes), 0)


def said(example: Any) -> str:
    return str(example.messages[-1]["content"][0]["text"])


def asked(example: Any) -> str:
    return str(example.messages[0]["content"][-1]["text"])


def test_lessons_repeat_and_say_what_the_expert_says() -> None:
    first, again = lessons(), lessons()
    for index in range(40):
        example = first.lesson(index, 0)
        assert example == again.lesson(index, 7), "a lesson depends on seed and number alone"
        if "FOLLOW_LANE" in asked(example):
            fast = "drives 12." in asked(example)
            stands = "drives 0.0" in asked(example)
            right = (
                SpeedKey.STOP if stands else SpeedKey.DECELERATE if fast else SpeedKey.ACCELERATE
            )
            assert parse_keys(said(example)).speed is right
            assert ("turn left at the junction" in asked(example)) == stands


def test_kinds_of_answers_are_evened_out_as_the_parameters_say() -> None:
    """Of those that move 39 decelerate and 9 accelerate; four stand, three of them stop."""
    cases = [*moments(), moment(50, 0.0, SpeedKey.ACCELERATE)]
    cases += [moment(60 + n, 12.0, SpeedKey.DECELERATE) for n in range(27)]

    def shares(**changes: float) -> Counter[tuple[bool, SpeedKey | None]]:
        some = VqaLessons(cases, TEXT, params(focus_share=1.0, **changes), 0)
        examples = [some.lesson(index, 0) for index in range(1000)]
        return Counter(("drives 0.0" in asked(e), parse_keys(said(e)).speed) for e in examples)

    natural = shares(balance=1.0, standing_balance=1.0)
    even = shares(balance=0.0, standing_balance=0.0)
    stands = sum(natural[True, key] for key in SpeedKey)
    assert stands == pytest.approx(1000 * 4 / 52, abs=30)
    assert sum(even[True, key] for key in SpeedKey) == pytest.approx(stands, abs=40)
    assert natural[True, SpeedKey.STOP] == pytest.approx(0.75 * stands, abs=20)
    assert even[True, SpeedKey.STOP] == pytest.approx(0.5 * stands, abs=25)
    assert natural[False, SpeedKey.DECELERATE] > 3 * natural[False, SpeedKey.ACCELERATE]
    ratio = even[False, SpeedKey.DECELERATE] / even[False, SpeedKey.ACCELERATE]
    assert ratio == pytest.approx(1.0, abs=0.25)


def test_lessons_at_other_speeds_are_as_many_as_asked_for() -> None:
    other = [replace(moment(90, 7.7, SpeedKey.KEEP), rows=moment(90, 7.7, SpeedKey.KEEP).rows[:1])]
    for share, low, high in ((0.0, 0, 0), (0.5, 120, 180), (1.0, 300, 300)):
        some = params(focus_share=1.0, other_speed_share=share)
        taught = VqaLessons(moments(), TEXT, some, 0, other)
        assert low <= sum("7.7 m/s" in asked(taught.lesson(i, 0)) for i in range(300)) <= high
    some = params(questions=(8,), other_speed_share=1.0)
    taught = VqaLessons(moments(), TEXT, some, 0, other)
    assert not any("7.7" in asked(taught.lesson(i, 0)) for i in range(30)), "8 is not imagined"


def test_speeds_to_imagine_are_drawn_for_each_moment() -> None:
    speeds = [other_speeds(3)("clip", frame) for frame in range(400)]
    assert speeds == [other_speeds(3)("clip", frame) for frame in range(400)]
    assert 120 < speeds.count(0.0) < 200
    assert max(speeds) > 13.0


def test_only_the_questions_of_the_parameters_are_taught() -> None:
    taught = lessons(questions=(8, 43))
    assert taught.taught == (8,), "43 has no answer in these moments"
    assert taught.identity()["questions"] == [8]
    assert all("The ego vehicle" in said(taught.lesson(i, 0)) for i in range(20))
    with pytest.raises(BadInput, match="no moment"):
        lessons(questions=(1,))


def test_a_mode_that_is_not_recorded_is_refused() -> None:
    for mode in (InputMode(Shown.BEV), InputMode(cameras=Cameras.SIX), InputMode(references=True)):
        with pytest.raises(BadInput, match="recorded"):
            lessons(mode)


def test_text_lessons_show_no_picture_and_camera_lessons_no_actor() -> None:
    text, camera = lessons(), lessons(InputMode())
    assert text.images() == []
    assert len(camera.images()) == len(moments())
    for index in range(20):
        assert "red car" in asked(text.lesson(index, 0))
        assert text.lesson(index, 0).images == []
        example = camera.lesson(index, 0)
        assert "red car" not in json.dumps(example.messages)
        assert len(example.images) == 1


def test_texts_are_few_tokens_and_come_back() -> None:
    one = lessons()
    tokenizer = build_tokenizer(one.corpus(), phrases=one.phrases)
    for index in range(20):
        example = one.lesson(index, 0)
        for text in (asked(example), said(example)):
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            assert tokenizer.decode(ids) == text
            assert len(ids) <= (40 if text == asked(example) else 4)


class Listener:
    """A chat policy that keeps what it is asked."""

    name = "listener"

    def __init__(self) -> None:
        self.heard: list[ChatRequest] = []

    def identity(self) -> dict[str, Any]:
        return {"kind": "listener"}

    def reply(self, requests: list[ChatRequest]) -> list[ChatReply]:
        self.heard += requests
        return [ChatReply("FOLLOW_LANE, KEEP") for _ in requests]


class Told:
    """The driving side, that knows the actors."""

    name = "told"

    def __init__(self, moment: Moment) -> None:
        self._moment = moment

    def marks(self) -> Any:
        return self._moment.marks


@pytest.mark.parametrize("mode", [TEXT, InputMode()])
@pytest.mark.parametrize("wording", range(6))
def test_a_drive_asks_byte_for_byte_as_the_lessons_do(mode: InputMode, wording: int) -> None:
    """The recorded moment and the same moment in a drive by the graph ``action`` give one request."""
    recorded = moment(3, 4.96, SpeedKey.KEEP, "right")
    listener = Listener()
    driver = GraphPolicy(
        listener,
        open_graph(lessons().identity()["graph"]),
        mode,
        privileged=Told(recorded),  # type: ignore[arg-type]
        wording_seed=wording,
    )
    driver.begin("episode", 0)
    picture = np.zeros((128, 224, 3), np.uint8)
    seen = DriveObservation(5, 0.5, {"CAM_FRONT": [picture]}, recorded.speed, "right", 12.0)
    assert driver.decide(seen).keys is not None
    (request,) = listener.heard
    (row,) = [row for row in recorded.rows if row.key.number == 50]
    taught = [
        recorded.request(mode, replace(row, question=text))[0] for text in QUESTIONS[50].phrasings
    ]
    assert list(request.messages) in taught


def test_clips_of_a_split(tmp_path: Path) -> None:
    path = tmp_path / "splits.json"
    write_json(path, {"bench2drive/B": "train", "bench2drive/A": "train", "bench2drive/C": "test"})
    assert clips_of_split(path, "train") == ["A", "B"]
    with pytest.raises(BadInput, match="no clip of the split dev"):
        clips_of_split(path, "dev")


@pytest.mark.slow
def test_a_small_model_learns_and_says_how_it_is_asked(tmp_path: Path) -> None:
    """Slow: accelerate, fast: decelerate; asked in another manner it is refused."""
    folder = tmp_path / "text"
    report = train(lessons(modes={"text": 150}, focus_share=0.7), params(), 0, folder)
    assert report["curve"][-1]["loss"] < 0.3 * report["curve"][0]["loss"]
    manner = read_json(folder / "driveproof.json")
    assert mode_from_json(manner["mode"]) == TEXT
    policy: Any = open_policy(f"transformers:{folder}", PolicySettings(threads=1))
    answers = ask_moments(policy, TEXT, moments(), numbers={50}, max_tokens=8)
    true = [row.answer.facts["keys"] for m in moments() for row in m.rows if row.key.number == 50]
    right = [parse_keys(a.text or "") == keys for a, keys in zip(answers, true, strict=True)]
    assert sum(right) >= 18, "of 24; who always decelerates is right 12 times"
    spec = f"transformers:{folder}"
    asking = {"mode": mode_to_json(TEXT), "graph": "action", "wording": wording_hash(TEXT)}
    check_manner(spec, asking)
    for name, value in (
        ("mode", mode_to_json(InputMode())), ("graph", "cot"), ("wording", "0" * 16),
    ):  # fmt: skip
        with pytest.raises(BadInput, match="was trained with") as refused:
            check_manner(spec, {**asking, name: value})
        assert refused.value.field == name
