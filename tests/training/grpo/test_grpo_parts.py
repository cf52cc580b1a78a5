"""The parts: what is relied on of TRL, optimiser states on disk, shared pictures, intervals over seeds."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toy_world
from grpo_arena import STYLE, Arena

from driveproof.config.evaluate import EvaluateParams
from driveproof.config.grpo import GrpoParams
from driveproof.errors import BadInput
from driveproof.evaluation.statistics import cluster_interval
from driveproof.files import write_json
from driveproof.mcq.interaction import Answer
from driveproof.prompts import choice_line
from driveproof.training.grpo.measure import compare, measure, over_seeds
from driveproof.training.grpo.private import CALLED, REPLACED, TRL_VERSION, differences
from driveproof.training.grpo.variant import Plan, scoring_share


def test_trl_is_the_one_whose_private_methods_are_relied_on() -> None:
    """Fails when TRL or transformers change: read the methods again before changing the expectation."""
    from trl.trainer.grpo_trainer import GRPOTrainer

    assert version("trl").startswith(f"{TRL_VERSION}.")
    assert differences(GRPOTrainer) == []


def test_a_changed_trl_is_noticed() -> None:
    class Changed:
        def _tokenize_prompts(self, prompts: Any, images: Any) -> None: ...

    found = differences(Changed)
    assert len(found) == len(CALLED) + len(REPLACED)
    assert any(text.startswith("_tokenize_prompts('self', 'prompts', 'images')") for text in found)
    assert "_generate_single_turn is gone" in found


@pytest.mark.parametrize("kind", ["adamw", "muon"])
def test_optimiser_states_come_back_without_pickle(tmp_path: Path, kind: str) -> None:
    import torch

    from driveproof.config.sft import TuningParams
    from driveproof.training.checkpoints import load_state, save_state
    from driveproof.training.optimizer import make_optimizer

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.LayerNorm(8))
    optimizer = make_optimizer(net, TuningParams(optimizer=kind))
    net(torch.ones(2, 4)).square().sum().backward()
    optimizer.step()
    state = optimizer.state_dict()
    save_state(tmp_path / "state.safetensors", state)
    loaded = load_state(tmp_path / "state.safetensors")

    def same(a: Any, b: Any) -> bool:
        if isinstance(a, torch.Tensor):
            return torch.equal(a, b)
        if isinstance(a, dict):
            return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
        if isinstance(a, (list, tuple)):
            return len(a) == len(b) and all(map(same, a, b))
        return bool(a == b)

    assert same(state, loaded)
    optimizer.load_state_dict(loaded)
    whole = (tmp_path / "state.safetensors").read_bytes()
    (tmp_path / "half.safetensors").write_bytes(whole[: len(whole) // 2])
    for name in ("half", "none"):
        with pytest.raises(BadInput, match="no optimiser state"):
            load_state(tmp_path / f"{name}.safetensors")


def test_a_checkpoint_counts_when_it_is_whole(tmp_path: Path) -> None:
    from driveproof.training.checkpoints import MARK, belongs, newest

    assert newest(tmp_path) is None
    for step in (2, 10, 12):
        (tmp_path / f"checkpoint-{step}").mkdir()
    for step in (2, 10):
        write_json(tmp_path / f"checkpoint-{step}" / MARK, {})
    assert newest(tmp_path) == tmp_path / "checkpoint-10"
    assert belongs(tmp_path / "run", "one")
    assert belongs(tmp_path / "run", "one")
    assert not belongs(tmp_path / "run", "two")


def test_shared_pictures_change_neither_features_nor_gradients(arena: Arena) -> None:
    import torch
    from PIL import Image

    from driveproof.policy.tiny import load_processor
    from driveproof.training.grpo.sharing import share_pictures
    from driveproof.training.sft import load_model

    names = ["front-0.png", "front-1.png", "front-0.png", "front-2.png", "front-1.png"]
    pictures = [Image.open(arena.folder / name) for name in names]
    inputs = load_processor(arena.start).image_processor(images=pictures, return_tensors="pt")
    weights = torch.rand(5, generator=torch.Generator().manual_seed(0))
    found = []
    for shared in (False, True):
        model = load_model(arena.start)
        seen: list[int] = []
        model.model.visual.register_forward_pre_hook(
            lambda _, args, kwargs, seen=seen: seen.append(len(kwargs["grid_thw"])),
            with_kwargs=True,
        )
        if shared:
            share_pictures(model)
        features = model.model.get_image_features(inputs["pixel_values"], inputs["image_grid_thw"])
        parts = torch.split(
            features.deepstack_features[0], [len(p) for p in features.pooler_output]
        )
        total = sum(
            w * (a.square().sum() + b.sum())
            for w, a, b in zip(weights, features.pooler_output, parts, strict=True)
        )
        total.backward()
        gradient = model.model.visual.patch_embed.proj.weight.grad
        found.append((torch.cat(features.pooler_output).detach(), gradient, seen))
    assert found[0][2] == [5]
    assert found[1][2] == [3]
    assert torch.allclose(found[0][0], found[1][0], atol=1e-6)
    assert torch.allclose(found[0][1], found[1][1], rtol=1e-4, atol=1e-6)


def _encoded(core: Any) -> list[int]:
    """Grows by the number of pictures of each call of the vision encoder."""
    seen: list[int] = []
    core.visual.register_forward_pre_hook(
        lambda _, args, kwargs: seen.append(len(kwargs["grid_thw"])), with_kwargs=True
    )
    return seen


@pytest.mark.parametrize("family", ["qwen3_vl", "qwen2_5_vl", "gemma3"])
def test_pictures_are_shared_by_every_family_that_can(family: str, tmp_path: Path) -> None:
    """With adapters and without; Gemma 3, whose encoder is another, is left alone."""
    import torch
    from PIL import Image

    from driveproof.config.grpo import LoraParams
    from driveproof.policy.tiny import build_tiny_vlm, load_processor
    from driveproof.training.grpo.settings import lora_config
    from driveproof.training.grpo.sharing import share_pictures
    from driveproof.training.sft import load_model

    folder = tmp_path / family
    words = ["Look at the pictures."]
    build_tiny_vlm(folder, words, hidden=32, layers=2, heads=2, vision_hidden=32, family=family)
    noise = np.random.default_rng(0).integers(0, 255, (2, 64, 96, 3)).astype(np.uint8)
    images = [[Image.fromarray(noise[k])] for k in (0, 1, 0, 0)]
    processor: Any = load_processor(folder)
    token = getattr(processor, "boi_token", None) or processor.image_token
    inputs = processor(text=[token] * 4, images=images, padding=True, return_tensors="pt")
    found = []
    for rank in (0, 2):
        model: Any = load_model(folder).eval()
        core = model.model
        if rank:
            from peft import get_peft_model

            model = get_peft_model(model, lora_config(LoraParams(rank=rank)))
        with torch.no_grad():
            plain = model(**inputs).logits
            seen = _encoded(core) if hasattr(core, "visual") else [2]
            share_pictures(model)
            found.append((model(**inputs).logits, plain, seen))
    for shared, plain, seen in found:
        assert seen == [2]
        assert torch.allclose(shared, plain, atol=1e-5)


def test_pictures_of_qwen3_5_are_shared() -> None:
    """Its encoder's output has no levels to inject, and no field of that name."""
    import torch
    from transformers import AutoModelForImageTextToText, Qwen3_5Config

    from driveproof.training.grpo.sharing import share_pictures

    text = {
        "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "vocab_size": 64,
        "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16,
        "layer_types": ["full_attention"],
    }  # fmt: skip
    vision = {
        "depth": 1, "hidden_size": 32, "intermediate_size": 32, "num_heads": 2, "patch_size": 8,
        "out_hidden_size": 32, "num_position_embeddings": 16,
    }  # fmt: skip
    config = Qwen3_5Config(text_config=text, vision_config=vision)
    model: Any = AutoModelForImageTextToText.from_config(config)
    pixels = torch.rand(2, 16, 3 * 2 * 8 * 8)[[0, 1, 0]].flatten(0, 1)
    grids = torch.tensor([[1, 4, 4]] * 3)
    plain = torch.cat(model.model.get_image_features(pixels, grids).pooler_output)
    seen = _encoded(model.model)
    share_pictures(model)
    shared = torch.cat(model.model.get_image_features(pixels, grids).pooler_output)
    assert seen == [2]
    assert torch.allclose(plain, shared, atol=1e-6)


def test_intervals_over_seeds_and_drives() -> None:
    rng = np.random.default_rng(0)
    drives = [f"d{n // 5}" for n in range(100)]
    values = rng.random((1, 100))
    one = over_seeds(values, drives, 1)
    _, code = np.unique(drives, return_inverse=True)
    low, high = cluster_interval(np.bincount(code, values[0]), np.bincount(code), 2)
    assert one.mean == pytest.approx(values.mean())
    assert (one.low, one.high) == pytest.approx((low, high), abs=0.01)
    # equal seeds add nothing; seeds that differ widen the interval, however many questions there are
    assert over_seeds(np.repeat(values, 3, 0), drives, 1).low == pytest.approx(one.low, abs=0.01)
    constant = np.repeat([[0.0], [0.5], [1.0]], 100, 1)
    apart = over_seeds(constant, drives, 1)
    assert (apart.mean, apart.low, apart.high) == (0.5, 0.0, 1.0)
    lost = values.copy()
    lost[0, :10] = np.nan
    counted = over_seeds(lost, drives, 1)
    assert (counted.n, counted.lost) == (90, 10)
    assert counted.mean == pytest.approx(values[0, 10:].mean())
    assert over_seeds(lost * np.nan, drives, 1).mean is None
    single = over_seeds(values, ["d"] * 100, 1)
    assert (single.mean, single.low, single.high) == (one.mean, None, None)


def test_a_gain_is_paired_question_by_question(arena: Arena) -> None:
    def answers(right: int) -> list[Answer]:
        """The first ``right`` questions answered rightly, in both of two repeats."""
        return [
            Answer(
                item.record_key, repeat, "deft", "signal none ahead clear",
                choice_line((item.oracle_index + (number >= right)) % 6), None,
                (item.oracle_index + (number >= right)) % 6,
            )
            for number, item in enumerate(arena.items) for repeat in range(2)
        ]  # fmt: skip

    start, *runs = (measure(arena.items, answers(n), {}) for n in (2, 6, 8))
    found = compare(start, runs, 0)
    assert found["start"]["accuracy"]["mean"] == 0.25
    assert found["trained"]["accuracy"]["mean"] == pytest.approx(7 / 8)
    assert found["gain"]["accuracy"]["mean"] == pytest.approx(5 / 8)
    assert found["improved"] is True
    assert found["gain"]["cfs"]["mean"] is None  # no facts, no CFS
    assert found["gain"]["cfs"]["lost"] == 16
    assert compare(start, [start, start], 0)["improved"] is False


def test_an_unknown_variant_is_named() -> None:
    plan = Plan("deft", GrpoParams(), EvaluateParams(), STYLE, 0)
    with pytest.raises(BadInput, match=r"no such variant: deft .*deft_rlvr"):
        _ = plan.variant


def test_the_share_of_scoring_is_of_a_step() -> None:
    rows = [{"step_s": 4.0, "rollout_s": 1.0, "scoring_wait_s": 1.0, "grading_s": 2.0}] * 2
    assert scoring_share({"seed 0": rows, "seed 1": rows})["scoring_share"] == 0.25


def test_cfs_is_that_of_the_evaluation(arena: Arena) -> None:
    """What is silent, and what repeats its second turn in the first, as the evaluation's table has them."""
    from driveproof.evaluation.cfs import OfflineJudge
    from driveproof.evaluation.cfs_table import report_cfs
    from driveproof.evaluation.facts import facts_by_key

    made = facts_by_key(toy_world.scenes(arena.folder))
    empty = {"signal": None, "ahead": None, "signals": (), "users": ()}
    facts = {key: replace(known, **empty) for key, known in made.items()}
    second = choice_line(0)
    texts = ["", second, f"nothing ahead, so keep\n{second}", "nothing ahead, so keep"]
    answers = [
        Answer(item.record_key, 0, "deft", text, second, None, 0)
        for item, text in zip(arena.items, 2 * texts, strict=True)
    ]
    found = measure(arena.items, answers, facts)
    _, judged = report_cfs(found.table, OfflineJudge(), 0, facts=facts)
    assert np.array_equal(found.values["cfs"], judged["score"][:, 0])
    assert found.values["cfs"][0] == found.values["cfs"][1] == 0.0
