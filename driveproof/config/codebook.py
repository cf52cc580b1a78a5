"""Parameters of the stage ``codebook``."""

from __future__ import annotations

from driveproof.config.base import Section


class CodebookParams(Section):
    """Section ``codebook`` of params.yaml."""
