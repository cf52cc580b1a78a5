"""Parameters of the stage ``scenes``."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from driveproof.config.base import Section


class SplitFractions(Section):
    """Shares of drives; they sum to one."""

    train: float = Field(default=0.7, ge=0.0, le=1.0)
    dev: float = Field(default=0.1, ge=0.0, le=1.0)
    test: float = Field(default=0.2, ge=0.0, le=1.0)

    @model_validator(mode="after")
    def _sum_to_one(self) -> Self:
        if abs(self.train + self.dev + self.test - 1.0) > 1e-9:
            raise ValueError("train, dev and test must sum to 1")
        return self


class ScenesParams(Section):
    """Section ``scenes`` of params.yaml.

    ``format`` is one of ``driveproof scenes formats``. ``stride_s`` is the distance between moments of
    decision in one drive; a moment is rejected at a gap above ``max_gap_s`` or a motion above
    ``max_speed`` (m/s) or ``max_yaw_rate`` (rad/s). ``workers`` does not change the result.
    """

    format: str = "bench2drive"
    stride_s: float = Field(default=0.5, gt=0.0)
    max_gap_s: float = Field(default=0.6, gt=0.0)
    max_speed: float = Field(default=60.0, gt=0.0)
    max_yaw_rate: float = Field(default=2.5, gt=0.0)
    agent_step_s: float = Field(default=0.5, gt=0.0)
    skip_bad: bool = False
    workers: int = Field(default=2, ge=1)
    split: SplitFractions = SplitFractions()
