"""Parameters of the stage ``sft``; docs/training.md says how the values of the default profile were found."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from driveproof.config.base import Section

Schedule = Literal[
    "linear",
    "cosine",
    "cosine_with_restarts",
    "polynomial",
    "constant",
    "constant_with_warmup",
    "inverse_sqrt",
]
"""transformers' schedules that need no settings of their own."""
KINDS = ("match", "plan", "full", "joint")
"""Kinds of examples, see :class:`Shares`."""


class TinyParams(Section):
    """The model that is built from scratch where ``base`` is "tiny"; see ``build_tiny_vlm``."""

    family: Literal["qwen3_vl", "gemma3"] = "qwen3_vl"
    hidden: int = Field(default=128, ge=16)
    layers: int = Field(default=4, ge=1)
    heads: int = Field(default=4, ge=1)
    vision_hidden: int = Field(default=48, ge=16)
    vision_layers: int = Field(default=2, ge=1)


class Shares(Section):
    """Relative shares of the kinds of examples.

    ``plan`` is turn 1 alone (DEFT Distillation, Plan Only), ``full`` both turns (Full Interaction), a mixture of
    the two Mixed Targets, ``joint`` the single turn of JEFT. ``match`` is turn 2 after the teacher's turn 1
    without pictures: practice in comparing trajectories.
    """

    match: float = Field(default=0.0, ge=0)
    plan: float = Field(default=0.0, ge=0)
    full: float = Field(default=0.0, ge=0)
    joint: float = Field(default=0.0, ge=0)

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not any(getattr(self, kind) for kind in KINDS):
            raise ValueError("at least one share must be positive")
        return self


class Phase(Section):
    """A stretch of training with fixed shares."""

    steps: int = Field(ge=1)
    shares: Shares


class TuningParams(Section):
    """How a model is trained, whatever it is taught; shared by the sections of all supervised stages.

    Attributes
    ----------
    base
        "tiny" for a new model built from ``tiny``, else a local model folder that is fine-tuned.
    batch_size, accumulation
        Examples a device and forward pass, and passes a step.
    optimizer
        "muon": orthogonalised momentum for the weight matrices of the transformer blocks at
        ``matrix_learning_rate`` and AdamW for all others; "adamw": AdamW for everything.
    learning_rate, matrix_learning_rate, schedule, warmup, weight_decay, max_grad_norm
        Peak rates, transformers' name of the schedule, share of the steps until the peak, the usual rest.
    max_pixels
        Most pixels of a picture: a larger one is made smaller, in training and wherever the trained folder is asked, since
        its processor says so. 0: as the base's folder says, within the bounds of its family. For those whose
        dimensions decide on the number of tokens (32 x 32 pixels each in Qwen3-VL).
    freeze_vision, gradient_checkpointing
        For real models (DEFT-RLVR, appendix D.3, freezes the vision encoder).
    precision
        "bf16" or "fp32" arithmetic over fp32 weights; "auto" takes bf16 where the processor has it.
    threads
        Intra-op threads on the CPU; 0 leaves the number to torch. Other numbers give other bytes.
    """

    section: ClassVar[str] = "sft"
    """Name in params.yaml, for messages."""
    base: str = "tiny"
    tiny: TinyParams = TinyParams()
    batch_size: int = Field(default=16, ge=1)
    accumulation: int = Field(default=1, ge=1)
    optimizer: Literal["muon", "adamw"] = "muon"
    learning_rate: float = Field(default=8e-3, gt=0)
    matrix_learning_rate: float = Field(default=0.03, gt=0)
    schedule: Schedule = "linear"
    warmup: float = Field(default=0.1, ge=0, le=1)
    weight_decay: float = Field(default=0.01, ge=0)
    max_grad_norm: float = Field(default=1.0, gt=0)
    max_pixels: int = Field(default=0, ge=0)
    freeze_vision: bool = False
    gradient_checkpointing: bool = False
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    threads: int = Field(default=1, ge=0)
    log_every: int = Field(default=10, ge=1)


class SftParams(TuningParams):
    """Section ``sft`` of params.yaml.

    Attributes
    ----------
    phases
        What is practised when; a step is one batch of one kind.
    hard_share
        Share of examples drawn evenly from the hard-causal classes, which the natural distribution has few of.
    structured_share
        Share of option sets drawn as in dev and test instead of as in train.
    redraw
        New options and order every time a question is used, instead of those of the table.
    plan_noise
        Relative error put on the plan in ``match`` examples, so that turn 2 learns to serve imperfect plans.
    style, decimals, frames, waypoint_every
        Wording and pictures of the prompts, as in ``evaluate``.
    """

    phases: tuple[Phase, ...] = (
        Phase(steps=480, shares=Shares(match=1, plan=1)),
        Phase(steps=360, shares=Shares(match=1, plan=1, full=3, joint=1)),
    )
    hard_share: float = Field(default=0.5, ge=0, le=1)
    structured_share: float = Field(default=0.5, ge=0, le=1)
    redraw: bool = True
    plan_noise: float = Field(default=0.1, ge=0)
    style: Literal["full", "compact"] = "compact"
    decimals: int = Field(default=0, ge=0, le=6)
    frames: int = Field(default=1, ge=0, le=4)
    waypoint_every: Literal[1, 2, 5, 10] = 5
