"""Parameters of the stage ``sft``."""

from __future__ import annotations

from driveproof.config.base import Section


class SftParams(Section):
    """Section ``sft`` of params.yaml."""
