"""Similarity of prototypes (DEFT-RLVR, equation 2 and appendix D.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from driveproof.codebook.arrays import flat_trajectories
from driveproof.geometry.arrays import Float32


def ade_matrix(codes: ArrayLike) -> Float32:
    """Average displacement error between all pairs of prototypes: ``[K, K]`` float32, metres."""
    from driveproof.codebook.kernels import pairwise_ade

    flat = flat_trajectories(codes, "codes")
    out: Float32 = np.empty((len(flat), len(flat)), dtype=np.float32)
    pairwise_ade(np.ascontiguousarray(flat.T), out)
    return out


def similarity_matrix(codes: ArrayLike) -> Float32:
    """Similarity of all pairs of prototypes: 1 - (ADE - min) / (max - min), clipped to [0, 1], diagonal 1.

    Minimum and maximum are over all pairs of different codes of the whole codebook, so the value of a
    pair does not depend on the question it is used in. Where all pairs are equally far, all are 1.

    Parameters
    ----------
    codes
        ``[K, 10, 2]`` or ``[K, 20]`` metres.

    Returns
    -------
    ``[K, K]`` float32, symmetric. The computation is in place: 268 MB for 8,192 codes.
    """
    from driveproof.codebook.kernels import extremes_off_diagonal

    matrix = ade_matrix(codes)
    if len(matrix) > 1:
        low, high = extremes_off_diagonal(matrix)
        matrix -= np.float32(low)
        if high > low:
            matrix /= np.float32(high - low)
        np.subtract(np.float32(1.0), matrix, out=matrix)
        np.clip(matrix, 0.0, 1.0, out=matrix)
    np.fill_diagonal(matrix, 1.0)
    return matrix
