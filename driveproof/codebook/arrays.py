"""What the codebook takes as trajectories: ten waypoints at 0.5 .. 5.0 s, ego frame, metres."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float32
from driveproof.scene import FUTURE_TIMES

N_WAYPOINTS = len(FUTURE_TIMES)
N_VALUES = 2 * N_WAYPOINTS
MAX_METRES = 1e6
"""Beyond any five seconds of driving; squares of what is allowed stay far inside float32."""


def flat_trajectories(values: ArrayLike, name: str = "trajectories") -> Float32:
    """Check ``[N, 10, 2]`` or ``[N, 20]`` (x, y of each waypoint) and return contiguous float32 ``[N, 20]``.

    Raises
    ------
    BadInput
        If the shape is another, the values are no numbers, or one is NaN or beyond 1,000 km (its row is named).
    """
    array: NDArray[Any] = np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise BadInput(f"expected numbers, got dtype {array.dtype}", field=name)
    if array.shape[1:] not in ((N_WAYPOINTS, 2), (N_VALUES,)):
        raise BadInput(
            f"expected shape [N, {N_WAYPOINTS}, 2] or [N, {N_VALUES}], got {list(array.shape)}",
            field=name,
        )
    flat = np.ascontiguousarray(array.reshape(len(array), N_VALUES), dtype=np.float32)
    bad = np.flatnonzero(~(np.abs(flat) <= MAX_METRES).all(1))
    if len(bad):
        raise BadInput(
            f"{len(bad)} of {len(flat)} not finite or beyond 1,000 km, first in row {bad[0]}",
            field=name,
        )
    return flat


def digest(flat: Float32) -> str:
    """SHA-256 of float32 values ``[N, 20]`` in little-endian row order: the identity of a data set."""
    return hashlib.sha256(flat.astype("<f4").tobytes()).hexdigest()
