"""Parameters of the stages ``judge`` (scripted data), ``judge_sft`` (training) and ``judge_evaluate`` (benches)."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from driveproof.config.base import Section
from driveproof.config.sft import TinyParams, TuningParams


class UnitCounts(Section):
    """Units a topic in each split; a unit is a pair of twin settings with two to five clips."""

    train: int = Field(default=28, ge=1)
    test: int = Field(default=14, ge=1)


class PlaceShares(Section):
    """Shares of places; a place is in one split only."""

    train: float = Field(default=0.65, gt=0)
    test: float = Field(default=0.35, gt=0)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if abs(self.train + self.test - 1.0) > 1e-9:
            raise ValueError("the shares must sum to one")
        return self


class FrameParams(Section):
    """Pixels of a frame: its height, the widths of the front view and of the map; metres ahead and behind."""

    height: int = Field(default=96, ge=32, le=1024)
    front_width: int = Field(default=96, ge=32, le=2048)
    bev_width: int = Field(default=64, ge=32, le=1024)
    ahead: float = Field(default=34.0, gt=0, le=100)
    behind: float = Field(default=8.0, ge=0, le=50)


class JudgeParams(Section):
    """Section ``judge`` of params.yaml.

    ``towns`` are where scripted behaviour is set; ``thresholds`` those of equation 10 by criterion, by default the
    paper's (appendix B.1); ``variant`` is the reading of the rules; ``quality`` that of the
    JPEGs; the result does not depend on ``workers``.
    """

    towns: tuple[str, ...] = Field(
        default=("Town01", "Town02", "Town03", "Town05", "Town10HD"), min_length=1
    )
    units: UnitCounts = UnitCounts()
    shares: PlaceShares = PlaceShares()
    picture: FrameParams = FrameParams()
    thresholds: dict[str, float] = Field(
        default={
            "LK": 0.7, "DDC": 0.7, "DAC": 0.4, "TTC": 0.9, "NC": 0.9, "EP": 0.5, "COMFORT": 0.6,
        }
    )  # fmt: skip
    variant: Literal["navsim", "corrected"] = "navsim"
    quality: int = Field(default=90, ge=10, le=100)
    workers: int = Field(default=2, ge=1)


class JudgeSftParams(TuningParams):
    """Section ``judge_sft`` of params.yaml; see :class:`TuningParams` for the rest.

    Attributes
    ----------
    gate_steps, score_steps
        Batches that teach gates (equation 11) and, for the fine-tuned direct score, the label itself; interleaved.
    waived_share
        Share of gate examples drawn from clips in which some criterion is waived, evenly over kinds of behaviour.
    style, frames
        How the model is asked, as in ``judge_evaluate``.
    """

    section: ClassVar[str] = "judge_sft"
    tiny: TinyParams = TinyParams(hidden=96, layers=2, vision_hidden=32, vision_layers=1)
    gate_steps: int = Field(default=360, ge=1)
    score_steps: int = Field(default=110, ge=0)
    waived_share: float = Field(default=0.5, ge=0, le=1)
    style: Literal["full", "compact"] = "compact"
    frames: int = Field(default=4, ge=1, le=4)


class JudgeEvaluateParams(Section):
    """Section ``judge_evaluate`` of params.yaml.

    Attributes
    ----------
    judges, zero_shot
        Policies (``driveproof policy list``) asked for gates and for scores: those trained on the task, and others.
    style, frames, repeats, temperature, top_p, max_tokens
        How they are asked; several repeats make gates soft and scores finer.
    empty, hard_gates, shared, unasked
        Reading of equation 14, see :class:`driveproof.judge.score.Reading`.
    cuts
        Scores above which driving counts as reasonable, of the accuracies.
    components
        Principal components of the pictures that the classifier baselines see.
    max_settings
        Test settings whose clips are judged; drawn if there are more.
    explain
        How many verdicts are drawn.
    """

    judges: tuple[str, ...] = ("transformers:models/judge_sft",)
    zero_shot: tuple[str, ...] = ()
    style: Literal["full", "compact"] = "compact"
    frames: int = Field(default=4, ge=1, le=4)
    repeats: int = Field(default=1, ge=1)
    temperature: float = Field(default=0.0, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    max_tokens: int = Field(default=24, ge=1)
    empty: Literal["one", "ungated", "unscored"] = "one"
    hard_gates: bool = False
    shared: bool = False
    unasked: bool = True
    cuts: tuple[float, ...] = (0.7, 0.8, 0.9)
    components: int = Field(default=100, ge=1)
    max_settings: int = Field(default=400, ge=1)
    explain: int = Field(default=3, ge=0)
    batch_size: int = Field(default=64, ge=1)
    threads: int = Field(default=1, ge=0)
    timeout_s: float = Field(default=120.0, gt=0)
    attempts: int = Field(default=4, ge=1)
    concurrency: int = Field(default=8, ge=1)
