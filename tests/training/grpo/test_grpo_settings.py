"""What params.yaml says reaches TRL under the names of the version in the lock."""

from __future__ import annotations

from pathlib import Path

import pytest

from driveproof.config import load_params
from driveproof.config.grpo import GrpoParams, LoraParams, VllmParams
from driveproof.errors import BadInput
from driveproof.training.grpo.settings import grpo_config, lora_config

DEFAULT = GrpoParams()


def test_the_default_generates_with_transformers(tmp_path: Path) -> None:
    made = grpo_config(DEFAULT, 3, tmp_path, 64)
    assert not made.use_vllm
    assert made.seed == 3
    assert made.max_completion_length == 64


@pytest.mark.parametrize("mode", ["server", "colocate"])
def test_vllm_settings_reach_trl(mode: str, tmp_path: Path) -> None:
    vllm = VllmParams(
        mode=mode, host="10.0.0.7", port=8123, timeout_s=77.0, memory=0.35, tensor_parallel=2
    )
    made = grpo_config(
        DEFAULT.model_copy(update={"vllm": vllm, "max_context": 4096}), 0, tmp_path, 64
    )
    assert made.use_vllm
    assert made.vllm_mode == mode
    assert (made.vllm_server_host, made.vllm_server_port) == ("10.0.0.7", 8123)
    assert made.vllm_server_timeout == 77.0
    assert made.vllm_gpu_memory_utilization == 0.35
    assert made.vllm_tensor_parallel_size == 2
    assert made.vllm_max_model_length == 4096


def test_the_full_scale_of_the_paper_reaches_trl(root: Path, tmp_path: Path) -> None:
    params = load_params(root / "params.yaml", [root / "params" / "gpu.yaml"]).grpo
    made = grpo_config(params, 0, tmp_path, params.max_tokens, processes=32)
    assert made.use_vllm
    assert made.learning_rate == 1e-6
    assert made.lr_scheduler_type == "constant"
    assert made.warmup_steps == 0
    assert made.beta == 0.01
    assert made.num_iterations == 1
    assert made.gradient_accumulation_steps == params.questions * params.group // 32
    assert made.gradient_checkpointing
    assert made.max_completion_length == 4096


def test_rollouts_that_cannot_be_shared_out_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"64 rollouts a step cannot be shared by 3 processes"):
        grpo_config(DEFAULT, 0, tmp_path, 64, processes=3)


def test_adapters_reach_peft_and_leave_the_vision_encoder_alone() -> None:
    assert lora_config(LoraParams()) is None
    made = lora_config(LoraParams(rank=4, alpha=8, targets=("q_proj",)))
    assert (made.r, made.lora_alpha, made.target_modules) == (4, 8, {"q_proj"})
    assert "visual" in made.exclude_modules
