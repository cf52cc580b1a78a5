"""The real ``transformers serve`` with the tiny VLM as policy and as grader, killed in the middle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from grading_world import facts, served

from driveproof.config.rewards import RewardParams
from driveproof.evaluation.cfs import CfsCase, open_judge
from driveproof.mcq.interaction import AskSettings, ask
from driveproof.policy import PolicySettings, open_policy
from driveproof.policy.tiny import build_tiny_vlm
from driveproof.prompts import COMPACT, render_joint_turn
from driveproof.rewards import Rollout, make_reward, offline_rubric


def rollouts_of(policy, items, settings) -> list[Rollout]:
    """Two-turn rollouts; an untrained model does not choose, so the environment says which are correct."""
    return [
        Rollout(a.record_key, "", a.turn1 or "", a.turn2, 2, not a.error, 6)
        for a in ask(policy, items, "deft", settings)
    ]


@pytest.mark.slow
def test_policy_and_grader_on_one_server_that_is_killed(tmp_path: Path, make_item) -> None:
    items = [make_item(n, scene=f"d{n}", oracle=2) for n in range(2)]
    items = [replace(i, observation=replace(i.observation, images={})) for i in items]
    text = render_joint_turn(items[0].observation, items[0].options, COMPACT)
    model = tmp_path / "tiny"
    build_tiny_vlm(model, [text], hidden=32, layers=2, heads=2, vision_hidden=32)
    rubrics = {i.record_key: offline_rubric(facts(i.record_key)) for i in items}
    settings = AskSettings(style=COMPACT, repeats=2, max_tokens=8, temperature=1.0)
    with served(model, tmp_path / "log") as (url, process):
        spec = f"openai:{url}#{model}"
        opening = PolicySettings(attempts=1, timeout_s=60.0)
        params = RewardParams(grader=spec, attempts=1, timeout_s=60.0, concurrency=2, max_tokens=12)
        pay = make_reward("rubric", params, rubrics=rubrics)
        policy = open_policy(spec, opening)
        judge = open_judge(spec, opening)
        before = rollouts_of(policy, items, settings)
        assert all(r.exact for r in before), "the server answers as a policy"
        # an untrained model says nothing that is left after normalisation, so a sentence stands before it
        before = [replace(r, turn1=f"The light is red.\n{r.turn1}") for r in before]
        scored = pay.start(before).result()
        # the tiny model knows no JSON: it was asked and could not be read, so the exact reward remains
        assert [(s.reward, s.fallback) for s in scored] == [(1.0, True)] * 4
        assert {s.detail["problem"] for s in scored} == {"the reply is no JSON object"}
        process.kill()
        process.wait()
        after = pay.start([*before, replace(before[0], choice=None, correct=False)]).result()
        lost = judge.judge([CfsCase(before[0].turn1 or "x", items[0].observation)])
        lonely = rollouts_of(policy, items, settings)
    assert [(s.reward, s.fallback) for s in after] == [(1.0, True)] * 4 + [(0.0, False)]
    assert all("onnection" in s.detail["problem"] for s in after[:4])
    assert "onnection" in str(lost[0])
    assert (pay.counts.asked, pay.counts.failed, pay.counts.unpaid) == (8, 8, 1)  # type: ignore[attr-defined]
    assert all(r.exact == 0.0 for r in lonely)
