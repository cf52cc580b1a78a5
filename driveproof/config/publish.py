"""Parameters of the stage ``publish``."""

from __future__ import annotations

from driveproof.config.base import Section


class PublishParams(Section):
    """Section ``publish`` of params.yaml."""
