"""The map that comes with a log: lanes, drivable areas, junctions, lights by lane, in the log's own world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.scene.types import LightState


@dataclass(frozen=True)
class MapLane:
    """One lane for motor vehicles.

    ``centre`` ``[M, 2]`` runs in the direction of travel; ``outline`` ``[V, 2]`` is a ring, not closed;
    ``successors`` are ids of lanes that continue it; ``speed_limit`` is in m/s, NaN if unknown.
    """

    id: str
    centre: Float
    outline: Float
    in_junction: bool = False
    successors: tuple[str, ...] = ()
    speed_limit: float = float("nan")


@dataclass(frozen=True)
class LaneLights:
    """What the light of each governed lane showed: at ``times`` ``[L]`` of the log's clock, lane id -> L states."""

    times: Float
    states: Mapping[str, tuple[LightState, ...]]

    def at(self, lane: str, time: float) -> LightState:
        """The state of a lane's light at the sample nearest to ``time``; unknown where it was not seen."""
        states = self.states.get(lane)
        if states is None or not len(self.times):
            return LightState.UNKNOWN
        return states[int(np.abs(self.times - time).argmin())]


@dataclass(frozen=True)
class LogMap:
    """A map in the right-handed world of its log, metres.

    Attributes
    ----------
    lanes
        Lanes of motor vehicles; ids are unique.
    drivable, junctions, crosswalks
        Rings ``[V, 2]`` without holes, not closed. No ``drivable`` ring: nobody knows where one may drive.
    lights
        Lights by lane, or None where the source records none (which is not the same as no red light).
    notes
        What had to be derived, and how, one line each; part of every result that rests on it.
    """

    lanes: tuple[MapLane, ...]
    drivable: tuple[Float, ...] = ()
    junctions: tuple[Float, ...] = ()
    crosswalks: tuple[Float, ...] = ()
    lights: LaneLights | None = None
    notes: tuple[str, ...] = field(default=())
