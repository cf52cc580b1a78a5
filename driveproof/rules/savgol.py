"""Savitzky-Golay filters as constant matrices, and the signals that both comfort rules share."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.signal import savgol_filter

from driveproof.geometry.arrays import Float
from driveproof.rules.states import AX, AY, DT, HEADING

DECIMALS = 8
"""Decimals to which the reference rounds every signal."""


@lru_cache(maxsize=64)
def _operator(count: int, window: int, order: int, derivative: int) -> Float:
    """Matrix ``[count, count]`` of scipy's filter (mode "interp") on ``count`` samples at 0.1 s."""
    window = min(window, count)
    unit = np.eye(count)
    return np.asarray(
        savgol_filter(unit, window, order, deriv=derivative, delta=DT, axis=0), np.float64
    )


def smooth(signal: Float, window: int, order: int, derivative: int = 0) -> Float:
    """Filtered signal ``[..., T]`` or its time derivative, rounded to 8 decimals.

    An even window of 8 behaves as scipy's does: it fits i-3 … i+4 and evaluates at i + 0.5.
    """
    operator = _operator(signal.shape[-1], window, order, derivative)
    return np.round(signal @ operator.T, DECIMALS)


def acceleration_size(states: Float) -> Float:
    """Filtered size ``[..., T]`` of the rear axle's acceleration, m/s²."""
    return smooth(np.hypot(states[..., AX], states[..., AY]), 8, 2)


def jerk(acceleration: Float) -> Float:
    """Jerk ``[..., T]`` of a filtered acceleration, m/s³."""
    return smooth(acceleration, 15, 2, 1)


def _course(states: Float) -> Float:
    """Unwrapped heading ``[..., T]``, rad."""
    return np.asarray(np.unwrap(states[..., HEADING], axis=-1), np.float64)


def yaw_rate(states: Float) -> Float:
    """Yaw rate ``[..., T]`` from the unwrapped heading, rad/s."""
    return smooth(_course(states), 5, 2, 1)


def yaw_acceleration(states: Float, order: int) -> Float:
    """Yaw acceleration ``[..., T]`` from the unwrapped heading with a polynomial of ``order``, rad/s²."""
    return smooth(_course(states), 5, order, 2)
