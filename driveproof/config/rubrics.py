"""Parameters of the stage ``rubrics``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from driveproof.config.base import Section


class RubricsParams(Section):
    """Section ``rubrics`` of params.yaml.

    ``generator`` is "offline" (from facts that are visible in the history) or ``openai:URL#MODEL``, a vision-language model; what follows
    counts for the latter alone: ``style`` and ``frames`` say what it is shown.
    """

    generator: str = "offline"
    style: Literal["full", "compact"] = "full"
    frames: int = Field(default=4, ge=0, le=4)
    temperature: float = Field(default=0.7, ge=0.0)
    top_p: float = Field(default=0.95, gt=0.0, le=1.0)
    max_tokens: int = Field(default=1500, ge=1)
    timeout_s: float = Field(default=120.0, gt=0.0)
    attempts: int = Field(default=4, ge=1)
    concurrency: int = Field(default=8, ge=1)
