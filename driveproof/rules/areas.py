"""Where the ego box is on the map at every step; several rules ask."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.rules.kernels import project
from driveproof.rules.polygon_index import holds
from driveproof.rules.roads import RoadMap
from driveproof.rules.states import HEADING

CENTER, REAR_AXLE = 4, 5
MULTIPLE_LANES, NON_DRIVABLE, OFF_ROUTE, CENTER_IN_JUNCTION, REAR_IN_JUNCTION = range(5)
_LANE, _DRIVABLE, _ROUTE, _JUNCTION = 1, 2, 4, 8


@dataclass(frozen=True)
class Areas:
    """Flags ``[N, T]`` of N proposals over T steps.

    ``multiple_lanes``: more than one lane holds a corner and none holds all four. ``non_drivable``: some corner
    is in no drivable polygon. ``off_route``: the box centre is in no lane of the route (the reference calls it
    oncoming traffic). ``center_in_junction``, ``rear_in_junction``: box centre, rear axle inside an intersection.
    """

    multiple_lanes: Bool
    non_drivable: Bool
    off_route: Bool
    center_in_junction: Bool
    rear_in_junction: Bool

    @property
    def astray(self) -> Bool:
        """In multiple lanes or partly off the drivable area: side contacts become the ego's fault."""
        return self.multiple_lanes | self.non_drivable


@numba.njit(nogil=True, cache=True, inline="always")
def _meets(bounds: Float, low_x: float, high_x: float, low_y: float, high_y: float) -> bool:
    """Whether limits ``[4]`` and a box along the axes have a point in common."""
    if bounds[0] > high_x or bounds[2] < low_x:
        return False
    return not (bounds[1] > high_y or bounds[3] < low_y)


@numba.njit(nogil=True, cache=True)
def _locate(
    points: Float,
    edges: Float,
    slabs: Int,
    first: Int,
    scale: Float,
    flipped: Bool,
    bounds: Float,
    roles: Int,
    out: Bool,
) -> None:
    """Write the five flags ``out`` ``[N, T, 5]`` of ``points`` ``[N, T, 6, 2]`` (four corners, centre, rear axle)."""
    candidates = np.empty(len(bounds), np.int64)
    for n in range(points.shape[0]):
        low_x, high_x = points[n, :, :, 0].min(), points[n, :, :, 0].max()
        low_y, high_y = points[n, :, :, 1].min(), points[n, :, :, 1].max()
        near = 0
        for p in range(len(bounds)):
            if _meets(bounds[p], low_x, high_x, low_y, high_y):
                candidates[near] = p
                near += 1
        for t in range(points.shape[1]):
            lanes_touched, holds_all, on_route = 0, False, False
            drivable = 0  # one bit a corner
            box = points[n, t]
            low_x, high_x = box[:, 0].min(), box[:, 0].max()
            low_y, high_y = box[:, 1].min(), box[:, 1].max()
            for k in range(near):
                p = candidates[k]
                if not _meets(bounds[p], low_x, high_x, low_y, high_y):
                    continue
                role, held = roles[p], 0
                for corner in range(6):
                    x, y = points[n, t, corner, 0], points[n, t, corner, 1]
                    boxed = bounds[p, 0] <= x <= bounds[p, 2] and bounds[p, 1] <= y <= bounds[p, 3]
                    if boxed and holds(edges, slabs, first, scale, flipped, p, x, y):
                        held |= 1 << corner
                if role & _LANE and held & 15:
                    lanes_touched += 1
                    holds_all = holds_all or (held & 15) == 15
                if role & _DRIVABLE:
                    drivable |= held & 15
                if held & 16:
                    on_route = on_route or (role & _ROUTE) != 0
                    if role & _JUNCTION:
                        out[n, t, CENTER_IN_JUNCTION] = True
                if held & 32 and role & _JUNCTION:
                    out[n, t, REAR_IN_JUNCTION] = True
            out[n, t, MULTIPLE_LANES] = lanes_touched > 1 and not holds_all
            out[n, t, NON_DRIVABLE] = drivable != 15
            out[n, t, OFF_ROUTE] = not on_route


def locate(points: Float, roads: RoadMap) -> Areas:
    """Flags of ``points`` ``[N, T, 6, 2]`` (:func:`driveproof.rules.states.ego_points`) on a map."""
    lanes = roads.lanes
    roles = np.where(lanes, _LANE, 0) | np.where(roads.drivable, _DRIVABLE, 0)
    roles |= np.where(lanes & roads.on_route, _ROUTE, 0)
    roles |= np.where(roads.intersections, _JUNCTION, 0)
    flags = np.zeros((*points.shape[:2], 5), bool)
    part = roads.index
    _locate(
        points, part.edges, part.slabs, part.first, part.scale, part.flipped, part.bounds,
        roles.astype(np.int64), flags,
    )  # fmt: skip
    return Areas(*np.moveaxis(flags, -1, 0))


@numba.njit(nogil=True, cache=True)
def _lane_driven(
    centers: Float,
    headings: Float,
    edges: Float,
    slabs: Int,
    first: Int,
    scale: Float,
    flipped: Bool,
    bounds: Float,
    lines: Float,
    line_starts: Int,
    offset: Float,
    against: Bool,
) -> None:
    """Write the distance to the centreline of the lane driven in, and whether all lanes here run the other way."""
    for n in range(centers.shape[0]):
        for t in range(centers.shape[1]):
            x, y = centers[n, t, 0], centers[n, t, 1]
            known, along = False, False
            for p in range(len(bounds)):
                start, stop = line_starts[p], line_starts[p + 1]
                if start == stop or not (
                    bounds[p, 0] <= x <= bounds[p, 2] and bounds[p, 1] <= y <= bounds[p, 3]
                ):
                    continue
                if not holds(edges, slabs, first, scale, flipped, p, x, y):
                    continue
                line = lines[start:stop]
                _, distance, k = project(line, x, y)
                ex, ey = line[k + 1, 0] - line[k, 0], line[k + 1, 1] - line[k, 1]
                known = True
                if ex * np.cos(headings[n, t]) + ey * np.sin(headings[n, t]) > 0.0:
                    along = True
                    offset[n, t] = min(offset[n, t], distance)
            against[n, t] = known and not along


def lane_driven(points: Float, states: Float, roads: RoadMap) -> tuple[Float, Bool]:
    """Distance to the nearest centreline of a lane that holds the centre and runs the ego's way, and ``against``.

    Returns
    -------
    ``offset`` ``[N, T]`` in metres, infinite where no such lane is, and ``against`` ``[N, T]``: the centre is in
    lanes, and all of them run more than 90° off the ego's heading. Lanes without a centreline do not count.
    """
    centers = np.ascontiguousarray(points[:, :, CENTER])
    offset = np.full(centers.shape[:2], np.inf)
    against = np.zeros(centers.shape[:2], bool)
    part, lines = roads.index, roads.lines
    _lane_driven(
        centers, np.ascontiguousarray(states[..., HEADING]), part.edges, part.slabs, part.first,
        part.scale, part.flipped, part.bounds, lines.points, lines.starts, offset, against,
    )  # fmt: skip
    return offset, against
