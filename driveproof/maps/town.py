"""A town: everything that is known about its roads."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Float
from driveproof.maps.lanes import LaneKind, LaneTable
from driveproof.maps.nearest import LaneMatch
from driveproof.maps.routes import Route
from driveproof.maps.signals import Junction, MapSignal


@dataclass(frozen=True)
class TownMap:
    """A town, right-handed, metres, radians.

    Parameters
    ----------
    name
        "Town10HD".
    digest
        SHA-256 of the OpenDRIVE text.
    lanes
        All lanes as arrays.
    signals
        Traffic lights and signs.
    junctions
        By junction number.
    crosswalks
        Outlines, each ``[n, 3]`` (not closed).
    opendrive
        The OpenDRIVE text.
    """

    name: str
    digest: str
    lanes: LaneTable
    signals: tuple[MapSignal, ...]
    junctions: dict[int, Junction]
    crosswalks: tuple[Float, ...]
    opendrive: str = field(repr=False)

    @cached_property
    def carla_map(self) -> Any:
        """The same town as a ``carla.Map`` (left-handed, degrees)."""
        raise NotImplementedError

    def nearest_lane(
        self,
        points: ArrayLike,
        heading: ArrayLike | None = None,
        kinds: tuple[LaneKind, ...] = (LaneKind.DRIVING,),
    ) -> LaneMatch:
        """The nearest lane of each point ``[N, 2]`` (or ``[2]``), preferring lanes along ``heading`` ``[N]``."""
        raise NotImplementedError

    def route(self, start: ArrayLike, goal: ArrayLike) -> Route:
        """The shortest way from pose ``start`` ``[3]`` to the point ``goal`` ``[2]``; BadInput if there is none."""
        raise NotImplementedError

    def random_route(self, rng: np.random.Generator, length_m: float) -> Route:
        """A random way of at least ``length_m`` metres (less only where the road ends)."""
        raise NotImplementedError


def load_town(name: str, directory: str | Path = "data/maps", client: Any = None) -> TownMap:
    """The town of this name, from the cache if its OpenDRIVE text was seen before."""
    raise NotImplementedError


def town_from_opendrive(name: str, text: str) -> TownMap:
    """A town from OpenDRIVE text, without the cache."""
    raise NotImplementedError
