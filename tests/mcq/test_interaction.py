"""DEFT and JEFT: what each turn may know, what stays in the conversation, what a failure costs."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from driveproof.errors import BadInput
from driveproof.mcq import McqItem
from driveproof.mcq.answers import read_answers, write_answers
from driveproof.mcq.interaction import Answer, AskSettings, ask
from driveproof.policy import ChatReply, ChatRequest, Oracle, RandomChoice, open_policy
from driveproof.prompts import FULL, choice_line, decision_line
from driveproof.scene import Decision, Direction, ImageRef, SpeedChange
from driveproof.testing import make_scene

DECISION = Decision(Direction.STRAIGHT, SpeedChange.STOP)
TAINT = 7777.0


def make_item(key: str = "drive/1", oracle: int = 2) -> McqItem:
    """A braking drive; every candidate and the logged future carry numbers found nowhere else."""
    scene = make_scene(speed=8.0, acceleration=-4.0)
    pictures = {"front": tuple(ImageRef(f"{frame}.jpg") for frame in range(4))}
    observation = dataclasses.replace(scene.observe(), record_key=key, images=pictures)
    kinds = ["random"] * 6
    kinds[oracle] = "oracle"
    return McqItem(
        record_key=key,
        scene_key=key.split("/")[0],
        split="test",
        source="made",
        situation="TAINT",
        drive_class="TAINT",
        observation=observation,
        waypoints=np.full((10, 2), TAINT),
        options=TAINT + np.arange(120).reshape(6, 10, 2),
        option_codes=TAINT + np.arange(6),
        option_kinds=tuple(kinds),
        similarities=np.full(6, TAINT),
        oracle_index=oracle,
        variant="TAINT",
    )


@dataclasses.dataclass
class Scripted:
    """A policy that notes what it is asked and answers by a rule."""

    rule: Callable[[ChatRequest], ChatReply]
    name: str = "scripted"

    def __post_init__(self) -> None:
        self.asked: list[ChatRequest] = []

    def identity(self) -> dict[str, Any]:
        return {}

    def reply(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        self.asked += requests
        return [self.rule(request) for request in requests]


def is_turn_1(request: ChatRequest) -> bool:
    return all(message["role"] != "assistant" for message in request.messages)


def good(request: ChatRequest) -> ChatReply:
    text = f"because\n{decision_line(DECISION)}" if is_turn_1(request) else choice_line(2)
    return ChatReply(text, usage={"prompt_tokens": 10, "completion_tokens": 2})


@pytest.mark.parametrize("settings", [AskSettings(), AskSettings(style=FULL)])
def test_no_taint_reaches_turn_1(settings: AskSettings) -> None:
    policy = Scripted(good)
    ask(policy, [make_item()], "deft", settings)
    turns = [is_turn_1(request) for request in policy.asked]
    assert turns.count(True) == turns.count(False) == settings.repeats
    for request, first in zip(policy.asked, turns, strict=True):
        text = json.dumps(request.messages)
        assert ("77" in text) is not first
        assert "TAINT" not in text
        assert str(request.images).count("77") == 0


def test_turn_1_is_the_same_whatever_the_candidates_are() -> None:
    item, policy = make_item(), Scripted(good)
    other = dataclasses.replace(
        item, options=item.options[::-1] * 0.5, waypoints=item.waypoints * 0
    )
    ask(policy, [item, other], "deft", AskSettings(repeats=1))
    first = [request for request in policy.asked if is_turn_1(request)]
    assert first[0].messages == first[1].messages
    assert first[0].seed == first[1].seed


def test_turn_2_continues_the_conversation() -> None:
    policy = Scripted(good)
    answers = ask(policy, [make_item()], "deft", AskSettings(repeats=1))
    first, second = policy.asked
    assert list(second.messages[: len(first.messages)]) == list(first.messages)
    reply = second.messages[len(first.messages)]
    assert reply["role"] == "assistant"
    assert reply["content"][0]["text"] == answers[0].turn1
    assert second.images == first.images
    assert first.seed != second.seed
    assert answers[0].usage == {"prompt_tokens": 20, "completion_tokens": 4}


def test_a_good_answer_is_read(tmp_path: Path) -> None:
    (answer,) = ask(Scripted(good), [make_item()], "deft", AskSettings(repeats=1))
    assert (answer.decision, answer.choice, answer.reason, answer.error) == (DECISION, 2, "", "")
    assert answer.mode == "deft"


def test_jeft_has_one_turn_with_everything() -> None:
    def rule(request: ChatRequest) -> ChatReply:
        return ChatReply(f"{decision_line(DECISION)}\n{choice_line(1)}")

    policy = Scripted(rule)
    (answer,) = ask(policy, [make_item()], "jeft", AskSettings(repeats=1, max_tokens=30))
    assert len(policy.asked) == 1
    shown = json.dumps(policy.asked[0].messages)
    assert all(
        f"{TAINT + step:.0f}" in shown for step in (8, 18)
    )  # x of the first option at 2.5 and 5 s
    assert policy.asked[0].max_tokens == 60
    assert (answer.decision, answer.choice, answer.turn2) == (DECISION, 1, None)


def test_a_choice_named_in_turn_1_does_not_count() -> None:
    def rule(request: ChatRequest) -> ChatReply:
        return ChatReply(choice_line(2) if is_turn_1(request) else "I cannot say")

    (answer,) = ask(Scripted(rule), [make_item()], "deft", AskSettings(repeats=1))
    assert (answer.choice, answer.reason, answer.lost) == (None, "no_choice", False)


def test_a_failure_in_turn_1_ends_the_conversation() -> None:
    policy = Scripted(lambda request: ChatReply(None, "Timeout"))
    (answer,) = ask(policy, [make_item()], "deft", AskSettings(repeats=1))
    assert len(policy.asked) == 1
    assert (answer.turn1, answer.turn2, answer.choice) == (None, None, None)
    assert (answer.lost, answer.decision_lost, answer.error) == (True, True, "Timeout")


def test_a_failure_in_turn_2_keeps_the_decision() -> None:
    def rule(request: ChatRequest) -> ChatReply:
        return good(request) if is_turn_1(request) else ChatReply(None, "500")

    (answer,) = ask(Scripted(rule), [make_item()], "deft", AskSettings(repeats=1))
    assert (answer.decision, answer.lost, answer.decision_lost) == (DECISION, True, False)


def test_answers_come_by_question_and_repeat_whatever_the_chunk() -> None:
    items = [make_item("a/1"), make_item("b/1")]
    done: list[int] = []
    small = ask(Scripted(good), items, "deft", AskSettings(repeats=3, chunk=2), done.append)
    assert [(a.record_key, a.repeat) for a in small] == [
        (key, repeat) for key in ("a/1", "b/1") for repeat in range(3)
    ]
    assert small == ask(Scripted(good), items, "deft", AskSettings(repeats=3))
    assert done == [2, 2, 2]


def test_seeds_differ_by_repeat_and_question() -> None:
    policy = Scripted(good)
    ask(policy, [make_item("a/1"), make_item("b/1")], "deft", AskSettings(repeats=4))
    seeds = [request.seed for request in policy.asked]
    assert len(set(seeds)) == len(seeds) == 16


def test_choice_policies_answer_without_words() -> None:
    (answer,) = ask(Oracle(), [make_item()], "deft", AskSettings(repeats=1))
    assert (answer.mode, answer.choice, answer.turn1, answer.lost) == ("choice", 2, None, False)


def test_answers_survive_the_file_and_can_be_replayed(tmp_path: Path) -> None:
    items = [make_item("a/1"), make_item("b/1", oracle=5)]
    settings = AskSettings(repeats=3)
    runs = {
        "good deft": ask(Scripted(good), items, "deft", settings),
        "random": ask(RandomChoice(1), items, "deft", settings),
        "dead": ask(Scripted(lambda r: ChatReply(None, "x")), items, "deft", settings),
    }
    path = tmp_path / "answers.parquet"
    write_answers(runs, path)
    assert read_answers(path) == runs
    write_answers(runs, tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == path.read_bytes()
    for run in runs:
        replayed = ask(open_policy(f"recorded:{path}#{run}"), items, "deft", settings)
        kept = [(a.decision, a.choice, a.reason, a.error) for a in runs[run]]
        assert [(a.decision, a.choice, a.reason, a.error) for a in replayed] == kept
    more = ask(open_policy(f"recorded:{path}#random"), items, "deft", AskSettings(repeats=4))
    assert [a.error for a in more if a.repeat == 3] == ["not recorded"] * 2
    with pytest.raises(BadInput, match="holds 3 runs"):
        open_policy(f"recorded:{path}")
    with pytest.raises(BadInput, match="has no run"):
        open_policy(f"recorded:{path}#other")


@pytest.mark.parametrize("content", [b"", b"PAR1garbagePAR1", None])
def test_a_file_that_holds_no_answers_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "answers.parquet"
    if content is None:
        pq.write_table(pa.table({"run": ["a"], "record_key": ["b"]}), path)
    else:
        path.write_bytes(content)
    for read in (read_answers, lambda p: open_policy(f"recorded:{p}")):
        with pytest.raises(BadInput) as caught:
            read(path)
        assert "\n" not in str(caught.value)


def test_answer_is_lost_only_by_an_error() -> None:
    assert not Answer("k", 0, "deft", turn1="", reason="no_answer").lost
