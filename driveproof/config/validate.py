"""Parameters of the stage ``validate``."""

from __future__ import annotations

from pydantic import Field

from driveproof.config.base import Section


class ValidateParams(Section):
    """Section ``validate`` of params.yaml: the limits of the data gate."""

    min_scenes: int = Field(default=50, ge=1)
    """Fewest scenes in the scene table."""
    min_questions: int = Field(default=5, ge=0)
    """Fewest questions in each split; 0 lets a split be empty (a profile too small to fill dev)."""
    min_answers: int = Field(default=100, ge=1)
    """Fewest answers in the dataset of commentaries."""
    max_speed: float = Field(default=60.0, gt=0.0)
    """Fastest plausible speed, m/s, of the ego now and along waypoints and prototypes."""
    max_acceleration: float = Field(default=30.0, gt=0.0)
    """Hardest plausible acceleration of the ego now, m/s² (above any tyre; a collision is more)."""
    min_option_gap: float = Field(default=0.05, ge=0.0)
    """Least average distance, metres, between two options of a question."""
    position_p_value: float = Field(default=1e-4, gt=0.0, lt=1.0)
    """A split fails when fair shuffling would place the oracles this unevenly with a smaller probability."""
