"""Parameters of the command ``promote``: when a challenger takes the champion's place."""

from __future__ import annotations

from pydantic import Field

from driveproof.config.base import Section

_ALIAS = r"^[A-Za-z][A-Za-z0-9_-]*$"


class GateRule(Section):
    """What must hold of one metric.

    The lower end of the paired interval of challenger minus champion must reach ``at_least``: -0.02 means "surely
    no more than two points worse". ``floor`` is for the challenger's own mean, also where there is no champion yet.
    """

    metric: str = Field(min_length=1)
    at_least: float = 0.0
    floor: float | None = None
    min_units: int = Field(default=20, ge=1)
    """Units that both must have been measured on, and that the challenger must have where there is no champion."""
    min_clusters: int = Field(default=5, ge=2)
    """Drives or routes that these units must come from: many repeats of one route prove nothing about others."""


class PromoteParams(Section):
    """Section ``promote`` of params.yaml.

    Attributes
    ----------
    model
        Name in the registry that is meant if none is said.
    challenger, champion
        Aliases.
    gates
        By name in the registry: all rules must hold.
    """

    model: str = Field(default="driveproof-policy", min_length=1, pattern=r"^[^/:@]+$")
    challenger: str = Field(default="challenger", pattern=_ALIAS)
    champion: str = Field(default="champion", pattern=_ALIAS)
    gates: dict[str, tuple[GateRule, ...]] = Field(
        default={
            "driveproof-policy": (
                GateRule(metric="accuracy", at_least=0.0, floor=0.17),
                GateRule(metric="hld", at_least=-0.05),
            ),
            "driveproof-driver": (
                GateRule(metric="driving_score", at_least=0.0, min_units=5),
                GateRule(metric="success", at_least=-0.05, min_units=5),
            ),
        }
    )
