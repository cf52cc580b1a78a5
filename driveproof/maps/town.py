"""A town: everything that is known about its roads."""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driveproof.errors import UserError
from driveproof.geometry.arrays import Float
from driveproof.maps.cache import Parts, cache_path, fetch, store
from driveproof.maps.lanes import LaneKind, LaneTable
from driveproof.maps.nearest import LaneIndex, LaneMatch
from driveproof.maps.opendrive import parse_opendrive
from driveproof.maps.placing import build_crosswalks, build_junctions, build_signals
from driveproof.maps.routes import Route, find_route, lane_graph, random_way
from driveproof.maps.sampling import build_lanes
from driveproof.maps.signals import Junction, MapSignal
from driveproof.maps.sources import find_town, town_name


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
        import carla

        return carla.Map(self.name, self.opendrive)

    def nearest_lane(
        self,
        points: ArrayLike,
        heading: ArrayLike | None = None,
        kinds: tuple[LaneKind, ...] = (LaneKind.DRIVING,),
    ) -> LaneMatch:
        """The nearest lane of each point ``[N, 2]`` (or ``[2]``), preferring lanes along ``heading`` ``[N]``.

        Raises
        ------
        ValueError
            If the town has no lane of these kinds.
        """
        flat = np.atleast_2d(np.asarray(points, dtype=np.float64))[:, :2]
        angle = None if heading is None else np.atleast_1d(np.asarray(heading, dtype=np.float64))
        if kinds not in self._indices:
            self._indices[kinds] = LaneIndex(self.lanes, self.lanes.of_kind(*kinds))
        return self._indices[kinds].match(flat, angle)

    @cached_property
    def _indices(self) -> dict[tuple[LaneKind, ...], LaneIndex]:
        return {}

    @cached_property
    def _signal_places(self) -> Float:
        places = [signal.position[:2] for signal in self.signals]
        return np.array(places, dtype=np.float64).reshape(-1, 2)

    def signals_near(self, point: ArrayLike, reach_m: float) -> list[MapSignal]:
        """The signals whose heads lie within ``reach_m`` metres of ``point`` ``[2]``."""
        delta = self._signal_places - np.asarray(point, dtype=np.float64)[:2]
        return [self.signals[i] for i in np.flatnonzero((delta**2).sum(1) < reach_m**2)]

    @cached_property
    def lane_graph(self) -> Any:
        """Driving lanes as a ``networkx.DiGraph``; see :func:`driveproof.maps.routes.lane_graph`."""
        return lane_graph(self.lanes)

    def route(self, start: ArrayLike, goal: ArrayLike) -> Route:
        """The shortest way from pose ``start`` ``[3]`` to the point ``goal`` ``[2]`` (or pose ``[3]``).

        Raises
        ------
        BadInput
            If no road leads there.
        """
        start, goal = np.asarray(start, dtype=np.float64), np.asarray(goal, dtype=np.float64)
        here = self.nearest_lane(start[:2], start[2])
        there = self.nearest_lane(goal[:2], goal[2] if len(goal) > 2 else None)
        return find_route(
            self.lanes,
            self.lane_graph,
            (int(here.lane[0]), float(here.arc[0])),
            (int(there.lane[0]), float(there.arc[0])),
        )

    def random_route(self, rng: np.random.Generator, length_m: float) -> Route:
        """A random way of ``length_m`` metres (less only where all roads end before)."""
        return random_way(self.lanes, self.lane_graph, rng, length_m)


def load_town(name: str, directory: str | Path = "data/maps", client: Any = None) -> TownMap:
    """The town of this name, from the cache if its OpenDRIVE text was seen before.

    Parameters
    ----------
    name
        "Town10HD"; CARLA's spellings ("Carla/Maps/Town10HD_Opt", "Town10") are understood.
    directory
        Where own OpenDRIVE files lie.
    client
        A connected ``carla.Client``, asked only if no file has the town.

    Raises
    ------
    MissingMap, BadInput
        As :func:`driveproof.maps.sources.find_town` and the parser say.
    """
    name, text = town_name(name), find_town(name, directory, client)
    digest = hashlib.sha256(text.encode()).hexdigest()
    path = cache_path(name, digest)
    parts = fetch(path, digest)
    if parts is None:
        parts = derive(name, text)
        with contextlib.suppress(
            OSError, UserError
        ):  # a full or read-only disk costs time, not the town
            store(path, digest, parts)
    return TownMap(name, digest, *parts, opendrive=text)


def town_from_opendrive(name: str, text: str) -> TownMap:
    """A town from OpenDRIVE text, without the cache; BadInput if it is none."""
    return TownMap(
        name, hashlib.sha256(text.encode()).hexdigest(), *derive(name, text), opendrive=text
    )


def derive(name: str, text: str) -> Parts:
    """Lanes, signals, junctions and crosswalks of OpenDRIVE text."""
    drive = parse_opendrive(text, name)
    lanes = build_lanes(drive, name)
    signals = build_signals(drive, lanes)
    return lanes, signals, build_junctions(lanes, signals), build_crosswalks(drive)
