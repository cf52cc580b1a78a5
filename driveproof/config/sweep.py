"""Parameters of the stage ``sweep``."""

from __future__ import annotations

from driveproof.config.base import Section


class SweepParams(Section):
    """Section ``sweep`` of params.yaml."""
