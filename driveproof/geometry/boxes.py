"""Oriented boxes on the ground plane."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Bool, Float
from driveproof.geometry.se2 import points_to_world

_UNIT_CORNERS = np.array([[0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5], [0.5, -0.5]])


def box_corners(poses: ArrayLike, length: ArrayLike, width: ArrayLike) -> Float:
    """Corners ``[..., 4, 2]`` of boxes centred at ``poses`` ``[..., 3]``.

    Order: front left, rear left, rear right, front right (counter-clockwise from the front left).
    """
    poses = np.asarray(poses, dtype=np.float64)
    half = np.stack(
        np.broadcast_arrays(np.asarray(length, float), np.asarray(width, float)), axis=-1
    )
    local = _UNIT_CORNERS * np.broadcast_to(half, (*poses.shape[:-1], 2))[..., None, :]
    return points_to_world(local, poses[..., None, :])


def boxes_overlap(a: ArrayLike, b: ArrayLike) -> Bool:
    """Whether boxes overlap (touching counts), by the separating-axis theorem.

    Parameters
    ----------
    a, b
        Corners ``[..., 4, 2]`` as :func:`box_corners` orders them; broadcast against each other.
    """
    a, b = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
    separated = np.zeros(a.shape[:-2], dtype=bool)
    for corners in (a, b):
        for start, end in ((0, 1), (1, 2)):
            axis = corners[..., end, :] - corners[..., start, :]
            pa = np.einsum("...kd,...d->...k", a, axis)
            pb = np.einsum("...kd,...d->...k", b, axis)
            separated |= (pa.max(-1) < pb.min(-1)) | (pb.max(-1) < pa.min(-1))
    return ~separated
