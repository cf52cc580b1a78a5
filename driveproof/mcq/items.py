"""One question of AD-MCQ: what may be seen, the options, and which of them is the quantised logged future."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from driveproof.geometry.arrays import Float, Float32, Int, as_float, check_shape
from driveproof.scene import FUTURE_TIMES, Observation


class OptionKind(StrEnum):
    """Why an option stands in the question (DEFT-RLVR, table 9)."""

    ORACLE = "oracle"
    """The prototype nearest to the logged future."""
    SCALE = "scale"
    """Ends as far from the origin as the oracle, in another shape."""
    CONSTANT_VELOCITY = "constant_velocity"
    """The prototype nearest to going on at the current velocity."""
    RANDOM = "random"
    """Drawn from the band of similarity to the oracle."""


@dataclass(frozen=True)
class McqItem:
    """A question with M options; trajectories are positions at 0.5 .. 5.0 s in the ego frame at t = 0.

    Attributes
    ----------
    record_key, scene_key, split, source, situation
        Which moment of which drive; ``split`` is "train", "dev" or "test".
    drive_class
        The class of table 8: "low_speed", "stop_from_motion", "hard_brake", "sharp_turn" or
        "routine_straight".
    observation
        What the policy may see.
    waypoints
        ``[10, 2]`` logged future, for judging only.
    options
        ``[M, 10, 2]`` decoded prototypes in the order in which they are shown.
    option_codes
        ``[M]`` distinct codes of the codebook; never shown to a policy.
    option_kinds
        M entries of :class:`OptionKind`.
    similarities
        ``[M]`` of each option to the oracle (equation 2); 1 for the oracle.
    oracle_index
        Position of the oracle after shuffling.
    variant
        Cell of the difficulty grid, for example "m06_high0.85"; "" for the main construction.
    """

    record_key: str
    scene_key: str
    split: str
    source: str
    situation: str
    drive_class: str
    observation: Observation
    waypoints: Float
    options: Float
    option_codes: Int
    option_kinds: tuple[str, ...]
    similarities: Float32
    oracle_index: int
    variant: str = ""

    def __post_init__(self) -> None:
        m, horizon = len(self.option_kinds), len(FUTURE_TIMES)
        for name, shape in (("waypoints", (horizon, 2)), ("options", (m, horizon, 2))):
            array = as_float(getattr(self, name), shape, f"McqItem.{name}")
            if not np.isfinite(array).all():
                raise ValueError(f"McqItem.{name}: not finite")
            object.__setattr__(self, name, array)
        codes = np.asarray(self.option_codes, dtype=np.int64)
        check_shape(codes, (m,), "McqItem.option_codes")
        object.__setattr__(self, "option_codes", codes)
        similarities = np.asarray(self.similarities, dtype=np.float32)
        check_shape(similarities, (m,), "McqItem.similarities")
        object.__setattr__(self, "similarities", similarities)
        if len(np.unique(codes)) != m:
            raise ValueError("McqItem.option_codes: an option stands twice")
        oracles = [i for i, kind in enumerate(self.option_kinds) if kind == OptionKind.ORACLE]
        if oracles != [self.oracle_index]:
            raise ValueError(f"McqItem.oracle_index: {self.oracle_index}, but oracles at {oracles}")

    @property
    def n_options(self) -> int:
        """How many options are shown."""
        return len(self.option_kinds)
