"""Speed and curvature of a plan by regularised least squares (nuPlan's LQR tracker, batch form of NAVSIM).

Both fits are small enough to be written in closed form. The normal matrix of the speed fit does not depend on
the headings (cos² + sin² = 1), so one constant matrix serves every plan; that of the curvature fit is
tridiagonal in the curvatures, so it costs O(steps).
"""

from __future__ import annotations

from functools import lru_cache

import numba
import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.rules.states import DT, HORIZON

JERK_PENALTY = 1e-4
CURVATURE_RATE_PENALTY = 1e-2
INITIAL_CURVATURE_PENALTY = 1e-10


@lru_cache(maxsize=2)
def _speed_operator(broken_jerk_penalty: bool) -> Float:
    """Matrix ``[40, 40]`` from displacements along the heading [m] to fitted speeds [m/s]."""
    steps = HORIZON
    integrate = np.tri(steps) * DT  # v_k = v_0 + dt * sum_{j<k} a_j
    integrate[:, 0] = 1.0
    difference = np.zeros((steps - 2, steps))
    rows = np.arange(steps - 2)
    difference[rows, rows + 1] = -1.0
    if broken_jerk_penalty:
        difference[-1, -1] = (
            1.0  # all that the second slice assignment leaves of the super-diagonal
        )
    else:
        difference[rows, rows + 2] = 1.0
    model = integrate * DT
    normal = model.T @ model + JERK_PENALTY * difference.T @ difference
    return np.asarray(integrate @ np.linalg.solve(normal, model.T), np.float64)


def speed_profile(plans: Float, *, broken_jerk_penalty: bool) -> Float:
    """Speeds ``[N, 40]`` in m/s fitted to plans ``[N, 41, 3]``.

    v_k = v_0 + dt Σ_{j<k} a_j, displacements d_k ≈ dt v_k [cos h_k, sin h_k]; the penalty is on the
    differences of a, or on a itself where the reference's defect is reproduced.
    """
    delta = np.diff(plans[..., :2], axis=-2)
    heading = plans[..., :-1, 2]
    along = delta[..., 0] * np.cos(heading) + delta[..., 1] * np.sin(heading)
    speeds: Float = along @ _speed_operator(broken_jerk_penalty).T
    return speeds


@numba.njit(nogil=True, cache=True)
def curvature_profile(turns: Float, speeds: Float, out: Float) -> None:
    """Write into ``out`` ``[N, 40]`` the curvatures [1/m] fitted to heading steps ``turns`` ``[N, 40]`` [rad].

    Minimises Σ (turn_k - dt v_k κ_k)² + 1e-2 Σ ((κ_{k+1} - κ_k)/dt)² + 1e-10 κ_0² by eliminating from the
    last step to the first: sums of positive terms only, so that standstill (v = 0) is as exact as motion.
    """
    count, steps = turns.shape
    stiffness = CURVATURE_RATE_PENALTY / (DT * DT)
    weight, pull = np.empty(steps), np.empty(steps)
    for n in range(count):
        later_weight, later_pull = 0.0, 0.0
        for k in range(steps - 1, -1, -1):
            model = DT * speeds[n, k]
            weight[k] = model * model + later_weight
            pull[k] = model * turns[n, k] + later_pull
            ratio = stiffness / (weight[k] + stiffness)
            later_weight, later_pull = weight[k] * ratio, pull[k] * ratio
        out[n, 0] = pull[0] / (weight[0] + INITIAL_CURVATURE_PENALTY)
        for k in range(1, steps):
            out[n, k] = (stiffness * out[n, k - 1] + pull[k]) / (stiffness + weight[k])
