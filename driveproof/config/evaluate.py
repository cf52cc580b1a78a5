"""Parameters of the stage ``evaluate``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from driveproof.config.base import Section


class EvaluateParams(Section):
    """Section ``evaluate`` of params.yaml.

    ``policies`` are specifications (``driveproof policy list``); those that talk are asked in every one of
    ``modes`` and, in DEFT, once more with each of ``pictures``. ``style`` (with ``decimals``, ``frames`` and ``waypoint_every``)
    must be the style that the model was trained with. ``max_tokens`` limits each DEFT turn; JEFT has twice as
    many. ``picture_repeats`` and ``grid_repeats`` replace ``repeats`` for the picture ablations and the
    difficulty grid; 0 leaves the grid out. ``max_items`` questions are drawn if there are more, likewise
    ``max_grid_records`` records of the grid, each in all of its cells. More than one of ``threads`` pays on idle
    cores only; 0 leaves the number to the model's library. ``cfs`` judges the reasons: "offline" (against the facts of the
    scene), ``openai:URL#MODEL`` (a vision-language model against the pictures) or "off". ``workers`` are processes that share
    the runs, each with the model that it asks; the result does not depend on how many there are.
    """

    policies: tuple[str, ...] = ("transformers:models/sft",)
    baselines: tuple[str, ...] = ("constant_velocity", "random", "oracle")
    modes: tuple[Literal["deft", "jeft"], ...] = ("deft", "jeft")
    pictures: tuple[Literal["other", "none"], ...] = ("other",)
    style: Literal["full", "compact"] = "compact"
    decimals: int = Field(default=0, ge=0, le=6)
    frames: int = Field(default=1, ge=0, le=4)
    waypoint_every: Literal[1, 2, 5, 10] = 5
    repeats: int = Field(default=8, ge=1)
    picture_repeats: int = Field(default=2, ge=1)
    grid_repeats: int = Field(default=1, ge=0)
    cfs: str = "offline"
    temperature: float = Field(default=0.6, ge=0.0)
    top_p: float = Field(default=0.95, gt=0.0, le=1.0)
    max_tokens: int = Field(default=96, ge=1)
    max_items: int = Field(default=150, ge=1)
    max_grid_records: int = Field(default=12, ge=1)
    batch_size: int = Field(default=32, ge=1)
    threads: int = Field(default=1, ge=0)
    timeout_s: float = Field(default=120.0, gt=0.0)
    attempts: int = Field(default=4, ge=1)
    concurrency: int = Field(default=8, ge=1)
    workers: int = Field(default=1, ge=1)
