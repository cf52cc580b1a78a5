"""Parameters of the stage ``scenes``."""

from __future__ import annotations

from driveproof.config.base import Section


class ScenesParams(Section):
    """Section ``scenes`` of params.yaml."""
