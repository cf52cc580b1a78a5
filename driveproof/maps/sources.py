"""Where the OpenDRIVE files of the towns come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def list_towns(directory: str | Path = "data/maps") -> dict[str, Path]:
    """Town names and their OpenDRIVE files (``.xodr`` or ``.xodr.gz``); own files win over the package's."""
    raise NotImplementedError


def find_town(name: str, directory: str | Path = "data/maps", client: Any = None) -> str:
    """The OpenDRIVE text of a town; :class:`~driveproof.errors.MissingMap` names where it looked."""
    raise NotImplementedError
