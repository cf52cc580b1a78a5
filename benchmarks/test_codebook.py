"""Encoding and similarity at the scale of DEFT-RLVR: 489,042 trajectories, 8,192 codes.

Run with ``pytest -n 0 benchmarks/test_codebook.py --benchmark-only``. Compare ``encode`` with ``product``, the
plain float32 matrix product of the same shape over blocks of the same number of rows; both with one thread, so
that other load on the machine changes both alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from driveproof.codebook import similarity_matrix
from driveproof.codebook.nearest import BLOCK_BYTES, nearest_codes
from driveproof.geometry.arrays import Float32

N, K = 489_042, 8_192
ROWS = BLOCK_BYTES // (4 * K)


def motions(n: int, seed: int) -> Float32:
    """``[n, 20]`` arcs at 0 .. 30 m/s."""
    rng = np.random.default_rng(seed)
    speed, yaw = rng.uniform(0, 30, (n, 1)), rng.normal(0, 0.08, (n, 1))
    times = np.linspace(0.5, 5, 10)
    points = np.stack([speed * times, speed * times * np.sin(yaw * times / 2)], axis=-1)
    return points.reshape(n, 20).astype(np.float32)


@pytest.fixture(scope="module")
def points() -> Float32:
    return motions(N, 0)


@pytest.fixture(scope="module")
def codes() -> Float32:
    return motions(K, 1)


@pytest.mark.benchmark(group="encode 489042 x 8192")
def test_product(benchmark: Any, points: Float32, codes: Float32) -> None:
    right = np.ascontiguousarray(codes.T)
    out = np.empty((ROWS, K), dtype=np.float32)

    def product() -> None:
        for start in range(0, N, ROWS):
            block = points[start : start + ROWS]
            np.matmul(block, right, out=out[: len(block)])

    with threadpool_limits(1):
        benchmark.pedantic(product, rounds=3)


@pytest.mark.benchmark(group="encode 489042 x 8192")
def test_encode(benchmark: Any, points: Float32, codes: Float32) -> None:
    nearest_codes(points[:10], codes)
    found = benchmark.pedantic(nearest_codes, (points, codes, 1), rounds=3)
    assert found.shape == (N,)


@pytest.mark.benchmark(group="similarity 8192 x 8192")
def test_similarity(benchmark: Any, codes: Float32) -> None:
    similarity_matrix(codes[:10])
    matrix = benchmark.pedantic(similarity_matrix, (codes,), rounds=3)
    assert matrix.nbytes == 4 * K * K
