"""Parameters of the stage ``drive``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from driveproof.config.base import Section


class DriveParams(Section):
    """Section ``drive`` of params.yaml: a small closed loop, the same routes for every policy.

    Attributes
    ----------
    suite
        Route file.
    policies
        Who drives, as ``driveproof drive --policy`` takes them.
    limit
        At most so many routes; None for all.
    repeats
        Drives of each route.
    rate_hz
        Decisions a second of simulated time.
    truth
        Whether the expert's answers are noted beside the policies' and these are scored.
    record
        What is kept of an episode beside its record and the motion table; see ``docs/drive.md``.
    front_width, front_height
        Pixels of the front camera, as in ``collect``.
    attempts
        Crashes after which the stage gives up.
    workers
        Embedded servers; the result does not depend on it.
    """

    suite: str = "suites/smoke.xml"
    policies: tuple[str, ...] = Field(
        default=(
            "expert",
            "constant_velocity:6",
            "random",
            "transformers:models/vqa_sft/text",
            "transformers:models/vqa_sft/camera",
        ),
        min_length=1,
    )
    limit: Annotated[int | None, Field(ge=1)] = None
    repeats: Annotated[int, Field(ge=1, le=100)] = 1
    rate_hz: Annotated[float, Field(ge=0.1, le=20.0)] = 2.0
    truth: bool = True
    record: Literal["none", "decisions", "failures", "all"] = "decisions"
    front_width: Annotated[int, Field(ge=8, le=4096)] = 224
    front_height: Annotated[int, Field(ge=8, le=4096)] = 128
    attempts: Annotated[int, Field(ge=1, le=100)] = 5
    workers: Annotated[int, Field(ge=1, le=64)] = 2
