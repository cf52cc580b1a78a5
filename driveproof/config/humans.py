"""Parameters of the stage ``humans``: which real logs are scored with their own drivers as proposals."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from driveproof.config.base import Section


class LogFiles(Section):
    """Logs of one format: ``paths`` are files or folders, ``reader`` a name of `driveproof scenes formats`."""

    reader: str = "auto"
    paths: tuple[str, ...] = Field(min_length=1)


class HumansParams(Section):
    """Section ``humans`` of params.yaml.

    ``logs`` by the name the report gives them; none by default, since real logs come with licences of their own.
    ``drawings`` is how many of the worst moments of each are drawn; ``stride_s`` seconds lie between moments.
    """

    logs: dict[str, LogFiles] = Field(default={})
    drawings: int = Field(default=5, ge=0)
    stride_s: float = Field(default=0.5, ge=0.1)
    variant: Literal["navsim", "corrected"] = "navsim"
