"""A local model: seeds belong to requests, broken folders are refused, lost pictures cost one answer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from driveproof.errors import BadInput
from driveproof.policy import ChatPolicy, ChatRequest, open_policy
from driveproof.policy.local import TransformersPolicy
from driveproof.policy.sampling import SeededSampler
from driveproof.policy.tiny import build_tiny_vlm
from driveproof.scene import ImageRef


@pytest.fixture(scope="module")
def policy(tiny_model: Path) -> TransformersPolicy:
    return TransformersPolicy(tiny_model, batch_size=4, threads=1)


def test_an_answer_does_not_depend_on_its_neighbours(policy, request_for) -> None:
    asked = [request_for("drive " * n, pictures=n % 3, seed=n) for n in range(6)]
    together = [reply.text for reply in policy.reply(asked)]
    assert together == [policy.reply([request])[0].text for request in asked]
    backwards = [reply.text for reply in policy.reply(asked[::-1])]
    assert backwards[::-1] == together
    assert len(set(together)) > 1


def test_seed_temperature_and_picture_matter(policy, request_for) -> None:
    def text(**values: float) -> str | None:
        return policy.reply([request_for(**values)])[0].text

    assert text(seed=1) == text(seed=1)
    assert text(seed=1) != text(seed=2)
    assert text(temperature=0.0, seed=1) == text(temperature=0.0, seed=2)


def test_usage_and_limit(policy, request_for) -> None:
    reply = policy.reply([request_for(max_tokens=5)])[0]
    assert 1 <= reply.usage["completion_tokens"] <= 5
    assert reply.usage["prompt_tokens"] > 5


def test_a_missing_picture_loses_one_answer(policy, request_for) -> None:
    content = [{"type": "image"}, {"type": "text", "text": "?"}]
    broken = ChatRequest([{"role": "user", "content": content}], [ImageRef("nowhere.jpg")])
    replies = policy.reply([request_for(), broken, request_for()])
    assert [reply.text is None for reply in replies] == [False, True, False]
    assert "nowhere.jpg" in replies[1].error


def test_a_prompt_beyond_the_context_is_an_error(policy, request_for) -> None:
    reply = policy.reply([request_for(max_tokens=100_000)])[0]
    assert "exceed the context" in reply.error


def test_the_revision_follows_the_weights(policy, tiny_model: Path, tmp_path: Path) -> None:
    build_tiny_vlm(
        tmp_path / "other", ["drive"], hidden=32, layers=2, heads=2, vision_hidden=32, seed=4
    )
    mine, other = policy.identity(), TransformersPolicy(tmp_path / "other").identity()
    assert mine["revision"] != other["revision"]
    assert mine == TransformersPolicy(tiny_model).identity()


def test_gemma_answers_too(tmp_path: Path, request_for) -> None:
    build_tiny_vlm(
        tmp_path / "gemma",
        ["drive left"],
        hidden=32,
        layers=2,
        heads=2,
        vision_hidden=32,
        family="gemma3",
    )
    policy = open_policy(f"transformers:{tmp_path / 'gemma'}")
    assert isinstance(policy, ChatPolicy)
    replies = policy.reply([request_for(pictures=n) for n in (0, 1, 2)])
    assert [reply.error for reply in replies] == ["", "", ""]


@pytest.mark.parametrize("damage", ["truncate", "no_weights", "pickle", "config", "no_config"])
def test_a_broken_folder_is_refused_in_one_line(
    tiny_model: Path, tmp_path: Path, damage: str
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_model, folder)
    weights = folder / "model.safetensors"
    if damage == "truncate":
        weights.write_bytes(weights.read_bytes()[:5000])
    elif damage == "no_weights":
        weights.unlink()
    elif damage == "pickle":
        weights.unlink()
        torch.save({}, folder / "pytorch_model.bin")
    elif damage == "config":
        (folder / "config.json").write_text("{")
    else:
        (folder / "config.json").unlink()
    with pytest.raises(BadInput) as caught:
        open_policy(f"transformers:{folder}")
    assert "\n" not in str(caught.value)


def test_code_in_a_folder_is_not_run(tiny_model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_model, folder)
    marker = tmp_path / "ran"
    (folder / "evil.py").write_text(f"open({str(marker)!r}, 'w')\nclass Evil: pass\n")
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {"AutoModelForImageTextToText": "evil.Evil", "AutoConfig": "evil.Evil"}
    (folder / "config.json").write_text(json.dumps(config))
    TransformersPolicy(folder)
    assert not marker.exists()


def test_the_sampler_draws_from_the_softmax() -> None:
    logits = torch.log(torch.tensor([0.5, 0.3, 0.15, 0.05]))
    asked = [ChatRequest([], temperature=1.0, seed=n) for n in range(4000)]
    drawn = SeededSampler(asked)(torch.zeros(4000, 1), logits.repeat(4000, 1)).argmax(-1)
    share = np.bincount(drawn.numpy(), minlength=4) / 4000
    assert share == pytest.approx([0.5, 0.3, 0.15, 0.05], abs=0.025)


def test_temperature_sharpens_and_top_p_cuts() -> None:
    logits = torch.log(torch.tensor([0.5, 0.3, 0.15, 0.05])).repeat(3000, 1)
    ids = torch.zeros(3000, 1)
    cool = [ChatRequest([], temperature=0.5, seed=n) for n in range(3000)]
    share = np.bincount(SeededSampler(cool)(ids, logits).argmax(-1).numpy(), minlength=4) / 3000
    squared = np.array([0.25, 0.09, 0.0225, 0.0025])
    assert share == pytest.approx(squared / squared.sum(), abs=0.03)
    nucleus = [ChatRequest([], temperature=1.0, top_p=0.6, seed=n) for n in range(3000)]
    kept = SeededSampler(nucleus)(ids, logits).argmax(-1)
    assert set(kept.tolist()) == {0, 1}
    greedy = [ChatRequest([], temperature=0.0, seed=n) for n in range(3000)]
    assert set(SeededSampler(greedy)(ids, logits).argmax(-1).tolist()) == {0}
