"""Clips in closed form: values of the rules, no pictures unless asked for."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from driveproof.judge import Clip
from driveproof.rules import RULES
from driveproof.scene import ImageRef

KEPT = {code: (None if code == "EC" else 1.0) for code in RULES}
"""All rules kept; EC unjudged, as in one-stage scoring."""


def rules(**changed: float | None) -> dict[str, float | None]:
    return {**KEPT, **changed}


def clip(key: str = "drive/0/a", label: bool | None = None, **changed: float | None) -> Clip:
    setting = key.rpartition("/")[0]
    return Clip(
        key=key,
        setting=setting,
        place=setting,
        split="test",
        plan=np.zeros((10, 3)),
        size=(4.7, 2.0),
        rules=rules(**changed),
        epdms=1.0,
        label=label,
        label_source="" if label is None else "scripted",
    )


def picture(folder: Path, name: str, colour: tuple[int, int, int], size: int = 32) -> ImageRef:
    """A square of one RGB colour."""
    pixels = np.full((size, size, 3), colour, np.uint8)
    cv2.imwrite(str(folder / name), cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))
    return ImageRef(name)
