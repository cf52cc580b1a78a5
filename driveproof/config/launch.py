"""Parameters of ``driveproof launch``: machines, how training is spread over them, what is served beside it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from driveproof.config.base import Section


class ServerParams(Section):
    """A vLLM server that stands beside the training.

    Attributes
    ----------
    model
        Folder of the weights; "": what is trained, or what the URL names.
    gpus
        GPUs that share one replica (tensor parallelism).
    memory
        Share of their memory that vLLM takes.
    max_context
        Longest prompt and answer in tokens; 0: what the model's configuration says.
    """

    model: str = ""
    gpus: int = Field(default=1, ge=1)
    memory: float = Field(default=0.9, gt=0, le=1)
    max_context: int = Field(default=0, ge=0)


class LaunchParams(Section):
    """Section ``launch`` of params.yaml; docs/scale.md.

    Attributes
    ----------
    device
        "gpu" (NCCL) or "cpu" (gloo, one process a "GPU": to try a spread run on a laptop).
    nodes, gpus
        Machines, and training GPUs on each.
    zero
        Stage of DeepSpeed's ZeRO: 2 shards gradients and optimiser states over the GPUs, 3 the weights, too.
    gpu_memory_gib, reserve_gib
        Memory of a GPU, and what CUDA, NCCL and fragmentation keep of it.
    bucket, live_parameters
        Numbers of elements that are reduced at once, and (stage 3) that are gathered at once.
    sequence
        Longest example of sft in tokens: answers that go beyond it are cut off. grpo has ``max_context``.
    answer_tokens
        For the estimate of memory: supervised tokens of an example of sft.
    checkpoint_every
        Steps between two checkpoints of sft; grpo has its own.
    preload
        Encode every picture before the first step and keep it; false for data that does not fit into memory.
    master_address, master_port
        The first node.
    cache
        Folder of the files that are generated.
    environment
        Variables of every training process.
    rollouts
        The server of rollouts, where ``grpo.vllm.mode`` is "server". On one node it takes its GPUs from those of the
        node; with more nodes it is a machine of its own.
    grader
        The server of ``grpo.reward.grader``, where that is ``openai:URL#MODEL``; a machine of its own.
    """

    device: Literal["gpu", "cpu"] = "gpu"
    nodes: int = Field(default=1, ge=1)
    gpus: int = Field(default=1, ge=1)
    zero: Literal[2, 3] = 2
    gpu_memory_gib: float = Field(default=80.0, gt=0)
    reserve_gib: float = Field(default=4.0, ge=0)
    bucket: int = Field(default=200_000_000, ge=1)
    live_parameters: int = Field(default=1_000_000_000, ge=1)
    sequence: int = Field(default=4096, ge=1)
    checkpoint_every: int = Field(default=100, ge=1)
    preload: bool = True
    answer_tokens: int = Field(default=1024, ge=1)
    master_address: str = "127.0.0.1"
    master_port: int = Field(default=29500, ge=1, le=65535)
    cache: str = ".cache/launch"
    environment: dict[str, str] = Field(
        default={"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    )
    rollouts: ServerParams = ServerParams()
    grader: ServerParams = ServerParams()
