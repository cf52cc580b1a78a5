"""The exact commands of a spread training: accelerate with DeepSpeed on every node, and vLLM beside it.

Nothing is started here. :func:`plan` gives commands, generated files and an estimate of memory; ``driveproof launch``
prints or runs them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

import yaml

from driveproof.config import Params
from driveproof.config.launch import LaunchParams
from driveproof.config.sft import SftParams
from driveproof.errors import BadInput
from driveproof.policy.families import MOST_TOKENS
from driveproof.prompts import STYLES
from driveproof.training.dimensions import Dimensions, dimensions_of
from driveproof.training.memory import GIB, Load, largest, terms, total
from driveproof.training.processes import share
from driveproof.training.worker import Job

Kind = Literal["sft", "grpo"]


@dataclass(frozen=True)
class Command:
    """A command and where it runs."""

    where: str
    argv: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Estimate:
    """Memory of a training GPU in GiB; ``notes`` are what no term says."""

    model: str
    parameters: int
    trainable: int
    terms: dict[str, float]
    available: float
    notes: tuple[str, ...]

    @property
    def total(self) -> float:
        """Peak."""
        return total(self.terms)

    @property
    def fits(self) -> bool:
        """Whether the peak is within the memory of a GPU."""
        return self.total <= self.available

    @property
    def largest(self) -> str:
        """The largest term."""
        return largest(self.terms)


@dataclass(frozen=True)
class Plan:
    """What to run, the files that it needs, and whether it fits; no estimate for the tiny model and on CPUs."""

    files: dict[str, str]
    commands: tuple[Command, ...]
    estimate: Estimate | None


def plan(params: Params, kind: Kind, job: Job) -> Plan:
    """Plan a run.

    Raises
    ------
    BadInput
        If examples cannot be shared evenly, the variant or the model is unknown, or the parts do not go together.
    """
    launch = params.launch
    if kind == "grpo" and job.variant not in params.grpo.variants:
        known = ", ".join(params.grpo.variants)
        raise BadInput(f"no such variant: {job.variant or '(none)'}", hint=f"one of {known}")
    if _section(params, kind).optimizer != "adamw":
        raise BadInput(
            "ZeRO shards matrices, which muon needs whole", field=f"{kind}.optimizer", hint="adamw"
        )
    folder = f"{launch.cache}/{kind}{f'_{job.variant}' if job.variant else ''}"
    names = {name: f"{folder}/{name}" for name in ("accelerate.yaml", "deepspeed.json", "job.json")}
    files = {
        names["deepspeed.json"]: json.dumps(deepspeed_config(params, kind), indent=2),
        names["accelerate.yaml"]: yaml.safe_dump(
            accelerate_config(params, kind, names["deepspeed.json"]), sort_keys=False
        ),
        names["job.json"]: job.model_dump_json(indent=2),
    }
    commands = [*_servers(params, kind, job.variant), *_trainers(params, kind, names)]
    return Plan(files, tuple(commands), estimate(params, kind))


def deepspeed_config(params: Params, kind: Kind) -> dict[str, Any]:
    """DeepSpeed's settings; "auto" is filled from the trainer's arguments, the rest is checked against them."""
    launch, section = params.launch, _section(params, kind)
    batch, passes = _shares(params, kind)
    sharding: dict[str, Any] = {
        "stage": launch.zero,
        "overlap_comm": launch.device == "gpu",
        "contiguous_gradients": True,
        "reduce_bucket_size": launch.bucket,
        "allgather_bucket_size": launch.bucket,
    }
    if launch.zero == 3:
        sharding |= {
            "stage3_max_live_parameters": launch.live_parameters,
            "stage3_max_reuse_distance": launch.live_parameters,
            "stage3_gather_16bit_weights_on_model_save": True,
        }
    return {
        "train_micro_batch_size_per_gpu": batch,
        "gradient_accumulation_steps": passes,
        "gradient_clipping": section.max_grad_norm,
        "bf16": {"enabled": launch.device == "gpu" and section.precision != "fp32"},
        # otherwise gradients of many passes are added up in bf16, where small ones are lost
        **({"data_types": {"grad_accum_dtype": "fp32"}} if launch.device == "gpu" else {}),
        "zero_optimization": sharding,
        "zero_allow_untested_optimizer": True,
    }


def accelerate_config(params: Params, kind: Kind, deepspeed: str) -> dict[str, Any]:
    """accelerate's configuration file, the same on every node."""
    launch = params.launch
    processes = _training_gpus(params, kind) * launch.nodes
    return {
        "compute_environment": "LOCAL_MACHINE",
        "distributed_type": "DEEPSPEED",
        "use_cpu": False,  # true would leave DeepSpeed out
        "num_machines": launch.nodes,
        "num_processes": processes,
        "main_process_ip": launch.master_address,
        "main_process_port": launch.master_port,
        "main_training_function": "main",
        "deepspeed_config": {
            "deepspeed_config_file": deepspeed,
            "zero3_init_flag": False,
            **({"deepspeed_multinode_launcher": "standard"} if launch.nodes > 1 else {}),
        },
    }


def estimate(params: Params, kind: Kind) -> Estimate | None:
    """Memory of a training GPU by formula; None for the tiny model and on CPUs."""
    launch = params.launch
    base = params.sft.base if kind == "sft" else params.grpo.start
    if launch.device == "cpu" or base == "tiny":
        return None
    model = dimensions_of(base)
    load = _load(params, kind, model)
    notes = [_host_note(launch, model)]
    if load.vllm_gib:
        notes.append(_vllm_note(params, model, load))
    return Estimate(
        model.name,
        model.parameters,
        load.trainable,
        terms(model, load),
        launch.gpu_memory_gib,
        tuple(notes),
    )


def _load(params: Params, kind: Kind, model: Dimensions) -> Load:
    launch, section = params.launch, _section(params, kind)
    batch, _ = _shares(params, kind)
    whole, vision = model.parameters, model.vision.parameters
    trainable = whole - vision if section.freeze_vision else whole
    shared = {
        "kind": kind,
        "processes": _training_gpus(params, kind) * launch.nodes,
        "zero": launch.zero,
        "batch": batch,
        "picture_tokens": _picture_tokens(params.sft, model),
        "checkpointing": section.gradient_checkpointing,
        "width": 4 if section.precision == "fp32" else 2,
        "bucket": launch.bucket,
        "live_parameters": launch.live_parameters,
        "reserve_gib": launch.reserve_gib,
        "vision_trained": not section.freeze_vision,
    }
    if kind == "sft":
        return Load(
            **shared,
            trainable=trainable,
            frozen=whole - trainable,
            head_trained=True,
            reference=False,
            sequence=launch.sequence,
            scored=launch.answer_tokens,
            generating=0,
            vllm_gib=0.0,
        )
    grpo = params.grpo
    adapters = model.adapters(grpo.lora.rank, grpo.lora.targets) if grpo.lora.rank else 0
    trained = adapters or trainable
    sequence = grpo.max_context or launch.sequence
    own = grpo.vllm.mode == "off"
    rollouts = grpo.questions * grpo.group // (shared["processes"] * grpo.rollout_chunks)
    return Load(
        **shared,
        trainable=trained,
        frozen=whole if adapters else whole - trainable,
        head_trained=not adapters,
        reference=grpo.kl > 0 and not adapters,  # adapters are switched off for the reference
        sequence=sequence,
        scored=min(2 * grpo.max_tokens, sequence),
        generating=max(rollouts, 1) if own else 0,
        vllm_gib=grpo.vllm.memory * launch.gpu_memory_gib if grpo.vllm.mode == "colocate" else 0.0,
    )


def _picture_tokens(sft: SftParams, model: Dimensions) -> int:
    """Most tokens of the pictures of an example."""
    shown = len(STYLES[sft.style].cameras) * sft.frames
    most = sft.max_pixels // (model.vision.patch * model.vision.merge) ** 2
    return shown * (min(most, MOST_TOKENS) or MOST_TOKENS)


def _host_note(launch: LaunchParams, model: Dimensions) -> str:
    gib = 4 * model.parameters * launch.gpus / GIB
    return f"while loading, {launch.gpus} processes a node hold fp32 weights on the host: {gib:.0f} GiB"


def _vllm_note(params: Params, model: Dimensions, load: Load) -> str:
    parts, context = params.grpo.vllm.tensor_parallel, load.sequence
    weights = 2 * model.parameters / parts / GIB
    left = load.vllm_gib - weights
    if left <= 0:
        return f"vLLM's {load.vllm_gib:.1f} GiB cannot hold its weights of {weights:.1f} GiB"
    contexts = left * GIB * parts / model.cache_bytes(context)
    return (
        f"vLLM's {load.vllm_gib:.1f} GiB hold its weights of {weights:.1f} GiB and {contexts:.1f} "
        f"full contexts of {context} tokens (an engine of {parts} GPUs)"
    )


def _section(params: Params, kind: Kind) -> Any:
    return params.sft if kind == "sft" else params.grpo


def _training_gpus(params: Params, kind: Kind) -> int:
    """Training GPUs of a node."""
    launch = params.launch
    served = kind == "grpo" and params.grpo.vllm.mode == "server" and launch.nodes == 1
    left = launch.gpus - (launch.rollouts.gpus if served else 0)
    if left < 1:
        raise BadInput("no GPU is left for training", field="launch.rollouts.gpus")
    return left


def _shares(params: Params, kind: Kind) -> tuple[int, int]:
    """Examples of a pass and passes of a step on each GPU."""
    processes = _training_gpus(params, kind) * params.launch.nodes
    if kind == "sft":
        return share(params.sft.batch_size, params.sft.accumulation, processes, "sft.batch_size")
    grpo = params.grpo
    rollouts = grpo.questions * grpo.group
    if rollouts % (processes * grpo.micro_batch) or (rollouts // processes) % grpo.group:
        raise BadInput(
            f"{rollouts} rollouts a step cannot be shared by {processes} processes in whole groups of "
            f"{grpo.group} and passes of {grpo.micro_batch}",
            field="grpo.micro_batch",
        )
    return grpo.micro_batch, rollouts // (processes * grpo.micro_batch)


def _trainers(params: Params, kind: Kind, names: Mapping[str, str]) -> list[Command]:
    launch = params.launch
    environment = dict(launch.environment)
    if launch.device == "cpu":
        environment.setdefault("TORCH_EXTENSIONS_DIR", f"{launch.cache}/extensions")
    elif _training_gpus(params, kind) < launch.gpus:
        environment["CUDA_VISIBLE_DEVICES"] = _devices(0, _training_gpus(params, kind))
    return [
        Command(
            f"node {rank}" + (f" ({launch.master_address})" if rank == 0 else ""),
            (
                *("accelerate", "launch", "--config_file", names["accelerate.yaml"]),
                *("--machine_rank", str(rank)),
                *("-m", "driveproof.training.worker", names["job.json"]),
            ),
            environment,
        )
        for rank in range(launch.nodes)
    ]


def _servers(params: Params, kind: Kind, variant: str) -> list[Command]:
    """vLLM for the rollouts and, where the variant has them graded by a model, for the grader."""
    launch, grpo = params.launch, params.grpo
    if kind != "grpo":
        return []
    commands = []
    if grpo.vllm.mode == "server":
        server, first = launch.rollouts, launch.gpus - launch.rollouts.gpus
        alone = launch.nodes > 1
        context = server.max_context or grpo.max_context
        commands.append(
            Command(
                f"machine {grpo.vllm.host}" if alone else "node 0",
                (
                    *("trl", "vllm-serve", "--model", server.model or grpo.start),
                    *("--tensor_parallel_size", str(server.gpus)),
                    *("--host", grpo.vllm.host, "--port", str(grpo.vllm.port)),
                    *("--gpu_memory_utilization", str(server.memory), "--dtype", "bfloat16"),
                    *(("--max_model_len", str(context)) if context else ()),
                ),
                {"CUDA_VISIBLE_DEVICES": _devices(0 if alone else first, server.gpus)},
            )
        )
    if grpo.variants[variant].reward != "exact":
        commands += _grader(params)
    return commands


def _grader(params: Params) -> list[Command]:
    spec, server = params.grpo.reward.grader, params.launch.grader
    if not spec.startswith("openai:"):
        return []
    address, _, model = spec.removeprefix("openai:").partition("#")
    try:
        url = urlsplit(address)
        host, port = url.hostname, url.port or 80
    except ValueError:
        host, port = None, 0
    if not host or not model:
        raise BadInput("expected openai:URL#MODEL", field="grpo.reward.grader")
    argv = (
        *("vllm", "serve", server.model or model, "--served-model-name", model),
        *("--host", host, "--port", str(port), "--tensor-parallel-size", str(server.gpus)),
        *("--gpu-memory-utilization", str(server.memory), "--dtype", "bfloat16"),
        *(("--max-model-len", str(server.max_context)) if server.max_context else ()),
    )
    return [Command(f"machine {host}", argv, {"CUDA_VISIBLE_DEVICES": _devices(0, server.gpus)})]


def _devices(first: int, count: int) -> str:
    return ",".join(str(number) for number in range(first, first + count))
