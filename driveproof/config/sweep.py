"""Parameters of the stage ``sweep``."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from driveproof.config.base import Section, Seed


class SweepParams(Section):
    """Section ``sweep`` of params.yaml: table 5 (``sizes``) and table 6 (``scale_sizes`` x ``scale_fractions``)."""

    source: str = "data/scenes"
    """Directory of scenes, or a .npz with ``traj`` and ``scene_key``."""
    sizes: tuple[int, ...] = (64, 128, 256, 512, 1024)
    seeds: tuple[Seed, ...] = (0,)
    n_splits: int = Field(default=5, ge=1)
    held_out: float = Field(default=0.1, gt=0, lt=1)
    scale_sizes: tuple[int, ...] = (64, 256)
    scale_fractions: tuple[float, ...] = (0.125, 0.25, 0.5, 1.0)
    cross_sources: tuple[str, ...] = ()
    """Sources that are never fitted and evaluated apart."""
    workers: int = Field(default=2, ge=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.sizes or not self.seeds:
            raise ValueError("sizes and seeds need at least one entry")
        if min((*self.sizes, *self.scale_sizes)) < 2:
            raise ValueError("a codebook has at least two codes")
        if not all(0 < f <= 1 for f in self.scale_fractions):
            raise ValueError("scale_fractions lie in (0, 1]")
        return self
