"""Parameters of the stage ``codebook``."""

from __future__ import annotations

from pydantic import Field

from driveproof.config.base import Section


class ClusteringParams(Section):
    """How prototypes are found; meanings as in scikit-learn's MiniBatchKMeans."""

    batch_size: int = Field(default=4096, ge=1)
    max_iter: int = Field(default=100, ge=1)
    n_init: int = Field(default=3, ge=1)


class CodebookParams(Section):
    """Section ``codebook`` of params.yaml.

    ``n_codes`` None means: the largest power of two, up to ``max_codes``, that leaves at least
    ``min_per_code`` trajectories to each code.
    """

    n_codes: int | None = Field(default=None, ge=2)
    max_codes: int = Field(default=8192, ge=2)
    min_per_code: float = Field(default=8.0, gt=0)
    clustering: ClusteringParams = ClusteringParams()
