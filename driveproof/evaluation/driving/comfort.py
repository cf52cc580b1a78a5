"""Comfort: the share of short windows of a drive in which nothing is felt too much.

Source: Bench2Drive's smoothness, after nuPlan's comfort: a window passes if six quantities, smoothed and
differentiated by a Savitzky-Golay filter, stay within bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import savgol_filter

from driveproof.evaluation.driving.motion import Motion
from driveproof.geometry.arrays import Bool, Float

WINDOW = 20
"""Samples of a window; incomplete ones at the end are dropped."""
FILTER, ORDER = 7, 2
"""Samples and order of the filter."""
PEER_DT = 0.1
"""Seconds between samples, as the published program takes for granted."""
LON_ACCEL = (-4.05, 2.40)
"""m/s2, both excluded, as all bounds."""
LAT_ACCEL, JERK, LON_JERK, YAW_ACCEL, YAW_RATE = 4.89, 8.37, 4.13, 1.93, 0.95
"""m/s2, m/s3, m/s3, rad/s2, rad/s; of absolute values."""


@dataclass(frozen=True)
class Felt:
    """The six quantities over windows, ``[W, S]``; SI units, jerk is that of the size of the acceleration."""

    lon_accel: Float
    lat_accel: Float
    jerk: Float
    lon_jerk: Float
    yaw_accel: Float
    yaw_rate: Float

    @property
    def passes(self) -> Bool:
        """``[W]`` whether a window stays within all bounds."""
        inside = (self.lon_accel > LON_ACCEL[0]) & (self.lon_accel < LON_ACCEL[1])
        bounded = (
            (self.lat_accel, LAT_ACCEL),
            (self.jerk, JERK),
            (self.lon_jerk, LON_JERK),
            (self.yaw_accel, YAW_ACCEL),
            (self.yaw_rate, YAW_RATE),
        )
        for values, bound in bounded:
            inside &= np.abs(values) < bound
        return np.asarray(inside.all(axis=1))


def peer_comfort(motion: Motion) -> float | None:
    """Percentage of passing windows as Bench2Drive computes it; None without a whole window.

    Twenty samples taken for two seconds whatever the clock says, and the yaw rate, smoothed but never
    differentiated, held against the bound of the yaw acceleration.
    """
    felt = _felt(motion.accel_lon, motion.accel_lat, motion.yaw_rate, PEER_DT, WINDOW, FILTER)
    return None if felt is None else _percentage(_undifferentiated(felt))


def corrected_comfort(motion: Motion) -> float | None:
    """Percentage of passing windows of two seconds; None without a whole window.

    The time between samples comes from the time stamps, the filter spans the 0.6 s that it spans at 10 Hz, and
    the yaw acceleration is differentiated. Uneven samples are interpolated to their median distance.
    """
    if len(motion) < 2:
        return None
    steps = np.diff(motion.time)
    dt = float(np.median(steps))
    lon, lat, yaw = motion.accel_lon, motion.accel_lat, motion.yaw_rate
    if (np.abs(steps - dt) > 0.01 * dt).any():
        even = np.arange(motion.time[0], motion.time[-1] + dt / 2.0, dt)
        lon, lat, yaw = (np.interp(even, motion.time, values) for values in (lon, lat, yaw))
    samples = max(round(WINDOW * PEER_DT / dt), ORDER + 1)
    width = 2 * round((FILTER - 1) / 2 * PEER_DT / dt) + 1
    felt = _felt(lon, lat, yaw, dt, samples, max(width, ORDER + 1 + ORDER % 2))
    return None if felt is None else _percentage(felt)


def _felt(lon: Float, lat: Float, yaw: Float, dt: float, window: int, width: int) -> Felt | None:
    """The quantities in whole windows of ``window`` samples ``dt`` seconds apart; None if there is none."""
    whole = len(lon) // window
    if whole == 0:
        return None
    lon, lat, yaw = (values[: whole * window].reshape(whole, window) for values in (lon, lat, yaw))
    width = min(width, window - (window + 1) % 2)  # odd, and no wider than the window

    def smooth(values: Float, derivative: int = 0) -> Float:
        found = savgol_filter(values, width, ORDER, deriv=derivative, delta=dt, axis=1)
        return np.asarray(found, dtype=np.float64)

    return Felt(
        lon_accel=smooth(lon),
        lat_accel=smooth(lat),
        jerk=smooth(np.hypot(lon, lat), 1),
        lon_jerk=smooth(lon, 1),
        yaw_accel=smooth(yaw, 1),
        yaw_rate=smooth(yaw),
    )


def _undifferentiated(felt: Felt) -> Felt:
    return Felt(
        felt.lon_accel, felt.lat_accel, felt.jerk, felt.lon_jerk, felt.yaw_rate, felt.yaw_rate
    )


def _percentage(felt: Felt) -> float:
    return 100.0 * float(felt.passes.mean())
