"""EC, extended comfort: this frame's motion agrees with that planned half a second ago.

Weight 2, new in EPDMS. Source: NAVSIM's ego_is_two_frame_extended_comfort.
"""

from __future__ import annotations

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.rules.result import RuleResult, judged, unjudged
from driveproof.rules.savgol import acceleration_size, jerk, yaw_acceleration, yaw_rate
from driveproof.rules.states import DT

SIGNALS = ("acceleration", "jerk", "yaw_rate", "yaw_accel")
LIMITS = np.array([0.7, 0.5, 0.1, 0.1])
"""Largest root mean square difference of each signal; reaching it is still fine."""
LONGEST_GAP = 0.55


def _signals(states: Float) -> Float:
    acceleration = acceleration_size(states)
    parts = [acceleration, jerk(acceleration), yaw_rate(states), yaw_acceleration(states, 2)]
    return np.stack(parts, axis=1)


def frame_difference(now: Float, previous: Float, gap: float) -> Float:
    """Root mean square differences ``[N, 4]`` between states ``[N, 41, 11]`` of two frames ``gap`` seconds apart.

    Raises
    ------
    ValueError
        Unless 0 < gap < 0.55 s.
    """
    if not 0.0 < gap < LONGEST_GAP:
        raise ValueError(f"the frames must be less than {LONGEST_GAP} s apart, got {gap:g}")
    shift = round(gap / DT)
    if shift == 0:
        raise ValueError(f"the frames must be at least one step of {DT} s apart, got {gap:g}")
    difference = _signals(now[:, :-shift]) - _signals(previous[:, shift:])
    return np.asarray(np.sqrt((difference**2).mean(-1)), np.float64)


def extended_comfort(now: Float, previous: Float | None, gap: float) -> RuleResult:
    """EC of states ``now`` ``[N, 41, 11]`` against ``previous`` of the frame ``gap`` seconds ago; unjudged without it."""
    if previous is None:
        return unjudged(len(now), "there is no previous frame")
    rms = frame_difference(now, previous, gap)
    fine = rms <= LIMITS
    reasons = [
        "agrees with the previous plan"
        if row.all()
        else "differs from the previous plan in "
        + ", ".join(name for name, ok in zip(SIGNALS, row, strict=True) if not ok)
        for row in fine
    ]
    return judged(np.where(fine.all(-1), 1.0, 0.0), reasons)
