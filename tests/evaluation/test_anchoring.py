"""The anchoring study: two prompts that differ in one block, and the effect of that block."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from driveproof.evaluation.anchoring import (
    ARMS,
    AnchoringSettings,
    arm_messages,
    ask_arms,
    future_block,
    report_anchoring,
    write_anchoring,
)
from driveproof.evaluation.cfs import OfflineJudge
from driveproof.evaluation.facts import SceneFacts, SignalFact
from driveproof.mcq.answers import read_answers
from driveproof.policy import ChatReply, ChatRequest
from driveproof.prompts import COMPACT, FULL, decision_line, scene_messages
from driveproof.scene import Command, Decision, Direction, SpeedChange

LIGHT = SignalFact("red", 20.0, True)


def facts_of(items) -> dict[str, SceneFacts]:
    known = frozenset({"agents", "signals"})
    return {
        i.record_key: SceneFacts(i.record_key, 8.0, 0.0, "follow", LIGHT, None, (LIGHT,), (), known)
        for i in items
    }


@pytest.mark.parametrize("style", [FULL, COMPACT])
@pytest.mark.parametrize("command", list(Command))
def test_the_prompts_are_the_same_bytes_but_for_one_block(make_item, style, command) -> None:
    item = make_item(speed=7.3, yaw_rate=0.1)
    item = replace(item, observation=replace(item.observation, command=command))
    causal, anchored = (arm_messages(item, style, anchored=a) for a in (False, True))
    assert causal == scene_messages(item.observation, style)
    assert causal[:-1] == anchored[:-1]
    assert causal[-1]["content"][:-1] == anchored[-1]["content"][:-1]
    one, other = (m[-1]["content"][-1]["text"] for m in (causal, anchored))
    block = future_block(item, style)
    place = other.index(block)
    assert other[:place] + other[place + len(block) :] == one
    # the block stands before the instructions, and holds the ten raw waypoints
    assert block.count(",") >= 10
    assert place < len(one) - 3


class Teacher:
    """Sees the light, unless it is told the future: then it makes one up that fits."""

    name = "teacher"

    def __init__(self, failing: int = -1) -> None:
        self.seen: list[ChatRequest] = []
        self._failing = failing

    def identity(self):
        return {"kind": "teacher"}

    def reply(self, requests):
        replies = []
        for request in requests:
            self.seen.append(request)
            told = "LOGGED FUTURE" in str(request.messages)
            colour, speed = ("green", SpeedChange.KEEP) if told else ("red", SpeedChange.STOP)
            line = decision_line(Decision(Direction.STRAIGHT, speed))
            text = f"The light 20 m ahead is {colour}, so {'go on' if told else 'stop'}.\n{line}"
            lost = len(self.seen) - 1 == self._failing
            replies.append(ChatReply(None, "dead") if lost else ChatReply(text))
        return replies


def test_the_effect_is_paired_and_has_an_interval(make_item, tmp_path: Path) -> None:
    items = [make_item(n, scene=f"d{n}", speed=8.0) for n in range(4)]
    settings = AnchoringSettings(FULL, repeats=2, seed=1)
    teacher = Teacher()
    answers = ask_arms(teacher, items, settings)
    assert {arm: len(a) for arm, a in answers.items()} == {"causal": 8, "anchored": 8}
    # arms of a repeat share their seed, repeats do not
    seeds = [request.seed for request in teacher.seen]
    assert seeds[0::2] == seeds[1::2]
    assert len(set(seeds)) == 8
    report = report_anchoring(items, answers, OfflineJudge(), facts=facts_of(items), seed=0)
    assert report.repeats == 2
    assert report.severe.causal.mean == 0.0
    assert report.severe.anchored.mean == 1.0
    assert report.severe.difference.mean == 1.0
    assert report.cfs.difference.mean == pytest.approx(-0.5)
    assert report.axes["coherence"].difference.mean == 0.0
    # the scenes keep their speed, and only who was told does so
    assert (report.hld.causal.mean, report.hld.anchored.mean) == (0.0, 1.0)
    assert set(report.by_class) == {"hard_brake"}
    write_anchoring(report, answers, {"seed": 0}, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["items"] == 4
    assert tuple(read_answers(tmp_path / "out" / "answers.parquet")) == ARMS


def test_what_is_lost_in_one_arm_is_lost_to_the_difference(make_item) -> None:
    items = [make_item(n, scene=f"d{n}", speed=8.0) for n in range(3)]
    answers = ask_arms(Teacher(failing=0), items, AnchoringSettings(FULL))
    report = report_anchoring(items, answers, OfflineJudge(), facts=facts_of(items))
    assert report.cfs.causal.n == 2
    assert report.cfs.anchored.n == 3
    assert (report.cfs.difference.n, report.cfs.difference.lost) == (2, 1)
    assert report.arms["causal"].reasons == {"dead": 1}
