"""How well prototypes stand for trajectories: displacement errors and utilisation (DEFT-RLVR, appendix C.2)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driveproof.codebook.arrays import N_WAYPOINTS, flat_trajectories
from driveproof.geometry.arrays import Float, Int

_CHUNK = 65_536


@dataclass(frozen=True)
class Tail:
    """Mean and upper percentiles of an error, metres."""

    mean: float
    p50: float
    p95: float
    p99: float

    @classmethod
    def of(cls, values: Float) -> Tail:
        """Summarise ``[N]`` values, N > 0."""
        p50, p95, p99 = np.percentile(values, (50, 95, 99))
        return cls(float(values.mean()), float(p50), float(p95), float(p99))


@dataclass(frozen=True)
class Reconstruction:
    """Errors of N trajectories against their prototypes.

    ``utilisation`` is the fraction of the prototypes that at least one of them is assigned to.
    """

    n: int
    ade: Tail
    fde: Tail
    utilisation: float

    def to_dict(self) -> dict[str, Any]:
        """Nested plain values, for JSON."""
        return asdict(self)


def displacement_errors(trajectories: ArrayLike, others: ArrayLike) -> tuple[Float, Float]:
    """Average and final displacement error ``[N]``, ``[N]`` (metres) between ``[N, 10, 2]`` pairs."""
    first = flat_trajectories(trajectories).reshape(-1, N_WAYPOINTS, 2)
    second = flat_trajectories(others).reshape(-1, N_WAYPOINTS, 2)
    ade, fde = np.empty(len(first)), np.empty(len(first))
    for start in range(0, len(first), _CHUNK):
        span = slice(start, start + _CHUNK)
        distance = np.linalg.norm(first[span].astype(np.float64) - second[span], axis=-1)
        ade[span], fde[span] = distance.mean(1), distance[:, -1]
    return ade, fde


def utilisation(codes: Int, n_codes: int) -> float:
    """Fraction of ``n_codes`` prototypes that occur in ``codes`` ``[N]``."""
    return len(np.unique(codes)) / n_codes
