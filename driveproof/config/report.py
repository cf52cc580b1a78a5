"""Parameters of the stage ``report``."""

from __future__ import annotations

from driveproof.config.base import Section


class ReportParams(Section):
    """Section ``report`` of params.yaml."""
