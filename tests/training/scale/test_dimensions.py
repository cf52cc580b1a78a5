"""Parameters counted from dimensions are those of transformers' own models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driveproof.errors import BadInput
from driveproof.training.dimensions import KNOWN, dimensions_of

VISION = {"patch_size": 16, "temporal_patch_size": 2, "spatial_merge_size": 2, "num_heads": 4}


def test_published_models_have_their_published_number_of_parameters() -> None:
    # the totals that the weight files of both models state
    assert KNOWN["Qwen3-VL-8B"].parameters == 8_767_123_696
    assert KNOWN["Qwen3-VL-2B"].parameters == 2_127_532_032


def test_the_tiny_model_is_counted_exactly(tmp_path: Path) -> None:
    from driveproof.policy.tiny import build_tiny_vlm

    folder = tmp_path / "tiny"
    count = build_tiny_vlm(
        folder, ["go on until 5"], hidden=32, layers=2, heads=2, vision_hidden=16
    )
    assert dimensions_of(folder).parameters == count


def test_layers_without_attention_are_counted(tmp_path: Path) -> None:
    """Qwen3.5: three of four layers follow the delta rule, and queries carry a gate."""
    import torch
    from transformers.models.qwen3_5 import Qwen3_5Config, Qwen3_5ForConditionalGeneration

    text = {
        "vocab_size": 300, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "linear_key_head_dim": 8,
        "linear_value_head_dim": 16, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
    }  # fmt: skip
    vision = {
        "hidden_size": 32,
        "depth": 2,
        "intermediate_size": 48,
        "out_hidden_size": 64,
        **VISION,
    }
    config = Qwen3_5Config(text_config=text, vision_config=vision, tie_word_embeddings=False)
    with torch.device("meta"):
        model = Qwen3_5ForConditionalGeneration(config)
    config.save_pretrained(tmp_path)
    found = dimensions_of(tmp_path)
    assert found.attention_layers == 1
    assert found.parameters == sum(p.numel() for p in model.parameters())


def test_adapters_have_two_factors_a_matrix() -> None:
    of = KNOWN["Qwen3-VL-8B"]
    # rank 16; q: 4096 -> 4096, k: 4096 -> 1024, in each of 36 layers
    assert of.adapters(16, ("q_proj", "k_proj")) == 36 * 16 * (4096 + 4096 + 4096 + 1024)
    with pytest.raises(BadInput, match="no matrix of that name: c_attn"):
        of.adapters(16, ("c_attn",))


@pytest.mark.parametrize("content", ["{", "[]", '{"text_config": {}}', '{"text_config": 3}'])
def test_a_configuration_of_something_else_is_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(BadInput):
        dimensions_of(tmp_path)


def test_an_unknown_model_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="neither") as caught:
        dimensions_of(tmp_path / "Mystery-8B")
    assert "Qwen3-VL-8B" in json.dumps(str(caught.value.hint))
