"""Parameters of rewards, a part of whatever section trains with them."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from driveproof.config.base import Section


class AxisWeights(Section):
    """Weights of the four axes of the shared rubric (DEFT-RLVR, equation 16; the paper's values are lost)."""

    grounding: float = Field(default=1.0, ge=0)
    no_hallucination: float = Field(default=1.0, ge=0)
    specificity: float = Field(default=1.0, ge=0)
    coherence: float = Field(default=1.0, ge=0)

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not (self.grounding or self.no_hallucination or self.specificity or self.coherence):
            raise ValueError("at least one weight must be positive")
        return self


class RewardParams(Section):
    """How rollouts are paid beyond the exact choice; see docs/rewards.md.

    ``exact_share`` of the reward of a correct answer is sure, the rest is the process score. ``grader`` is "offline" or
    ``openai:URL#MODEL`` and grades instance rubrics or, for the shared rubric, judges the four axes by ``weights``; ``attempts`` is
    how often a request or an unreadable reply is tried, ``concurrency`` how many gradings are under way at once, ``max_tokens``
    limits a model's decision.
    """

    exact_share: float = Field(default=0.5, ge=0.0, le=1.0)
    grader: str = "offline"
    weights: AxisWeights = AxisWeights()
    timeout_s: float = Field(default=60.0, gt=0.0)
    attempts: int = Field(default=3, ge=1)
    concurrency: int = Field(default=8, ge=1)
    max_tokens: int = Field(default=400, ge=1)
