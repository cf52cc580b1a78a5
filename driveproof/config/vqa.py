"""Parameters of the stage ``vqa``."""

from __future__ import annotations

from pydantic import Field

from driveproof.config.base import Section


class VqaParams(Section):
    """Section ``vqa`` of params.yaml: which frames of the recorded clips the expert comments on."""

    every: int = Field(default=10, ge=1)
    """Every so many frames (a tenth of a second each) are written; all are read, for signs are remembered."""
    baseline_every: int = Field(default=1, ge=1)
    """Every so many of these are scored for the baselines."""
    workers: int = Field(default=2, ge=1)
    """Processes; the bytes do not depend on it."""
