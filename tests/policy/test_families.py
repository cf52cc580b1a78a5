"""Families of models: quirks of their processors, on tiny random models of each family."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from driveproof.errors import BadInput
from driveproof.policy import ChatPolicy, ChatRequest, open_policy
from driveproof.policy.baselines import BASELINES
from driveproof.policy.families import ANY, FAMILIES, conversation, family_of, fit, fitted
from driveproof.policy.local import TransformersPolicy
from driveproof.policy.tiny import (
    _add_video_processor,
    build_tiny_vlm,
    image_only_class,
    load_processor,
)

WORDS = "You drive. Look at the pictures. FOLLOW_LANE KEEP"


@pytest.fixture(scope="module", params=["qwen2_5_vl", "qwen3_vl", "gemma3"])
def folder(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained model of the family."""
    path = tmp_path_factory.mktemp("families") / request.param
    build_tiny_vlm(
        path, [WORDS], hidden=32, layers=2, heads=2, vision_hidden=32, family=request.param
    )
    return path


def asked(pictures: int, text: str = "drive", height: int = 48, width: int = 64) -> ChatRequest:
    rng = np.random.default_rng(pictures)
    images = [rng.integers(0, 255, (height, width, 3)).astype(np.uint8) for _ in range(pictures)]
    content = [*({"type": "image"} for _ in images), {"type": "text", "text": text}]
    system = {"role": "system", "content": [{"type": "text", "text": "You drive."}]}
    return ChatRequest([system, {"role": "user", "content": content}], images, max_tokens=4)


def test_each_family_answers_with_any_number_of_pictures(folder: Path) -> None:
    policy = TransformersPolicy(folder, threads=1)
    requests = [asked(n) for n in (0, 1, 2, 6)]
    replies = policy.reply(requests)
    assert [reply.error for reply in replies] == [""] * 4
    counts = [reply.usage["prompt_tokens"] for reply in replies]
    per_picture = np.diff(counts) / np.diff([0, 1, 2, 6])
    assert per_picture[0] == per_picture[1] == per_picture[2] > 0
    assert "fitted" not in policy.identity()
    assert family_of(folder) is FAMILIES[folder.name]


def test_larger_pictures_are_more_tokens_only_where_the_family_says_so(folder: Path) -> None:
    policy = TransformersPolicy(folder, threads=1)
    small, large = policy.reply([asked(1), asked(1, height=192, width=256)])
    grows = large.usage["prompt_tokens"] > small.usage["prompt_tokens"]
    assert grows == (FAMILIES[folder.name].token_pixels is not None)


def changed(folder: Path, tmp_path: Path, **settings: Any) -> Path:
    """The model with other settings of its files."""
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    for name, values in settings.items():
        path = copy / f"{name}.json"
        content = json.loads(path.read_text())
        if name == "processor_config":
            content["image_processor"] |= values
        else:
            content |= values
        path.write_text(json.dumps(content))
    return copy


# a picture of Gemma 3 has a fixed number of tokens
@pytest.mark.parametrize("folder", ["qwen2_5_vl", "qwen3_vl"], indirect=True)
def test_what_a_folder_overdoes_is_bounded_and_told(folder: Path, tmp_path: Path) -> None:
    edge = 32 * 32
    generous = {"size": {"shortest_edge": edge, "longest_edge": 16384 * edge}}
    penalty = {"repetition_penalty": 1.05}
    copy = changed(folder, tmp_path, processor_config=generous, generation_config=penalty)
    policy = TransformersPolicy(copy, threads=1)
    assert policy.identity()["fitted"] == {"max_pixels": 1280 * edge, "repetition_penalty": 1.0}
    assert policy._model.generation_config.repetition_penalty == 1.0
    pixels = [np.zeros((900, 1600, 3), np.uint8)] * 1
    grid = policy._processor.image_processor(pixels, return_tensors="np")["image_grid_thw"]
    tokens = int(np.prod(grid) // policy._processor.image_processor.merge_size**2)
    assert 1000 < tokens <= 1280  # 1400 without the bound


def test_a_folder_in_the_layout_of_older_releases_loads(folder: Path, tmp_path: Path) -> None:
    """Published folders name the processor beside the settings of pictures, and hold the template in a file of JSON."""
    copy = tmp_path / "model"
    shutil.copytree(folder, copy)
    content = json.loads((copy / "processor_config.json").read_text())
    (copy / "processor_config.json").unlink()
    images = {**content["image_processor"], "processor_class": content["processor_class"]}
    (copy / "preprocessor_config.json").write_text(json.dumps(images))
    if folder.name == "gemma3":
        rest = {
            "processor_class": "Gemma3Processor",
            "image_seq_length": content["image_seq_length"],
        }
        (copy / "processor_config.json").write_text(json.dumps(rest))
    mine = TransformersPolicy(copy, threads=1).reply([asked(2)])
    assert mine[0].text == TransformersPolicy(folder, threads=1).reply([asked(2)])[0].text


def test_two_messages_of_one_role_are_joined_where_the_template_refuses_them() -> None:
    def message(role: str, text: str) -> dict[str, Any]:
        return {"role": role, "content": [{"type": "text", "text": text}]}

    messages = [message("user", "a"), message("user", "b"), message("assistant", "c")]
    joined = conversation(FAMILIES["gemma3"], messages)
    assert [entry["role"] for entry in joined] == ["user", "assistant"]
    assert [part["text"] for part in joined[0]["content"]] == ["a", "b"]
    assert len(messages[0]["content"]) == 1
    assert conversation(FAMILIES["qwen3_vl"], messages) == messages


def test_tiles_are_bounded() -> None:
    images = SimpleNamespace(max_patches=12)
    processor = SimpleNamespace(image_processor=images)
    assert fit(FAMILIES["internvl"], processor, None) == {"max_tiles": 4}
    assert images.max_patches == 4
    assert fit(FAMILIES["internvl"], processor, None) == {}
    assert fit(ANY, processor, None) == {}


@pytest.fixture(scope="module")
def internvl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random InternVL: tiles of 56 x 56 pixels, four tokens each."""
    import torch
    import transformers

    source = tmp_path_factory.mktemp("internvl") / "words"
    build_tiny_vlm(source, [WORDS], hidden=32, layers=2, heads=2, vision_hidden=32)
    tokenizer: Any = load_processor(source).tokenizer  # type: ignore[attr-defined]
    names = {
        "start_image_token": "<|vision_start|>",
        "end_image_token": "<|vision_end|>",
        "context_image_token": "<|image_pad|>",
        "video_token": "<|video_pad|>",
    }
    for name, token in names.items():
        setattr(tokenizer, name, token)
        setattr(tokenizer, f"{name}_id", tokenizer.convert_tokens_to_ids(token))
    tokenizer.init_kwargs.update(names)
    images = transformers.GotOcr2ImageProcessorPil(size={"height": 56, "width": 56})
    template = tokenizer.chat_template.replace(
        "<|vision_start|><|image_pad|><|vision_end|>", "<|image_pad|>"
    )
    processor = image_only_class("InternVLProcessor")(
        images, tokenizer, chat_template=template, image_seq_length=4
    )
    config = transformers.InternVLConfig(
        vision_config={"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
                       "intermediate_size": 64, "image_size": [56, 56], "patch_size": [14, 14]},
        text_config={"model_type": "qwen2", "vocab_size": len(tokenizer), "hidden_size": 32,
                     "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2,
                     "intermediate_size": 64},
        image_token_id=tokenizer.convert_tokens_to_ids("<|image_pad|>"), image_seq_length=4,
    )  # fmt: skip
    out = source.with_name("model")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        transformers.InternVLForConditionalGeneration(config).save_pretrained(out)
    processor.save_pretrained(out)
    _add_video_processor(out, "InternVLProcessor")
    return out


def test_internvl_cuts_large_pictures_into_few_tiles(internvl: Path) -> None:
    policy = TransformersPolicy(internvl, threads=1)
    assert policy.identity()["fitted"] == {"max_tiles": 4}
    shapes = [(0, 48, 48), (1, 48, 48), (2, 48, 48), (1, 56, 112), (1, 300, 1200), (1, 1200, 1200)]
    replies = policy.reply([asked(n, height=height, width=width) for n, height, width in shapes])
    assert [reply.error for reply in replies] == [""] * len(shapes)
    none, *counts = [reply.usage["prompt_tokens"] for reply in replies]
    marks = 2
    tiles = [1, None, 2 + 1, 4 + 1, 4 + 1]
    for count, expected in zip(counts, tiles, strict=True):
        wanted = 2 * (marks + 4) if expected is None else marks + 4 * expected
        assert count - none == wanted


def test_code_of_a_folder_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "internvl_chat"}')
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(BadInput, match="its -hf twin needs none"):
        open_policy(f"transformers:{tmp_path}")


def test_a_baseline_opens_by_name_with_its_own_family_only(folder: Path) -> None:
    fitting = [name for name, known in BASELINES.items() if known.family == folder.name]
    other = next(name for name, known in BASELINES.items() if known.family != folder.name)
    policy = open_policy(f"baseline:{fitting[0]}#{folder}")
    assert isinstance(policy, ChatPolicy)
    assert policy.identity()["kind"] == "transformers"
    with pytest.raises(BadInput, match=r"is of .*, this is "):
        open_policy(f"baseline:{other}#{folder}")
    with pytest.raises(BadInput, match="no such baseline"):
        open_policy("baseline:gpt-2")
    with pytest.raises(BadInput, match=r"put Qwen/Qwen2.5-VL-3B-Instruct there, or serve it"):
        open_policy("baseline:qwen2.5-vl-3b#nowhere")


def test_every_baseline_has_a_family_that_can_be_used() -> None:
    for known in BASELINES.values():
        assert not known.quirks.refused
        assert known.quirks.picture
    assert {known.family for known in BASELINES.values()} == {
        "qwen2_5_vl", "qwen3_vl", "gemma3", "internvl",
    }  # fmt: skip


@pytest.mark.slow
def test_pictures_are_as_large_as_the_parameter_says(folder: Path, tmp_path: Path) -> None:
    """Twelve pictures of 1600 x 900, of 256 tokens each: in training, in what is saved, wherever it is asked."""
    from driveproof.training.sft import load_kit

    edge = 32 * 32
    generous = {"size": {"shortest_edge": edge, "longest_edge": 16384 * edge}}
    known = FAMILIES[folder.name].token_pixels is not None
    copy = changed(folder, tmp_path, **({"processor_config": generous} if known else {}))
    pixels = [np.zeros((900, 1600, 3), np.uint8)] * 12

    def tokens(processor: Any) -> int:
        images = processor.image_processor
        found = images(pixels, return_tensors="np")
        if "image_grid_thw" not in found:
            return 12 * int(processor.image_seq_length)
        return int(found["image_grid_thw"].prod(-1).sum()) // images.merge_size**2

    _, bounded = load_kit(copy, 256 * edge)
    assert tokens(bounded) <= 12 * 256
    if not known:
        return
    assert tokens(bounded) > 12 * 200
    bounded.save_pretrained(tmp_path / "saved")
    assert tokens(load_processor(tmp_path / "saved")) == tokens(bounded)
    policy = TransformersPolicy(copy, threads=1, max_pixels=256 * edge)
    assert tokens(policy._processor) == tokens(bounded)
    assert "max_pixels" not in policy.identity().get("fitted", {})
    _, free = load_kit(copy)  # the family's bound holds in training, too
    assert 12 * 1000 < tokens(free) <= 12 * 1280


def test_a_picture_for_vllm_has_the_size_that_the_processor_would_choose(folder: Path) -> None:
    """Its own processor, which knows no limit of ours, then finds as many tokens."""
    processor: Any = load_processor(folder, 48 * 32 * 32)
    picture = Image.fromarray(
        np.random.default_rng(0).integers(0, 255, (450, 800, 3)).astype(np.uint8)
    )
    small = fitted(picture, processor)
    if FAMILIES[folder.name].token_pixels is None:
        assert small is picture
        return
    free: Any = load_processor(folder)
    free.image_processor.size = {"shortest_edge": 1, "longest_edge": 10**8}
    grids = [kit.image_processor([small], return_tensors="np")["image_grid_thw"].tolist() for kit in (processor, free)]  # fmt: skip
    whole = processor.image_processor([picture], return_tensors="np")["image_grid_thw"].tolist()
    assert grids[0] == grids[1] == whole
    assert fitted(small, processor).size == small.size
