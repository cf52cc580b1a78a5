"""Which lane is a point on?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from driveproof.geometry import wrap_angle
from driveproof.geometry.arrays import Float, Int
from driveproof.maps.lanes import LaneTable

#: Metres that a lane may be further away for each radian that it fits the heading better.
HEADING_WEIGHT = 3.0
CANDIDATES = 24


@dataclass(frozen=True)
class LaneMatch:
    """The nearest lane of each of N points.

    Parameters
    ----------
    lane
        ``[N]`` lane index.
    arc
        ``[N]`` metres along that lane.
    lateral
        ``[N]`` metres left of its centre.
    heading_error
        ``[N]`` radians, the point's heading minus the lane's, wrapped; zero if no heading was given.
    distance
        ``[N]`` metres from the lane's centre line, in the plane.
    """

    lane: Int
    arc: Float
    lateral: Float
    heading_error: Float
    distance: Float


class LaneIndex:
    """A KD-tree over the centre points of some lanes (in the plane)."""

    def __init__(self, lanes: LaneTable, members: Int) -> None:
        if len(members) == 0:
            raise ValueError("LaneIndex: no lanes of this kind")
        self._lanes = lanes
        chosen = np.zeros(len(lanes), dtype=bool)
        chosen[members] = True
        self._rows = np.flatnonzero(chosen[lanes.lane_of_point])
        self._tree = cKDTree(lanes.centre[self._rows, :2])

    def match(self, points: Float, heading: Float | None) -> LaneMatch:
        """Match points ``[N, 2]``; with ``heading`` ``[N]`` a lane along it is preferred to a nearer one."""
        count = min(CANDIDATES, len(self._rows))
        _, found = self._tree.query(points, k=count)
        rows = self._rows[np.asarray(found).reshape(len(points), count)]
        along, lateral, distance = self._project(points, rows)
        cost = distance
        error = np.zeros_like(distance)
        if heading is not None:
            error = wrap_angle(heading[:, None] - self._lanes.heading[rows])
            cost = distance + HEADING_WEIGHT * np.abs(error)
        best = cost.argmin(axis=1)[:, None]
        pick = [
            np.take_along_axis(a, best, axis=1)[:, 0] for a in (along, lateral, error, distance)
        ]
        lane = self._lanes.lane_of_point[np.take_along_axis(rows, best, axis=1)[:, 0]]
        return LaneMatch(lane, *pick)

    def _project(self, points: Float, rows: Int) -> tuple[Float, Float, Float]:
        """Arc, signed lateral offset and distance of points on the two segments beside each row."""
        lanes = self._lanes
        owner = lanes.lane_of_point[rows]
        best: tuple[Float, Float, Float] | None = None
        for first in (rows - 1, rows):
            first = np.clip(first, lanes.offset[owner], lanes.offset[owner + 1] - 2)
            start = lanes.centre[first, :2]
            delta = lanes.centre[first + 1, :2] - start
            relative = points[:, None, :] - start
            squared = np.maximum((delta**2).sum(-1), 1e-12)
            share = np.clip((relative * delta).sum(-1) / squared, 0.0, 1.0)
            distance = np.linalg.norm(relative - share[..., None] * delta, axis=-1)
            cross = delta[..., 0] * relative[..., 1] - delta[..., 1] * relative[..., 0]
            arc = lanes.arc[first] + share * (lanes.arc[first + 1] - lanes.arc[first])
            here = (arc, np.where(cross >= 0.0, distance, -distance), distance)
            if best is None:
                best = here
            else:
                nearer = distance < best[2]
                best = tuple(
                    np.where(nearer, new, old) for new, old in zip(here, best, strict=True)
                )  # type: ignore[assignment]
        assert best is not None
        return best
