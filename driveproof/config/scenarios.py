"""Parameters of the stage ``scenarios``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from driveproof.config.base import Section


class ScenariosParams(Section):
    """Section ``scenarios`` of params.yaml.

    Attributes
    ----------
    names
        Scenario types to perform; empty for all that are written.
    seeds
        Performances of the expert a scenario.
    oblivious_seeds
        Performances of the driver who ignores everybody.
    first_seed
        The first seed; the others follow.
    workers
        Processes, each with its own embedded server; the result does not depend on it.
    """

    names: tuple[str, ...] = ()
    seeds: Annotated[int, Field(ge=1, le=1000)] = 10
    oblivious_seeds: Annotated[int, Field(ge=0, le=1000)] = 3
    first_seed: Annotated[int, Field(ge=0)] = 0
    workers: Annotated[int, Field(ge=1, le=64)] = 2
