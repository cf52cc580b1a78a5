"""Parameters of the stage ``report``."""

from __future__ import annotations

from pydantic import Field

from driveproof.config.base import Section


class ReportParams(Section):
    """Section ``report`` of params.yaml."""

    example: str = ""
    """Record key of the test question that is shown; "" for the first that has pictures."""
    bev_px: int = Field(default=420, ge=64, le=2000)
    """Edge of the example's view from above, pixels."""
