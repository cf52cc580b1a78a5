"""The lanes of a town as arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from driveproof.geometry import Polyline
from driveproof.geometry.arrays import Bool, Float, Int

Code = NDArray[np.int8]


class LaneKind(IntEnum):
    """What a lane is for (the OpenDRIVE lane types that CARLA's towns use)."""

    NONE = 0
    DRIVING = 1
    SHOULDER = 2
    SIDEWALK = 3
    PARKING = 4
    BIKING = 5
    MEDIAN = 6
    BORDER = 7
    BIDIRECTIONAL = 8
    RESTRICTED = 9
    STOP = 10
    OTHER = 11


class MarkKind(IntEnum):
    """Lane marking types, seen in the direction of the OpenDRIVE road."""

    NONE = 0
    SOLID = 1
    BROKEN = 2
    SOLID_SOLID = 3
    SOLID_BROKEN = 4
    BROKEN_SOLID = 5
    BROKEN_BROKEN = 6
    BOTTS_DOTS = 7
    CURB = 8
    GRASS = 9
    OTHER = 10


class MarkColour(IntEnum):
    """Lane marking colours; STANDARD is white."""

    STANDARD = 0
    WHITE = 1
    YELLOW = 2
    BLUE = 3
    GREEN = 4
    RED = 5
    OTHER = 6


@dataclass(frozen=True)
class LaneTable:
    """All lanes of a town; lane ``i`` owns the points ``offset[i]:offset[i + 1]``, in travel direction.

    A lane is one OpenDRIVE lane of one lane section, keyed by (road, section, lane); the section is
    the index of the lane section within its road. Frame: right-handed, metres, radians.

    Parameters
    ----------
    road, section, lane
        ``[L]`` the key; ``lane`` is the signed OpenDRIVE lane number.
    kind
        ``[L]`` int8, :class:`LaneKind`.
    junction
        ``[L]`` OpenDRIVE junction number, -1 outside junctions.
    speed_limit
        ``[L]`` metres a second, NaN where the town does not say.
    offset
        ``[L + 1]`` first point of each lane.
    centre
        ``[P, 3]`` lane centre, about every ``step`` metres and at both exact ends.
    heading
        ``[P]`` radians, direction of travel.
    width
        ``[P]`` metres.
    arc
        ``[P]`` metres along the lane centre from its start (in the plane).
    left_mark, right_mark
        ``[P]`` int8, :class:`MarkKind` left and right of the direction of travel.
    left_colour, right_colour
        ``[P]`` int8, :class:`MarkColour`.
    successor_offset, successor_lane
        Successors of lane ``i`` are ``successor_lane[successor_offset[i]:successor_offset[i + 1]]``.
    left, right
        ``[L]`` the adjacent lane left and right of the direction of travel, -1 if none; whatever its
        kind, and across the middle of the road.
    left_same, right_same
        ``[L]`` whether that neighbour travels in the same direction (False where there is none).
    """

    road: Int
    section: Int
    lane: Int
    kind: Code
    junction: Int
    speed_limit: Float
    offset: Int
    centre: Float
    heading: Float
    width: Float
    arc: Float
    left_mark: Code
    right_mark: Code
    left_colour: Code
    right_colour: Code
    successor_offset: Int
    successor_lane: Int
    left: Int
    right: Int
    left_same: Bool
    right_same: Bool

    def __len__(self) -> int:
        return len(self.road)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Every array by its name, as the cache stores them."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @property
    def is_junction(self) -> Bool:
        """``[L]`` whether the lane lies in a junction."""
        return np.asarray(self.junction >= 0)

    @cached_property
    def length(self) -> Float:
        """``[L]`` metres along the centre."""
        return self.arc[self.offset[1:] - 1]

    @cached_property
    def lane_of_point(self) -> Int:
        """``[P]`` the lane that owns each point."""
        return np.repeat(np.arange(len(self)), np.diff(self.offset))

    @cached_property
    def _keys(self) -> dict[tuple[int, int, int], int]:
        keys = zip(self.road.tolist(), self.section.tolist(), self.lane.tolist(), strict=True)
        return {key: index for index, key in enumerate(keys)}

    @cached_property
    def _predecessors(self) -> tuple[Int, Int]:
        source = np.repeat(np.arange(len(self)), np.diff(self.successor_offset))
        order = np.argsort(self.successor_lane, kind="stable")
        counts = np.bincount(self.successor_lane, minlength=len(self))
        return np.concatenate([[0], np.cumsum(counts)]), source[order]

    def index(self, road: int, section: int, lane: int) -> int:
        """The lane with this key; ``KeyError`` if there is none."""
        return self._keys[road, section, lane]

    def points(self, lane: int) -> slice:
        """Where the points of a lane lie in ``centre``, ``heading``, ``width``, ``arc`` and the marks."""
        return slice(int(self.offset[lane]), int(self.offset[lane + 1]))

    def successors(self, lane: int) -> Int:
        """Lanes that continue this one in the direction of travel."""
        return self.successor_lane[self.successor_offset[lane] : self.successor_offset[lane + 1]]

    def predecessors(self, lane: int) -> Int:
        """Lanes that this one continues."""
        offset, lanes = self._predecessors
        return lanes[offset[lane] : offset[lane + 1]]

    def polyline(self, lane: int) -> Polyline:
        """The centre line of a lane in the plane."""
        return Polyline(self.centre[self.points(lane), :2])

    def border(self, lane: int, side: int) -> Float:
        """The left (``side`` = 1) or right (-1) border ``[n, 3]`` of a lane."""
        part = self.points(lane)
        return offset_sideways(self.centre[part], self.heading[part], side * self.width[part] / 2.0)

    def of_kind(self, *kinds: LaneKind) -> Int:
        """Indices of the lanes of these kinds."""
        return np.flatnonzero(np.isin(self.kind, [int(kind) for kind in kinds]))


def offset_sideways(centre: Float, heading: Float, left: Float) -> Float:
    """Points ``[..., 3]`` shifted by ``left`` ``[...]`` metres to the left of ``heading`` ``[...]``."""
    shifted = np.array(centre, dtype=np.float64)
    shifted[..., 0] -= left * np.sin(heading)
    shifted[..., 1] += left * np.cos(heading)
    return shifted
