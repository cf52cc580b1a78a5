"""Parameters of the stage ``mcq``."""

from __future__ import annotations

from driveproof.config.base import Section


class McqParams(Section):
    """Section ``mcq`` of params.yaml."""
