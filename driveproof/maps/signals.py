"""Traffic lights, signs and junctions of a town, and the lanes they govern."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from driveproof.geometry.arrays import Float


class SignalKind(StrEnum):
    """The signals that matter to driving."""

    TRAFFIC_LIGHT = "traffic_light"
    STOP = "stop"
    YIELD = "yield"
    SPEED_LIMIT = "speed_limit"


@dataclass(frozen=True)
class MapSignal:
    """A traffic light or sign, world frame, right-handed, metres, radians.

    Parameters
    ----------
    key
        The OpenDRIVE signal id.
    kind
        What it is.
    position
        ``[3]`` the head of the signal: the lamps of a light, the plate of a sign.
    heading
        Where the face looks, towards the traffic it governs.
    lanes
        Indices of the lanes that must obey, ending (or, for signs within a lane, passing) at it; for
        lights these are the lanes that lead into the junction.
    stop_lines
        ``[len(lanes), 2, 3]`` left and right end of the stop line across each governed lane.
    stop_arcs
        ``[len(lanes)]`` metres along each governed lane to its stop line.
    junction
        The junction it guards, -1 if none.
    controller
        The OpenDRIVE controller; lights of one controller show the same state. A light without one
        in the file gets that of a light that faces the same way there, or its own ("signal KEY");
        signs have none ("").
    sequence
        Order of that controller among those of its junction (0, 1, ...): the phase.
    value
        Speed limit in metres a second, NaN for other kinds.
    """

    key: str
    kind: SignalKind
    position: Float
    heading: float
    lanes: tuple[int, ...]
    stop_lines: Float
    stop_arcs: Float
    junction: int = -1
    controller: str = ""
    sequence: int = 0
    value: float = float("nan")


@dataclass(frozen=True)
class Junction:
    """A junction of a town.

    Parameters
    ----------
    key
        The OpenDRIVE junction number.
    outline
        ``[n, 2]`` convex outline of its driving lanes, counter-clockwise, metres.
    lanes
        Its driving lanes.
    entries
        Driving lanes that lead into it.
    signals
        Indices into ``TownMap.signals`` of the signals that guard it.
    """

    key: int
    outline: Float
    lanes: tuple[int, ...]
    entries: tuple[int, ...]
    signals: tuple[int, ...] = ()
