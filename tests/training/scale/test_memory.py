"""Memory on paper against numbers computed by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from driveproof.training.dimensions import KNOWN, Dimensions, Vision
from driveproof.training.memory import GIB, TILE, Load, activations, largest, terms, total

SMALL = Dimensions(
    "small", 8, 3, 2, 1, 4, 16, 100, True, Vision(4, 1, 8, 2, 1, 2, 8, 4), attention_layers=3
)
LOAD = Load(
    kind="sft", processes=4, zero=3, trainable=1000, frozen=600, head_trained=True, reference=False, batch=2,
    sequence=10, scored=5, picture_tokens=0, checkpointing=False, vision_trained=False, width=2,
    bucket=50, live_parameters=400, generating=0, vllm_gib=0.0, reserve_gib=1.0,
)  # fmt: skip


def bytes_of(load: Load) -> dict[str, float]:
    return {name: value * GIB for name, value in terms(SMALL, load).items()}


def test_stage_3_shards_everything_and_gathers_what_it_works_on() -> None:
    found = bytes_of(LOAD)
    assert found["weights"] == pytest.approx(1600 * 2 / 4)
    assert found["gradients"] == pytest.approx(1000 * 4 / 4)  # fp32, whatever the weights are
    assert found["optimizer states"] == pytest.approx(1000 * 12 / 4)
    assert found["gathered weights"] == pytest.approx(400 * 2)
    assert found["buckets"] == pytest.approx(2 * 50 * 2)
    # 2 examples x 5 scored tokens x 100 words x 14 bytes
    assert found["logits"] == pytest.approx(2 * 5 * 100 * 14)


def test_stage_2_keeps_whole_weights_and_a_whole_reference() -> None:
    found = bytes_of(replace(LOAD, zero=2, reference=True))
    assert found["weights"] == pytest.approx(1600 * 2)
    assert found["reference model"] == pytest.approx(1600 * 2)
    assert found["gradients"] == pytest.approx(1000 * 4 / 4)
    assert found["gathered weights"] == 0
    assert bytes_of(replace(LOAD, reference=True))["reference model"] == pytest.approx(1600 * 2 / 4)


def test_activations_with_and_without_checkpointing() -> None:
    # a token and layer: norms 2 (4 + 2) 8 = 96; queries and keys 3 * 2 (8 + 4) = 72; values 2 * 4 = 8;
    # output 2 * 8 = 16 and statistics 4 * 2 = 8; feed-forward 4 * 2 * 16 = 128; together 328
    assert activations(SMALL, LOAD) == 20 * 3 * 328
    # the inputs of three layers, 2 * 8 bytes a token, and one layer that is computed again
    assert activations(SMALL, replace(LOAD, checkpointing=True)) == 20 * (3 * 16 + 328)
    # one block of the frozen encoder, 2 x 3 tokens of 4 patches: 2 (4 + 2) 4 + 5 * 2 * 4 + 2 * 2 * 8 = 120
    seen = activations(SMALL, replace(LOAD, picture_tokens=3))
    assert seen == 20 * 3 * 328 + 2 * 3 * 4 * 120


def test_the_peak_is_the_larger_of_backward_and_generation() -> None:
    generating = replace(LOAD, generating=1_000_000)
    found = bytes_of(generating)
    # the model gathered, and 1e6 rollouts x 10 tokens x 3 layers x 1 head x 4 x (key, value) x 2 bytes
    assert found["generation"] == pytest.approx(1600 * 2 + 1e6 * 10 * 3 * 4 * 2 * 2)
    staying = sum(found[name] for name in ("weights", "gradients", "optimizer states", "reserve"))
    assert total(terms(SMALL, generating)) * GIB == pytest.approx(staying + found["generation"])
    passing = sum(found[n] for n in ("gathered weights", "buckets", "activations", "logits"))
    assert total(terms(SMALL, LOAD)) * GIB == pytest.approx(staying + passing)
    assert largest(terms(SMALL, LOAD)) == "reserve"


def test_eight_billion_parameters_on_eight_gpus() -> None:
    """The ZeRO paper's 16 bytes a parameter, and 2 since gradients are fp32, over all GPUs in stage 3."""
    of = KNOWN["Qwen3-VL-8B"]
    load = replace(LOAD, processes=8, trainable=of.parameters, frozen=0)
    found = terms(of, load)
    states = found["weights"] + found["gradients"] + found["optimizer states"]
    assert states == pytest.approx(18 * of.parameters / 8 / GIB)  # 18.4 GiB
    # keys and values of a token: 36 layers x 8 heads x 128 x 2 x 2 bytes
    assert of.cache_bytes(1) == 147_456


def test_the_scores_of_grpo_are_never_there_at_once() -> None:
    """10 scored tokens: a tile of 10 x 32,768 scores, their hidden states' gradients, and the output layer's."""
    load = replace(LOAD, kind="grpo")
    tile, hidden, head = 10 * 32768 * 2, 10 * 8 * (4 + 2), 100 * 8 * (4 + 2)
    assert bytes_of(load)["logits"] == pytest.approx(tile + hidden + head)
    adapters = replace(load, head_trained=False)
    assert bytes_of(adapters)["logits"] == pytest.approx(tile + hidden)
    long = replace(adapters, batch=1, scored=8192)  # more tokens make no larger tile
    assert bytes_of(long)["logits"] == pytest.approx(4096 * 32768 * 2 + 8192 * 8 * (4 + 2))


def test_the_tile_is_that_of_trl() -> None:
    """Fails when TRL changes how it scores: read its kernel again before changing the formula."""
    from trl.kernels.chunked_logprob import TOKEN_CHUNK_SIZE
    from trl.trainer import utils

    assert (TOKEN_CHUNK_SIZE, utils._CHUNKED_LOGPROB_CHUNK_SIZE) == TILE
