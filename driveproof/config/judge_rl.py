"""Parameters of the stage ``judge_rl``: GRPO of the judge on preferences; docs/judge.md says how they were found."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from driveproof.config.grpo import OptimizationParams


class JudgeRlParams(OptimizationParams):
    """Section ``judge_rl`` of params.yaml; see :class:`OptimizationParams` for the rest.

    Attributes
    ----------
    start
        The supervised judge that is reinforced.
    form_steps
        Batches that teach the other start, called zero-shot, the form of an answer and nothing else: each clip is
        shown with the gates of another. The model is the one of the section ``judge_sft``.
    pairing
        Whom the gates of a clip are ranked against: "index", "all" or "mean", see ``driveproof.rewards.preference``.
    tie
        What equal scores are paid.
    contested_share
        Share of pairs drawn from those whose preferred trajectory scores low on a rule.
    questions
        Clips an update: both of a pair, so an even number.
    max_tokens
        Longest answer.
    workers
        Processes that share the two starts; the result does not depend on it.
    """

    section: ClassVar[str] = "judge_rl"
    start: str = "models/judge_sft"
    form_steps: int = Field(default=45, ge=1)
    pairing: Literal["index", "all", "mean"] = "all"
    tie: float = Field(default=0.0, ge=0, le=1)
    contested_share: float = Field(default=0.75, ge=0, le=1)
    steps: int = Field(default=12, ge=1)
    questions: int = Field(default=16, ge=2)
    temperature: float = Field(default=1.3, gt=0)
    rollout_chunks: int = Field(default=1, ge=1)
    max_tokens: int = Field(default=24, ge=1)
    workers: int = Field(default=1, ge=1)

    @model_validator(mode="after")
    def _whole_pairs(self) -> Self:
        if self.questions % (2 * self.rollout_chunks):
            raise ValueError("questions must be an even number for each of rollout_chunks")
        return self
