"""Parameters of the stage ``mcq``. The paper's values of most are lost; docs/mcq.md says how ours were measured."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from driveproof.config.base import Section


class Band(Section):
    """Similarities ``[low, high]`` to the oracle within which every distractor lies (equations 3 and 12)."""

    low: float = Field(default=0.30, ge=0, le=1)
    high: float = Field(default=0.95, ge=0, lt=1)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low >= self.high:
            raise ValueError("low must be below high")
        return self


class ClassParams(Section):
    """Thresholds of the ordered classes (table 8); speeds in m/s, angles in radians."""

    min_speed: float = Field(default=2.0, ge=0)
    """Below this current speed a scene is ``low_speed``."""
    min_speed_by_source: dict[str, float] = Field(default_factory=dict)
    """Overrides by source, as the paper has for its two corpora."""
    stop_from_speed: float = Field(default=3.0, ge=0)
    stop_speed: float = Field(default=0.5, ge=0)
    """``stop_from_motion``: current speed at least ``stop_from_speed``, final speed at most this."""
    brake_from_speed: float = Field(default=5.0, ge=0)
    brake_ratio: float = Field(default=0.6, gt=0, lt=1)
    """``hard_brake``: current speed at least ``brake_from_speed``, braking ratio at most this."""
    turn_rad: float = Field(default=0.6, gt=0)
    """``sharp_turn``: net heading change of the logged future at least this."""


class GridParams(Section):
    """The difficulty grid of appendix D.7: options M (with the oracle) x upper bounds of the band."""

    options: tuple[int, ...] = (2, 4, 6, 8, 10)
    highs: tuple[float, ...] = (0.50, 0.70, 0.85, 0.95)
    low: float = Field(default=0.0, ge=0, le=1)


class McqParams(Section):
    """Section ``mcq`` of params.yaml."""

    train_band: Band = Band()
    eval_band: Band = Band()
    scale_tolerance: float = Field(default=0.25, gt=0)
    """Largest |s_k - s_o| / s_o of a scale-matched distractor."""
    distractors: int = Field(default=5, ge=1, le=25)
    scale_matched: int = Field(default=2, ge=0)
    max_train: int | None = Field(default=None, ge=1)
    """Train questions, drawn from all train scenes; None for all."""
    top_per_class: int = Field(default=40, ge=1)
    """Dev: scenes kept for each source and class; test: for each source, class and direction."""
    classes: ClassParams = ClassParams()
    grid: GridParams = GridParams()

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.scale_matched + 1 > self.distractors:
            raise ValueError("scale_matched leaves no place for the constant-velocity distractor")
        return self
