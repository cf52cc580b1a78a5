"""Which of the reference program's quirks are reproduced: one flag a quirk, two presets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Variant = Literal["navsim", "corrected"]


@dataclass(frozen=True)
class Quirks:
    """One flag a known defect of NAVSIM v2.2 (359c7f7); ``True`` reproduces the defect.

    docs/metrics.md says what each repair changes.
    """

    broken_jerk_penalty: bool = True
    """The speed fit penalises |a| instead of |Δa|: a slice assignment overwrites the super-diagonal."""
    nan_angle: bool = False
    """An arccos argument that rounds above 1 makes an agent neither ahead nor behind. Depends on the numpy
    build of the reference (its own results differ between 1.23 and 1.26), so no preset switches it on."""
    ttc_unshifted_ego: bool = True
    """TTC compares the agent's future position with the ego pose now, so a faster car behind becomes "ahead"."""
    missing_history_sample: bool = True
    """The history for comfort lacks its sample at -0.1 s, yet is treated as evenly spaced."""
    comfort_needs_history: bool = True
    """Without a history, comfort is 1 whatever the plan does."""
    first_appearance_speed: bool = True
    """A track keeps the speed of its first appearance: a car that was standing stays "stopped"."""
    off_route_is_oncoming: bool = True
    """Driving direction checks whether a lane is on the route, not which way it runs."""
    route_centreline_only: bool = True
    """Lane keeping measures to the route's centreline, not to that of the lane driven in."""


NAVSIM = Quirks()
"""What NAVSIM v2.2 computes, to the last digit."""

CORRECTED = Quirks(
    broken_jerk_penalty=False,
    ttc_unshifted_ego=False,
    missing_history_sample=False,
    comfort_needs_history=False,
    first_appearance_speed=False,
    off_route_is_oncoming=False,
    route_centreline_only=False,
)
"""What the metrics mean to say."""


def quirks_of(variant: Variant | Quirks) -> Quirks:
    """The flags of a named variant; a ``Quirks`` passes through.

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    if isinstance(variant, Quirks):
        return variant
    presets = {"navsim": NAVSIM, "corrected": CORRECTED}
    if variant not in presets:
        raise ValueError(f"unknown variant {variant!r}; known: {', '.join(presets)}")
    return presets[variant]
