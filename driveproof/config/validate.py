"""Parameters of the stage ``validate``."""

from __future__ import annotations

from driveproof.config.base import Section


class ValidateParams(Section):
    """Section ``validate`` of params.yaml."""
