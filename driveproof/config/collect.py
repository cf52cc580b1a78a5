"""Parameters of the stage ``collect``."""

from __future__ import annotations

from driveproof.config.base import Section


class CollectParams(Section):
    """Section ``collect`` of params.yaml."""
