"""HC, history comfort: accelerations, jerks and yaw motion stay within bounds, the past included.

Weight 2. Source: NAVSIM's pdm_comfort_metrics (v2), bounds of nuPlan's ego_is_comfortable.
"""

from __future__ import annotations

import numpy as np

from driveproof.geometry.arrays import Bool, Float
from driveproof.rules.result import RuleResult, first_step, judged
from driveproof.rules.savgol import acceleration_size, jerk, smooth, yaw_acceleration, yaw_rate
from driveproof.rules.states import AX, AY, DT, HEADING, N_STATE, YAW_ACCEL, YAW_RATE, VehicleShape
from driveproof.rules.world import Batch, History

CHECKS = ("lon_accel", "lat_accel", "abs_jerk", "lon_jerk", "yaw_accel", "yaw_rate")
"""The six checks, in the order of the flags."""
BOUNDS = np.array(
    [[-4.05, 2.40], [-4.89, 4.89], [-8.37, 8.37], [-4.13, 4.13], [-1.93, 1.93], [-0.95, 0.95]]
)
"""Lower and upper bound of each check ``[6, 2]``; reaching a bound breaks it."""


def history_states(history: History, *, missing_sample: bool) -> Float:
    """The past ``[14 or 15, 11]`` every 0.1 s from -1.5 s, interpolated; yaw rate and acceleration are 0.

    ``missing_sample`` leaves out the state at -0.1 s, as the reference does.
    """
    count = 14 if missing_sample else 15
    times = -1.5 + np.arange(count) * DT
    columns = history.states.copy()
    columns[:, HEADING] = np.unwrap(columns[:, HEADING])
    states = np.zeros((count, N_STATE))
    for k in range(columns.shape[1]):
        states[:, k] = np.interp(times, history.times, columns[:, k])
    return states


def comfort_signals(states: Float, shape: VehicleShape) -> Float:
    """The six signals ``[N, 6, T]`` of states ``[N, T, 11]``, in the order of :data:`CHECKS`."""
    turning = states[..., YAW_RATE] ** 2 + states[..., YAW_ACCEL]
    forward = smooth(states[..., AX] + shape.rear_axle_to_center * turning, 8, 2)
    return np.stack(
        [
            forward,
            smooth(states[..., AY], 8, 2),
            jerk(acceleration_size(states)),
            jerk(forward),
            yaw_acceleration(states, 3),
            yaw_rate(states),
        ],
        axis=1,
    )


def comfort_flags(batch: Batch) -> tuple[Bool, Bool]:
    """Which checks hold ``[N, 6]``, and at which of the 41 simulated steps one is broken ``[N, 6, 41]``."""
    states, past = batch.states, 0
    if batch.world.history is not None:
        before = history_states(
            batch.world.history, missing_sample=batch.quirks.missing_history_sample
        )
        past = len(before)
        before = np.broadcast_to(before, (len(batch), *before.shape))
        states = np.concatenate([before, states], axis=1)
    signals = comfort_signals(states, batch.world.shape)
    broken = ~((signals > BOUNDS[:, :1]) & (signals < BOUNDS[:, 1:]))
    return np.asarray(~broken.any(-1)), broken[..., past:]


def history_comfort(batch: Batch) -> RuleResult:
    """HC of every proposal; a breach inside the history has no step."""
    if batch.world.history is None and batch.quirks.comfort_needs_history:
        reason = "there is no history, which counts as comfortable in the reference"
        return judged(np.ones(len(batch)), [reason] * len(batch))
    holds, broken = comfort_flags(batch)
    values = np.where(holds.all(-1), 1.0, 0.0)
    reasons = [
        "comfortable"
        if row.all()
        else "out of bounds: "
        + ", ".join(name for name, ok in zip(CHECKS, row, strict=True) if not ok)
        for row in holds
    ]
    return judged(values, reasons, step=first_step(np.asarray(broken.any(1))))
