"""Parameters of the stages ``vqa``, ``vqa_sft`` and ``vqa_evaluate``."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from driveproof.config.base import Section
from driveproof.config.sft import TinyParams, TuningParams


class VqaParams(Section):
    """Section ``vqa`` of params.yaml: which frames of the recorded clips the expert comments on."""

    every: int = Field(default=10, ge=1)
    """Every so many frames (a tenth of a second each) are written; all are read, for signs are remembered."""
    baseline_every: int = Field(default=1, ge=1)
    """Every so many of these are scored for the baselines."""
    workers: int = Field(default=2, ge=1)
    """Processes; the bytes do not depend on it."""


Shown = Literal["text", "camera"]


class VqaSftParams(TuningParams):
    """Section ``vqa_sft`` of params.yaml; see :class:`TuningParams` for the rest.

    Attributes
    ----------
    modes
        What models are shown, a model each: a list of actors in words (``text``), or the picture of the front camera
        (``camera``); and how many batches each is trained with.
    questions
        Numbers of the questions that are taught: the action in keys (50) and in words (43), and what the paper's example
        of reasoning asks before.
    focus_share
        Share of the lessons that are about question 50, whose answer drives; the others share the rest evenly.
    balance, standing_balance
        0 draws every kind of answer to question 50 equally often, 1 as often as it was recorded; the second where the ego
        stands. Other questions are answered as often as recorded.
    other_speed_share, other_speed_every
        Share of the lessons that depend on the ego's speed in which it is not the recorded one and the expert is asked
        anew; of every so many moments.
    every
        Every so many moments of a clip are taught.
    workers
        Models trained at a time; the bytes do not depend on it.
    """

    section: ClassVar[str] = "vqa_sft"
    tiny: TinyParams = TinyParams(hidden=96, layers=3, vision_hidden=32, vision_layers=1)
    modes: dict[Shown, Annotated[int, Field(ge=1)]] = Field(
        default={"text": 500, "camera": 320}, min_length=1
    )
    questions: tuple[int, ...] = Field(default=(50, 43, 8, 13, 47, 24, 7, 15, 19), min_length=1)
    focus_share: float = Field(default=0.5, ge=0, le=1)
    balance: float = Field(default=0.8, ge=0, le=1)
    standing_balance: float = Field(default=0.2, ge=0, le=1)
    other_speed_share: float = Field(default=0.5, ge=0, le=1)
    other_speed_every: int = Field(default=3, ge=1)
    every: int = Field(default=1, ge=1)
    workers: int = Field(default=2, ge=1)


class VqaEvaluateParams(Section):
    """Section ``vqa_evaluate`` of params.yaml.

    Attributes
    ----------
    every
        Every so many recorded moments of the held-out clips are asked all questions.
    keys_every
        The same for question 50, of which the agreement with the expert is measured.
    max_tokens
        Longest answer.
    batch_size, threads
        Of the models.
    workers
        Models asked at a time; the result does not depend on it.
    """

    every: int = Field(default=8, ge=1)
    keys_every: int = Field(default=2, ge=1)
    max_tokens: int = Field(default=48, ge=1)
    batch_size: int = Field(default=64, ge=1)
    threads: int = Field(default=1, ge=0)
    workers: int = Field(default=2, ge=1)
