"""The two loops that numpy cannot do without a large temporary; compiled by numba, cached on disk."""

from __future__ import annotations

import math

import numba
import numpy as np

from driveproof.geometry.arrays import Float, Float32, Int

LANE = 256
"""Scores that are counted together; the counter is 32 bits wide so that the loop uses vector instructions."""


@numba.njit(nogil=True, cache=True)
def settle(scores: Float32, limits: Float32, points: Float32, codes: Float32, out: Int) -> None:
    """Write into ``out`` ``[B]`` which code of those with a score up to ``limits`` ``[B]`` is nearest.

    ``scores`` ``[B, K]`` are rounded; the codes in reach of the rounding are compared again in float64,
    so the answer is that of an exact search, and the lower index wins a tie. A row costs one count over
    its scores, because almost no lane has a score within the limit.
    """
    count, n_columns = scores.shape
    for i in range(count):
        row, limit = scores[i], limits[i]
        best, chosen = np.inf, -1
        for start in range(0, n_columns, LANE):
            lane = row[start : start + LANE]  # a slice: indices of it need no check of their sign
            near = np.int32(0)
            for j in range(LANE):
                near += np.int32(lane[j] <= limit)
            if near == 0:
                continue
            for j in range(LANE):
                if lane[j] <= limit:
                    distance = 0.0
                    for d in range(points.shape[1]):
                        delta = np.float64(points[i, d]) - np.float64(codes[start + j, d])
                        distance += delta * delta
                    if distance < best:
                        best, chosen = distance, start + j
        out[i] = chosen


@numba.njit(parallel=True, cache=True, fastmath={"reassoc"})
def pairwise_ade(codes: Float32, out: Float32) -> None:
    """Write the mean waypoint distance of all pairs of ``codes`` ``[20, K]`` (x, y, x, y ...) into ``out`` ``[K, K]``."""
    n_values, n_codes = codes.shape
    scale = np.float32(2.0 / n_values)
    for i in numba.prange(n_codes):
        row = out[i]
        row[:] = np.float32(0.0)
        for d in range(0, n_values, 2):
            x, y = codes[d, i], codes[d + 1, i]
            for j in range(n_codes):
                dx, dy = codes[d, j] - x, codes[d + 1, j] - y
                row[j] += math.sqrt(dx * dx + dy * dy) * scale


@numba.njit(parallel=True, cache=True)
def extremes_off_diagonal(matrix: Float32) -> Float:
    """Lowest and highest value off the diagonal of ``[K, K]``."""
    n = len(matrix)
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    for i in numba.prange(n):
        for j in range(n):
            if i != j:
                low[i] = min(low[i], matrix[i, j])
                high[i] = max(high[i], matrix[i, j])
    return np.array([low.min(), high.max()])
