"""LQR tracker and kinematic bicycle: what the vehicle does when told to follow a plan.

Every rule looks only at the states simulated here, never at the plan itself.
Source: NAVSIM's BatchLQRTracker and BatchKinematicBicycleModel (after nuPlan's LQRTracker).
"""

from __future__ import annotations

import math

import numba
import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.rules.profile import curvature_profile, speed_profile
from driveproof.rules.states import DT, HORIZON, N_STATE, STEPS, VehicleShape

LOOK_AHEAD = 10
"""Steps that the tracker looks ahead: 1 s."""
STOPPING_SPEED = 0.2
STOPPING_GAIN = 0.5
MAX_STEERING = math.pi / 3.0
# First-order lags of 0.2 s (acceleration) and 0.05 s (steering), discretised as dt / (dt + tau).
ACCELERATION_SHARE = DT / (DT + 0.2)
STEERING_SHARE = DT / (DT + 0.05)
# One-step LQR for speed: Q = 10, R = 1, horizon 1 s.
SPEED_GAIN = 10.0 / 11.0


@numba.njit(nogil=True, cache=True)
def _steering_rate(
    lateral: float,
    turn: float,
    steering: float,
    speed: float,
    acceleration: float,
    curvature: Float,
    first: int,
    wheel_base: float,
) -> float:
    """Constant steering rate [rad/s] that minimises the errors ten steps ahead (Q = 1, 10, 0; R = 1).

    The linear time-varying model e' = v e_h, e_h' = v (δ/L - κ), δ' = u is rolled out twice at once: without
    input from the present state, and with unit input from zero.
    """
    by_lateral, by_turn, by_steering = 0.0, 0.0, 0.0
    last = min(first + LOOK_AHEAD, HORIZON - 1)
    for k in range(LOOK_AHEAD):
        travel = (speed + k * DT * acceleration) * DT
        kappa = curvature[min(first + k, last)]
        lateral += travel * turn
        turn += travel / wheel_base * steering - travel * kappa
        by_lateral += travel * by_turn
        by_turn += travel / wheel_base * by_steering
        by_steering += DT
    turn = math.atan2(math.sin(turn), math.cos(turn))
    gain = by_lateral * by_lateral + 10.0 * by_turn * by_turn + 1.0
    return -(by_lateral * lateral + 10.0 * by_turn * turn) / gain


@numba.njit(nogil=True, cache=True)
def _roll_out(
    plans: Float, speeds: Float, curvatures: Float, initial: Float, wheel_base: float, out: Float
) -> None:
    """Write the simulated states ``[N, 41, 11]`` of plans ``[N, 41, 3]`` from ``initial`` ``[11]``."""
    for n in range(plans.shape[0]):
        out[n, 0] = initial
        for i in range(HORIZON):
            x, y, heading, v = out[n, i, 0], out[n, i, 1], out[n, i, 2], out[n, i, 3]
            a, steering, yaw_rate = out[n, i, 5], out[n, i, 7], out[n, i, 9]
            target = speeds[n, min(i + LOOK_AHEAD, HORIZON - 1)]
            rate = 0.0
            if target <= STOPPING_SPEED and v <= STOPPING_SPEED:
                command = -STOPPING_GAIN * (v - target)
            else:
                command = -SPEED_GAIN * (v - target)
                planned = plans[n, i]
                dx, dy = x - planned[0], y - planned[1]
                lateral = -dx * math.sin(planned[2]) + dy * math.cos(planned[2])
                turn = heading - planned[2]
                turn = math.atan2(math.sin(turn), math.cos(turn))
                rate = _steering_rate(
                    lateral, turn, steering, v, command, curvatures[n], i, wheel_base
                )
            a += ACCELERATION_SHARE * (command - a)
            rate *= STEERING_SHARE
            new_heading = heading + DT * v * math.tan(steering) / wheel_base
            new_steering = min(max(steering + DT * rate, -MAX_STEERING), MAX_STEERING)
            new_v = v + DT * a
            new_yaw_rate = new_v * math.tan(new_steering) / wheel_base
            state = out[n, i + 1]
            state[0] = x + DT * v * math.cos(heading)
            state[1] = y + DT * v * math.sin(heading)
            state[2] = (new_heading + math.pi) % (2.0 * math.pi) - math.pi
            state[3], state[4], state[5], state[6] = new_v, 0.0, a, 0.0
            state[7], state[8], state[9] = new_steering, rate, new_yaw_rate
            state[10] = (new_yaw_rate - yaw_rate) / DT


def simulate(
    plans: Float, initial: Float, shape: VehicleShape, *, broken_jerk_penalty: bool = True
) -> Float:
    """Simulated states ``[N, 41, 11]`` of a vehicle that tracks plans ``[N, 41, 3]``.

    Parameters
    ----------
    plans
        Rear-axle poses in the world every 0.1 s (:func:`driveproof.rules.plan.plan_poses`).
    initial
        State ``[11]`` at step 0, columns as in :mod:`driveproof.rules.states`.
    shape
        The vehicle; only its wheel base matters here.
    broken_jerk_penalty
        Reproduce the reference's speed fit (see :class:`driveproof.rules.variants.Quirks`).
    """
    plans = np.ascontiguousarray(plans, np.float64)
    speeds = speed_profile(plans, broken_jerk_penalty=broken_jerk_penalty)
    turns = np.diff(plans[..., 2], axis=-1)
    turns = np.arctan2(np.sin(turns), np.cos(turns))
    curvatures = np.empty_like(speeds)
    curvature_profile(turns, speeds, curvatures)
    states = np.zeros((len(plans), STEPS, N_STATE))
    start = np.ascontiguousarray(initial, np.float64)
    _roll_out(plans, speeds, curvatures, start, float(shape.wheel_base), states)
    return states
