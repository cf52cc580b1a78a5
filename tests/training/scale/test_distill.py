"""Distillation: what counts as a target, what each student sees, and that all have the same budget."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # where toy_world lies

import toy_world

from driveproof.config.distill import TARGETS, DistillParams
from driveproof.errors import BadInput
from driveproof.mcq.interaction import Answer
from driveproof.mcq.items import McqItem
from driveproof.prompts import joint_messages
from driveproof.scene import Decision, Direction, SpeedChange
from driveproof.training.distill import (
    Distilled,
    ask_teacher,
    read_targets,
    refusal,
    style_of,
    usable,
    write_targets,
)

PARAMS = DistillParams.model_validate(
    {
        "tiny": {"hidden": 32, "layers": 2, "heads": 2, "vision_hidden": 16, "vision_layers": 1},
        "steps": 4, "batch_size": 4, "precision": "fp32", "threads": 1,
    }
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("distill")


@pytest.fixture(scope="module")
def questions(folder: Path) -> tuple[list[McqItem], dict[str, Any]]:
    made = toy_world.scenes(folder)
    items = toy_world.items(made, toy_world.codebook())
    return items, {scene.record_key: scene for scene in made}


@pytest.fixture(scope="module")
def answers(questions: tuple[list[McqItem], dict[str, Any]]) -> dict[str, list[Answer]]:
    return ask_teacher(*questions, PARAMS, 0)


def lessons(
    questions: tuple[list[McqItem], dict[str, Any]], answers: dict[str, list[Answer]], target: str
) -> Distilled:
    return Distilled(usable(answers, questions[0], PARAMS), target, PARAMS, 3)


def said(example: Any) -> list[str]:
    return [m["content"][0]["text"] for m in example.messages if m["role"] == "assistant"]


def test_the_expert_is_always_right(questions: Any, answers: dict[str, list[Answer]]) -> None:
    assert len(usable(answers, questions[0], PARAMS)) == len(questions[0])


def test_targets_differ_in_form_and_not_in_scenes(
    questions: Any, answers: dict[str, list[Answer]]
) -> None:
    students = {target: lessons(questions, answers, target) for target in TARGETS}
    plans = 0
    for index in range(len(questions[0])):
        shown = {target: student.lesson(index, 0) for target, student in students.items()}
        assert len({str(example.images) for example in shown.values()}) == 1
        assert len(said(shown["jeft"])) == len(said(shown["plan"])) == 1
        turn1, turn2 = said(shown["full"])
        assert said(shown["plan"]) == [turn1]
        assert "FINAL_CHOICE" in turn2
        assert "FINAL_CHOICE" not in turn1
        # candidates are in JEFT's first question and not in DEFT's
        first = {t: e.messages[-2 if t == "jeft" else 0] for t, e in shown.items()}
        assert str(first["jeft"]) != str(first["full"]) == str(first["plan"])
        plans += shown["mixed"] == shown["plan"]
        assert shown["mixed"] in (shown["plan"], shown["full"])
    assert plans == len(questions[0]) // 2


def test_every_scene_comes_once_an_epoch(questions: Any, answers: dict[str, list[Answer]]) -> None:
    student, count = lessons(questions, answers, "full"), len(questions[0])
    for epoch in range(2):
        shown = [str(student.lesson(epoch * count + k, 0).images) for k in range(count)]
        assert len(set(shown)) == count


def test_budgets_are_equal(questions: Any, answers: dict[str, list[Answer]]) -> None:
    """The same scenes for all; JEFT's one answer has the words of DEFT's two."""
    budgets = {target: lessons(questions, answers, target).budget() for target in TARGETS}
    assert len({budget["scenes"] for budget in budgets.values()}) == 1
    assert budgets["jeft"]["words"] == budgets["full"]["words"] > budgets["plan"]["words"]
    mean = (budgets["plan"]["words"] + budgets["full"]["words"]) / 2
    assert budgets["mixed"]["words"] == pytest.approx(mean, rel=0.1)


WRONG = Decision(Direction.LEFT, SpeedChange.ACCELERATE)


@pytest.mark.parametrize(
    ("change", "loosened", "reason"),
    [
        ({"error": "timed out", "turn1": None, "choice": None}, {}, "no answer"),
        ({"decision": None}, {}, "no decision"),
        ({"choice": None, "reason": "malformed"}, {}, "choice: malformed"),
        ({"decision": WRONG}, {"decision_right": False}, "wrong decision"),
        ({"choice": 99}, {"choice_right": False}, "wrong choice"),
    ],
)
def test_what_does_not_count_says_why(
    questions: Any,
    answers: dict[str, list[Answer]],
    change: dict[str, Any],
    loosened: dict[str, Any],
    reason: str,
) -> None:
    item, answer = questions[0][0], answers["deft"][0]
    assert refusal(answer, item, PARAMS) == ""
    bad = replace(answer, **change)
    assert refusal(bad, item, PARAMS) == reason
    if loosened:
        assert refusal(bad, item, PARAMS.model_copy(update=loosened)) == ""


def test_a_scene_needs_a_right_answer_in_both_modes(
    questions: Any, answers: dict[str, list[Answer]]
) -> None:
    worse = {**answers, "jeft": [replace(a, decision=None) for a in answers["jeft"][:3]]}
    worse["jeft"] += answers["jeft"][3:]
    kept = usable(worse, questions[0], PARAMS)
    assert [t.item.record_key for t in kept] == [i.record_key for i in questions[0][3:]]
    # of several answers the first that counts
    again = {**worse, "jeft": [*worse["jeft"], *answers["jeft"]]}
    assert len(usable(again, questions[0], PARAMS)) == len(questions[0])


def test_targets_are_read_as_they_were_written(
    questions: Any, answers: dict[str, list[Answer]], tmp_path: Path
) -> None:
    items = questions[0]
    lineage = write_targets(answers, items, PARAMS, 0, tmp_path / "t")
    assert lineage["usable"] == lineage["questions"] == len(items)
    assert json.loads((tmp_path / "t" / "lineage.json").read_text()) == lineage
    assert read_targets(tmp_path / "t", items, PARAMS) == answers
    with pytest.raises(BadInput, match="other prompts"):
        read_targets(tmp_path / "t", items, PARAMS.model_copy(update={"style": "full"}))
    with pytest.raises(BadInput, match="other questions"):
        read_targets(tmp_path / "t", items[1:], PARAMS)


def test_a_teacher_is_asked_in_both_modes_with_the_same_budget(
    questions: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A teacher that answers like the expert; DEFT's two turns may be as long as JEFT's one."""
    from driveproof.policy import ChatReply, ChatRequest
    from driveproof.training import distill

    expert = ask_teacher(*questions, PARAMS, 0)
    limits: dict[bool, set[int]] = {True: set(), False: set()}

    class Served:
        name = "served"

        def identity(self) -> dict[str, Any]:
            return {}

        def reply(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
            return [self.one(request) for request in requests]

        def one(self, request: ChatRequest) -> ChatReply:
            number = [str(i.observation.images["front"][-1]) for i in questions[0]].index(
                str(request.images[0])
            )
            second = any(m["role"] == "assistant" for m in request.messages)
            item = questions[0][number]
            shown = joint_messages(item.observation, item.options, style_of(PARAMS))
            joint = request.messages == shown
            limits[joint].add(request.max_tokens)
            of = expert["jeft" if joint else "deft"][number]
            return ChatReply(of.turn2 if second else of.turn1)

    monkeypatch.setattr(distill, "open_policy", lambda who, settings: Served())
    served = PARAMS.model_copy(
        update={
            "teacher": PARAMS.teacher.model_copy(update={"who": "openai:x#y", "max_tokens": 50})
        }
    )
    told = ask_teacher(*questions, served, 0)
    assert limits == {True: {100}, False: {50}}
    assert len(usable(told, questions[0], served)) == len(questions[0])


@pytest.mark.slow
@pytest.mark.parametrize("target", ["jeft", "mixed"])
def test_a_student_is_trained_with_its_vision_frozen(
    questions: Any, answers: dict[str, list[Answer]], folder: Path, tmp_path: Path, target: str
) -> None:
    from driveproof.files import read_json
    from driveproof.training.sft import train

    settings = PARAMS.model_copy(update={"freeze_vision": True})
    student = Distilled(usable(answers, questions[0], settings), target, settings, 0)
    report = train(student, settings, 0, tmp_path / "m", root=folder)
    assert report["curve"] == [] or report["curve"][-1]["loss"] > 0
    assert read_json(tmp_path / "m" / "driveproof.json")["target"] == target
