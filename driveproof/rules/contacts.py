"""Pairs of ego and agent boxes that may meet: shared by collision and time to collision."""

from __future__ import annotations

import math

import numba
import numpy as np

from driveproof.geometry.arrays import Bool, Float, Int


@numba.njit(nogil=True, cache=True)
def agents_near(
    centers: Float, reach: float, pose: Float, present: Bool, half: Float, out: Int
) -> int:
    """Write into ``out`` ``[A]`` the agents that come near a path of centres ``[T, 2]``; returns how many.

    Near: the agent's swept bounds, grown by its own radius and by ``reach`` metres, meet those of the path.
    """
    low_x, high_x = centers[:, 0].min() - reach, centers[:, 0].max() + reach
    low_y, high_y = centers[:, 1].min() - reach, centers[:, 1].max() + reach
    count = 0
    for a in range(len(half)):
        radius = math.hypot(half[a, 0], half[a, 1])
        x0, x1, y0, y1 = np.inf, -np.inf, np.inf, -np.inf
        for t in range(pose.shape[1]):
            if present[a, t]:
                x, y = pose[a, t, 0], pose[a, t, 1]
                x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
        if (
            x0 - radius <= high_x
            and x1 + radius >= low_x
            and y0 - radius <= high_y
            and y1 + radius >= low_y
        ):
            out[count] = a
            count += 1
    return count
