"""What params.yaml says reaches TRL under the names of the version in the lock."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest
import torch
from pydantic import ValidationError

from driveproof.config import Params, load_params
from driveproof.config.grpo import GrpoParams, LoraParams, VllmParams
from driveproof.config.sft import Schedule
from driveproof.errors import BadInput
from driveproof.evaluation.cfs import AXES
from driveproof.training.grpo.settings import check_targets, grpo_config, lora_config

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
    assert made.vllm_importance_sampling_mode == "token_truncate"
    assert made.vllm_importance_sampling_correction


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
    assert (made.top_p, made.top_k) == (1.0, 0)


def test_rollouts_that_cannot_be_shared_out_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"64 rollouts a step cannot be shared by 3 processes"):
        grpo_config(DEFAULT, 0, tmp_path, 64, processes=3)


def test_adapters_reach_peft_and_leave_the_vision_encoder_alone() -> None:
    assert lora_config(LoraParams()) is None
    made = lora_config(LoraParams(rank=4, alpha=8, targets=("q_proj",)))
    assert (made.r, made.lora_alpha, made.target_modules) == (4, 8, {"q_proj"})
    assert "visual" in made.exclude_modules


@pytest.mark.parametrize("mode", ["server", "colocate"])
@pytest.mark.parametrize(("name", "value"), [("top_p", 0.95), ("top_k", 20)])
def test_vllm_samples_the_whole_distribution(mode: str, name: str, value: float) -> None:
    """TRL asks vLLM for probabilities within the nucleus and compares them with those of all tokens."""
    with pytest.raises(ValidationError, match=f"{name} must be"):
        GrpoParams.model_validate({"vllm": {"mode": mode}, name: value})
    assert GrpoParams.model_validate({name: value}).vllm.mode == "off"


def test_trl_still_asks_for_processed_probabilities() -> None:
    """Fails when TRL changes that: then the nucleus may be allowed again."""
    from trl.generation import vllm_generation

    assert 'logprobs_mode="processed_logprobs"' in inspect.getsource(vllm_generation)


def test_the_sampling_ratio_is_a_curve_where_trl_reports_it() -> None:
    from trl.trainer import grpo_trainer

    from driveproof.training.grpo.train import CURVES

    source = inspect.getsource(grpo_trainer)
    names = [CURVES[name] for name in CURVES if name.startswith("sampling")]
    assert len(names) == 3
    assert all(f'"{name}"' in source for name in names)


def test_processes_of_one_engine_draw_alike() -> None:
    from driveproof.training.grpo.trainer import GrpoTrainer

    def engines(**vllm: object) -> list[int]:
        params = GrpoParams.model_validate({"vllm": vllm})
        made = [
            SimpleNamespace(_params=params, accelerator=SimpleNamespace(process_index=rank))
            for rank in range(4)
        ]
        return [GrpoTrainer._engine(one) for one in made]  # type: ignore[arg-type]

    assert engines(mode="colocate", tensor_parallel=2) == [0, 0, 1, 1]
    assert engines(mode="colocate") == engines(mode="server", tensor_parallel=2) == [0, 1, 2, 3]
    assert engines() == [0, 1, 2, 3]


def test_wrong_parameters_name_their_field() -> None:
    cases: list[tuple[str, dict[str, Any]]] = [
        ("sft.schedule", {"sft": {"schedule": "linar"}}),
        ("grpo.reward.weights", {"grpo": {"reward": {"weights": dict.fromkeys(AXES, 0)}}}),
    ]
    for field, values in cases:
        with pytest.raises(ValidationError) as refused:
            Params.model_validate(values)
        assert ".".join(map(str, refused.value.errors()[0]["loc"])) == field


def test_every_schedule_is_one_of_transformers() -> None:
    from transformers.trainer_utils import SchedulerType

    assert set(get_args(Schedule)) <= {kind.value for kind in SchedulerType}


def test_messages_name_the_section_that_is_wrong(tmp_path: Path) -> None:
    params = Params()
    for name in ("sft", "judge_sft", "vqa_sft", "distill", "grpo", "judge_rl"):
        assert getattr(params, name).section == name
        assert "section" not in getattr(params, name).model_dump()
    with pytest.raises(BadInput, match=r"judge_rl.micro_batch: "):
        grpo_config(params.judge_rl, 0, tmp_path, 64, processes=7)


def test_targets_of_adapters_are_matrices_of_the_language_model() -> None:
    model = torch.nn.ModuleDict(
        {"text": torch.nn.ModuleDict({"q_proj": torch.nn.Linear(2, 2)}),
         "visual": torch.nn.ModuleDict({"qkv": torch.nn.Linear(2, 2)})}
    )  # fmt: skip
    check_targets(model, GrpoParams(lora=LoraParams(rank=0, targets=("nope",))))
    check_targets(model, GrpoParams(lora=LoraParams(rank=1, targets=("q_proj",))))
    for target in ("nope", "qkv"):
        with pytest.raises(BadInput, match=rf"grpo.lora.targets: .*{target} \(some of q_proj\)"):
            check_targets(model, GrpoParams(lora=LoraParams(rank=1, targets=(target,))))
