"""Parameters of the stage ``evaluate``."""

from __future__ import annotations

from driveproof.config.base import Section


class EvaluateParams(Section):
    """Section ``evaluate`` of params.yaml."""
