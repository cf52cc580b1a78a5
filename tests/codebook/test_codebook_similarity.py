"""Similarity of prototypes (equation 2)."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from driveproof.codebook import ade_matrix, similarity_matrix
from driveproof.geometry.arrays import Float32

CODES = st.integers(1, 12).flatmap(
    lambda k: hnp.arrays(np.float32, (k, 10, 2), elements=st.floats(-100, 100, width=32))
)


@settings(max_examples=60, deadline=None)
@given(codes=CODES)
def test_symmetric_in_unit_interval_with_unit_diagonal(codes: Float32) -> None:
    matrix = similarity_matrix(codes)
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix, matrix.T)
    assert (matrix >= 0).all()
    assert (matrix <= 1).all()
    np.testing.assert_array_equal(np.diag(matrix), 1)


@settings(max_examples=40, deadline=None)
@given(codes=CODES, seed=st.integers(0, 99))
def test_equals_the_formula(codes: Float32, seed: int) -> None:
    wide = codes.astype(np.float64)
    ade = np.linalg.norm(wide[:, None] - wide[None], axis=-1).mean(-1)
    np.testing.assert_allclose(ade_matrix(codes), ade, atol=1e-3)
    off = ade[~np.eye(len(codes), dtype=bool)]
    if len(off) and off.max() - off.min() > 1:
        expected = np.clip(1 - (ade - off.min()) / (off.max() - off.min()), 0, 1)
        np.fill_diagonal(expected, 1)
        np.testing.assert_allclose(similarity_matrix(codes), expected, atol=2e-3)


def test_invariant_to_rotation_shift_scale_and_order() -> None:
    rng = np.random.default_rng(0)
    codes = rng.normal(0, 20, (40, 10, 2)).astype(np.float32)
    matrix = similarity_matrix(codes)
    c, s = np.cos(0.7), np.sin(0.7)
    moved = codes @ np.array([[c, -s], [s, c]], dtype=np.float32) * 3 + np.float32(5)
    np.testing.assert_allclose(similarity_matrix(moved), matrix, atol=1e-5)
    order = rng.permutation(40)
    np.testing.assert_array_equal(similarity_matrix(codes[order]), matrix[np.ix_(order, order)])


def test_extremes_and_equal_distances() -> None:
    line = np.zeros((3, 10, 2))
    line[1, :, 0], line[2, :, 0] = 1, 5  # pairwise ADE 1, 4 and 5
    np.testing.assert_allclose(
        similarity_matrix(line), [[1, 1, 0], [1, 1, 0.25], [0, 0.25, 1]], atol=1e-6
    )
    np.testing.assert_array_equal(similarity_matrix(line[:2]), np.ones((2, 2)))
