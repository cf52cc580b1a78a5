"""Parameters of the stage ``grpo``; docs/grpo.md says how the values of the default profile were found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from driveproof.config.base import Section
from driveproof.config.rewards import RewardParams

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
"""A variant names folders."""


class Variant(Section):
    """One row of DEFT-RLVR's table 2: in which order candidates are shown, and what a rollout is paid.

    Attributes
    ----------
    rollout
        "two_turn": candidates after the decision (DEFT); "joint": from the outset (JEFT).
    reward
        "exact", "shared" (four axes, the same for every scene) or "rubric" (criteria of the scene).
    """

    rollout: Literal["two_turn", "joint"] = "two_turn"
    reward: Literal["exact", "shared", "rubric"] = "exact"


VARIANTS = {
    "jeft_exact": Variant(rollout="joint", reward="exact"),
    "deft_exact": Variant(rollout="two_turn", reward="exact"),
    "deft_shared": Variant(rollout="two_turn", reward="shared"),
    "deft_rlvr": Variant(rollout="two_turn", reward="rubric"),
}
"""The four of DEFT-RLVR, appendix D.4."""


class LoraParams(Section):
    """Low-rank adapters on the named matrices in place of full weights; rank 0: none."""

    rank: int = Field(default=0, ge=0)
    alpha: int = Field(default=32, ge=1)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    targets: tuple[str, ...] = (
        *("q_proj", "k_proj", "v_proj", "o_proj"),
        *("gate_proj", "up_proj", "down_proj"),
    )


class VllmParams(Section):
    """vLLM for the rollouts, as TRL drives it: "off" generates with transformers.

    Attributes
    ----------
    mode
        "server": a ``trl vllm-serve`` of its own at ``host``:``port``; "colocate": in the training processes.
    memory
        Share of a GPU's memory for vLLM, where it is colocated.
    tensor_parallel
        GPUs an engine, where it is colocated.
    timeout_s
        How long to wait for the server.
    """

    mode: Literal["off", "server", "colocate"] = "off"
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=1, le=65535)
    memory: float = Field(default=0.3, gt=0, le=1)
    tensor_parallel: int = Field(default=1, ge=1)
    timeout_s: float = Field(default=240.0, gt=0)


class OptimizationParams(Section):
    """GRPO itself, whatever is practised; shared by every stage that reinforces.

    Attributes
    ----------
    steps, questions, group
        Updates; questions an update; rollouts a question. Paper: appendix D.3.
    micro_batch
        Rollouts in one forward and backward pass on one device; ``questions * group`` rollouts are spread over the
        devices and the rest of the way over accumulated passes.
    rollout_chunks
        A batch is rolled out in so many parts, and the grading of one goes on while the next is generated.
    learning_rate, optimizer, matrix_learning_rate, weight_decay, max_grad_norm
        Constant rate, no warm-up. "muon" is AdamW with Muon for the matrices of the blocks, see ``sft``.
    kl
        Coefficient of the KL term in the loss; it is no part of the reward. 0 leaves the reference model out.
    epsilon
        Clipping of the likelihood ratio (without effect while every batch is used for one update only).
    advantage_clip
        Normalised advantages are clipped to plus and minus this.
    temperature, top_p, top_k, max_tokens
        Sampling; ``max_tokens`` is the limit of each of two turns, a single turn has twice as many. With vLLM the whole
        distribution is sampled: ``top_p`` 1 and ``top_k`` 0.
    max_context
        Longest prompt and answer in tokens; 0: what the model's configuration says.
    freeze_vision, gradient_checkpointing, precision
        As in the section ``sft``.
    checkpoint_every
        Steps between two checkpoints.
    samples
        Rollouts a step that go into the table of samples.
    threads
        Intra-op threads on the CPU; other numbers give other bytes.
    """

    section: ClassVar[str] = "grpo"
    """Name in params.yaml, for messages."""
    steps: int = Field(default=16, ge=1)
    questions: int = Field(default=8, ge=1)
    group: int = Field(default=8, ge=2)
    micro_batch: int = Field(default=32, ge=1)
    rollout_chunks: int = Field(default=2, ge=1)
    optimizer: Literal["adamw", "muon"] = "adamw"
    learning_rate: float = Field(default=1e-3, gt=0)
    matrix_learning_rate: float = Field(default=0.005, gt=0)
    weight_decay: float = Field(default=0.0, ge=0)
    max_grad_norm: float = Field(default=1.0, gt=0)
    kl: float = Field(default=0.01, ge=0)
    epsilon: float = Field(default=0.2, gt=0)
    advantage_clip: float = Field(default=2.0, gt=0)
    temperature: float = Field(default=1.0, gt=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    top_k: int = Field(default=0, ge=0)
    max_tokens: int = Field(default=96, ge=1)
    max_context: int = Field(default=0, ge=0)
    freeze_vision: bool = True
    gradient_checkpointing: bool = False
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    checkpoint_every: int = Field(default=5, ge=1)
    samples: int = Field(default=16, ge=0)
    threads: int = Field(default=1, ge=0)
    lora: LoraParams = LoraParams()
    vllm: VllmParams = VllmParams()

    @model_validator(mode="after")
    def _whole_passes(self) -> Self:
        if (self.questions * self.group) % self.micro_batch:
            raise ValueError("micro_batch must divide questions * group")
        return self

    @model_validator(mode="after")
    def _whole_distribution(self) -> Self:
        """vLLM tells probabilities within the nucleus, the trainer those of all tokens: their ratio would be no correction."""
        if self.vllm.mode != "off" and (self.top_p < 1 or self.top_k):
            name = "top_p" if self.top_p < 1 else "top_k"
            whole = "1.0" if name == "top_p" else "0"
            raise ValueError(f"{name} must be {whole} where vllm.mode is {self.vllm.mode}")
        return self


class GrpoParams(OptimizationParams):
    """Section ``grpo`` of params.yaml.

    Attributes
    ----------
    variants
        By name; dvc.yaml runs the stage once for each.
    start
        Model folder that is reinforced, and the reference of the KL term.
    train_seeds
        Independent runs of each variant.
    workers
        Processes that share the runs; the result does not depend on it.
    hard_share
        Share of the questions drawn evenly from the hard-causal classes.
    answer_batch_size
        Test questions that a model is asked at once when it is measured.
    rubrics
        File of rubrics of the train questions; a question without one is paid by its answer alone, and counted.
    reward
        How rollouts are graded, where a variant has them graded.
    """

    variants: Mapping[Name, Variant] = VARIANTS
    start: str = "models/sft"
    train_seeds: int = Field(default=3, ge=1)
    workers: int = Field(default=2, ge=1)
    hard_share: float = Field(default=0.5, ge=0, le=1)
    answer_batch_size: int = Field(default=128, ge=1)
    rubrics: str = "data/rubrics/train.parquet"
    reward: RewardParams = RewardParams()
