"""Scenes as questions need them: without other road users and signals, which are long to read."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from driveproof.errors import BadInput
from driveproof.scene import Command, ImageRef, Scene, read_columns

_COLUMNS = (
    *("record_key", "scene_key", "source", "situation", "timestamp_s", "command"),
    *("velocity", "acceleration", "history", "future", "cameras"),
)


def read_moments(directory: str | Path) -> list[Scene]:
    """The scenes of a table with ``agents``, ``signals`` and map fields left empty."""
    table: pa.Table = read_columns(directory, list(_COLUMNS))
    scenes: list[Scene] = []
    for row in table.to_pylist():
        cameras = row.pop("cameras")
        try:
            images = {
                entry["camera"]: tuple(ImageRef.parse(r) if r else None for r in entry["refs"])
                for entry in cameras
            }
            scenes.append(Scene(**{**row, "command": Command(row["command"])}, images=images))
        except (ValueError, TypeError) as error:
            raise BadInput(str(error), path=directory, field=row["record_key"]) from None
    return scenes
