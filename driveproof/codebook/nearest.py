"""Nearest-prototype assignment (DEFT-RLVR, equation 1) at the speed of a matrix product."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from driveproof.geometry.arrays import Float, Float32, Int

BLOCK_BYTES = 1 << 21
"""Scores of one block: they stay in the cache between the product and the search."""
_ROUNDING = 2.0**-23 * 26
"""Twice the worst relative error of a float32 product over 21 values and of the rounded inputs."""


def nearest_codes(points: Float32, codes: Float32, workers: int | None = None) -> Int:
    """Index ``[N]`` of the code with the least cumulative squared waypoint distance.

    Parameters
    ----------
    points, codes
        ``[N, 20]`` and ``[K, 20]`` float32.
    workers
        Threads; default one a core. The answer does not depend on it: it is that of an exact search in
        float64, the lower index winning a tie.
    """
    search = _Search.over(codes)
    out: Int = np.empty(len(points), dtype=np.int64)
    threads = workers or os.cpu_count() or 1
    step = max(search.rows, -(-len(points) // (8 * threads)))
    starts = range(0, len(points), step)
    # One BLAS thread each: blocks are too small to share, and threads of two kinds would fight.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda s: search.run(points[s : s + step], out[s : s + step]), starts))
    return out


@dataclass(frozen=True)
class _Search:
    """||x - c||² = ||x||² + ||c||² - 2 x·c, and the first term does not matter to the search.

    A column of ones fuses ||c||² into the product. Both sides are centred first: small numbers keep
    float32 sharp. Columns are filled up with infinite scores to a multiple of the kernel's lane.
    """

    codes: Float32
    centre: Float
    right: Float32
    reach: float
    rows: int

    @classmethod
    def over(cls, codes: Float32) -> _Search:
        from driveproof.codebook.kernels import LANE

        centre: Float = codes.mean(0, dtype=np.float64)
        shifted = (codes - centre).astype(np.float32)
        norms = (shifted.astype(np.float64) ** 2).sum(1)
        columns = -(-len(codes) // LANE) * LANE
        right = np.zeros((codes.shape[1] + 1, columns), dtype=np.float32)
        right[-1] = np.inf
        right[:-1, : len(codes)] = -2 * shifted.T
        right[-1, : len(codes)] = norms
        rows = min(1024, max(16, BLOCK_BYTES // (4 * columns)))
        return cls(codes, centre, right, float(np.sqrt(norms.max())), rows)

    def run(self, points: Float32, out: Int) -> None:
        from driveproof.codebook.kernels import settle

        left = np.ones((self.rows, len(self.right)), dtype=np.float32)
        scores = np.empty((self.rows, self.right.shape[1]), dtype=np.float32)
        index = np.arange(self.rows)
        for start in range(0, len(points), self.rows):
            block = points[start : start + self.rows]
            n = len(block)
            np.subtract(block, self.centre, out=left[:n, :-1], casting="unsafe")
            norm = np.sqrt((left[:n, :-1] ** 2).sum(1))
            slack = _ROUNDING * self.reach * (2 * norm + self.reach)
            np.matmul(left[:n], self.right, out=scores[:n])
            lowest = scores[index[:n], scores[:n].argmin(1)]
            limits = np.nextafter(lowest + slack, np.float32(np.inf), dtype=np.float32)
            settle(scores[:n], limits, block, self.codes, out[start : start + n])
