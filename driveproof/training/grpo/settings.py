"""From parameters to TRL's settings: the one place where they meet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from driveproof.config.grpo import LoraParams, OptimizationParams
from driveproof.errors import BadInput
from driveproof.training.processes import placement


def grpo_config(
    params: OptimizationParams, seed: int, directory: str | Path, budget: int, processes: int = 1
) -> Any:
    """TRL's settings (DEFT-RLVR, section 4.2 and appendix D.3).

    Parameters
    ----------
    seed
        Of this run.
    directory
        Where checkpoints go.
    budget
        Most tokens of a turn.
    processes
        Training processes; each takes an equal share of the rollouts, in whole groups.

    Raises
    ------
    BadInput
        If the rollouts of a step cannot be shared out evenly.
    """
    import torch
    from trl.trainer.grpo_config import GRPOConfig

    rollouts = params.questions * params.group
    if rollouts % (processes * params.micro_batch) or (rollouts // processes) % params.group:
        raise BadInput(
            f"{rollouts} rollouts a step cannot be shared by {processes} processes in whole groups of "
            f"{params.group} and passes of {params.micro_batch}",
            field=f"{params.section}.micro_batch",
        )
    gpu = torch.cuda.is_available()
    return GRPOConfig(
        output_dir=str(directory),
        max_steps=params.steps,
        per_device_train_batch_size=params.micro_batch,
        gradient_accumulation_steps=rollouts // (processes * params.micro_batch),
        num_generations=params.group,
        num_iterations=1,  # one on-policy update a batch
        shuffle_dataset=False,  # the task's schedule is the order
        max_completion_length=budget,
        temperature=params.temperature,
        top_p=params.top_p,
        top_k=params.top_k,
        loss_type="dapo",  # mean over the tokens of the batch
        scale_rewards="group",
        importance_sampling_level="token",
        epsilon=params.epsilon,
        beta=params.kl,
        use_bias_correction_kl=False,
        learning_rate=params.learning_rate,
        weight_decay=params.weight_decay,
        lr_scheduler_type="constant",
        warmup_steps=0,
        max_grad_norm=params.max_grad_norm,
        bf16=gpu and reduced_precision(params),
        gradient_checkpointing=params.gradient_checkpointing,
        seed=seed,
        save_strategy="steps",
        save_steps=params.checkpoint_every,
        save_total_limit=2,  # one is whole while the other is written
        logging_steps=1,
        logging_nan_inf_filter=False,
        report_to="none",
        dataloader_pin_memory=gpu,
        disable_tqdm=True,
        **placement(gpu),
        **_vllm(params),
    )


def _vllm(params: OptimizationParams) -> dict[str, Any]:
    vllm = params.vllm
    if vllm.mode == "off":
        return {}
    return {
        "use_vllm": True,
        "vllm_mode": vllm.mode,
        "vllm_server_host": vllm.host,
        "vllm_server_port": vllm.port,
        "vllm_server_timeout": vllm.timeout_s,
        "vllm_gpu_memory_utilization": vllm.memory,
        "vllm_tensor_parallel_size": vllm.tensor_parallel,
        "vllm_max_model_length": params.max_context or None,
        # a ratio of a whole conversation is a product over thousands of tokens: small errors of bf16 would mask it
        "vllm_importance_sampling_mode": "token_truncate",
    }


def lora_config(lora: LoraParams) -> Any:
    """peft's settings, None without adapters."""
    if not lora.rank:
        return None
    from peft import LoraConfig

    return LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=list(lora.targets),
        exclude_modules=r".*(visual|vision_tower).*",  # whose matrices may have the same names
        task_type="CAUSAL_LM",
    )


def check_targets(model: Any, params: OptimizationParams) -> None:
    """Whether every target of adapters is a matrix of the language model.

    Raises
    ------
    BadInput
        If there is none of that name.
    """
    import torch

    if not params.lora.rank:
        return
    known = {
        name.rsplit(".", 1)[-1]
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and not is_vision(name)
    }
    for target in params.lora.targets:
        if target not in known:
            raise BadInput(
                f"the model has no matrices called {target}",
                field=f"{params.section}.lora.targets",
                hint="some of " + ", ".join(sorted(known)),
            )


def is_vision(name: str) -> bool:
    """Whether a module or a weight of this name belongs to the vision encoder."""
    return "visual" in name or "vision_tower" in name


def reduced_precision(params: OptimizationParams) -> bool:
    """Whether arithmetic is bf16."""
    import torch

    if params.precision != "auto":
        return params.precision == "bf16"
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    return bool(torch.cpu._is_avx512_bf16_supported())
