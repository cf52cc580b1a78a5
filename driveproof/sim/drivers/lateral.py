"""Lateral plans: where beside its path a vehicle wants to be, as a smooth function of arc length."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import overload

import numpy as np

from driveproof.geometry.arrays import Float


class Purpose(StrEnum):
    """What a lateral plan is for."""

    PASS = "pass"
    """Around something that stands or crawls."""
    HOLD = "hold"
    """Stay in a lane until there is a gap in the one that the path changes to."""
    ASIDE = "aside"
    """Make room for somebody, within the lane or beside it."""


@dataclass(frozen=True)
class LateralPlan:
    """From ``start`` metres left to ``offset`` between ``begin`` and ``full``, back to 0 from ``leave`` to ``end``.

    Arc lengths in metres; the transitions are cubic smoothsteps (no jump in position or direction).
    ``speed`` is what may be driven beside that for which it is made (m/s), ``limit`` where the front bumper
    has to wait as long as the way back is not free.
    """

    offset: float
    begin: float
    full: float
    leave: float
    end: float
    agent_id: int | None = None
    start: float = 0.0
    purpose: Purpose = Purpose.PASS
    speed: float = math.inf
    limit: float = math.inf

    @overload
    def at(self, s: float) -> float: ...
    @overload
    def at(self, s: Float) -> Float: ...
    def at(self, s: float | Float) -> float | Float:
        """Offset at arc length ``s`` (any shape) of the path, m."""
        up = smoothstep(s, self.begin, self.full)
        down = smoothstep(s, self.leave, self.end)
        return (self.start + (self.offset - self.start) * up) * (1.0 - down)


@overload
def smoothstep(s: float, begin: float, end: float) -> float: ...
@overload
def smoothstep(s: Float, begin: float, end: float) -> Float: ...
def smoothstep(s: float | Float, begin: float, end: float) -> float | Float:
    """0 before ``begin``, 1 after ``end``, 3 t² - 2 t³ between."""
    if isinstance(s, np.ndarray):
        t = np.clip((s - begin) / max(end - begin, 1e-3), 0.0, 1.0)
        return np.asarray(t * t * (3.0 - 2.0 * t))
    share = min(max((s - begin) / max(end - begin, 1e-3), 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)
