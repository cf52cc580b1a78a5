"""How the ego moves along a place: a speed over time and an offset from the lane's centre over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.judge.scripted.places import Place
from driveproof.scene import FUTURE_TIMES, HISTORY_TIMES

_STEP = 0.05
GRID: Float = np.asarray(np.arange(0.0, 5.0 + _STEP / 2, _STEP), np.float64)
"""Seconds at which motions are integrated."""


@dataclass(frozen=True)
class Motion:
    """Speed [m/s] and offset [m, left positive] of the rear axle at :data:`GRID`; both start as the past was."""

    speed: Float
    offset: Float

    def plan(self, place: Place) -> Float:
        """World poses ``[10, 3]`` at ``FUTURE_TIMES``."""
        mean = (self.speed[1:] + self.speed[:-1]) / 2.0
        s = np.concatenate([[0.0], np.cumsum(mean * _STEP)])
        aside = np.gradient(self.offset, _STEP)
        turn = np.arctan2(aside, np.maximum(self.speed, 1.0))
        at = np.searchsorted(GRID, FUTURE_TIMES - 1e-9)
        return place.poses(s[at], self.offset[at], turn[at])


def history(place: Place, speed: float) -> Float:
    """World poses ``[4, 3]`` at ``HISTORY_TIMES`` of an ego that kept to its lane at ``speed`` m/s."""
    return place.poses(speed * HISTORY_TIMES, np.zeros(len(HISTORY_TIMES)))


def steady(speed: float) -> Float:
    """The speed stays."""
    return np.full(len(GRID), speed)


def slowing(speed: float, to: float, rate: float, start: float = 0.0, ease: float = 0.8) -> Float:
    """From ``speed`` down to ``to`` at ``rate`` m/s² from ``start`` s on; the brake is applied within ``ease`` s."""
    pressed = np.clip((GRID - start) / max(ease, _STEP), 0.0, 1.0)
    lost = np.concatenate([[0.0], np.cumsum((pressed[1:] + pressed[:-1]) / 2.0) * _STEP]) * rate
    return np.maximum(speed - lost, min(to, speed))


def gaining(speed: float, rate: float, ease: float = 0.2) -> Float:
    """Faster by ``rate`` m/s², which is reached within ``ease`` s."""
    pressed = np.clip(GRID / max(ease, _STEP), 0.0, 1.0)
    gained = np.concatenate([[0.0], np.cumsum((pressed[1:] + pressed[:-1]) / 2.0) * _STEP]) * rate
    return np.asarray(speed + gained, np.float64)


def centred() -> Float:
    """Offset zero."""
    return np.zeros(len(GRID))


def shift(to: float, start: float = 0.0, over: float = 2.0) -> Float:
    """A smooth step to ``to`` metres within ``over`` seconds."""
    return to * _smooth((GRID - start) / over)


def bump(to: float, start: float, over: float, hold: float) -> Float:
    """A smooth step to ``to`` metres, ``hold`` seconds there, and back."""
    back = start + over + hold
    return to * (_smooth((GRID - start) / over) - _smooth((GRID - back) / over))


def _smooth(share: Float) -> Float:
    share = np.clip(share, 0.0, 1.0)
    return np.asarray(share**3 * (10.0 - 15.0 * share + 6.0 * share**2), np.float64)
