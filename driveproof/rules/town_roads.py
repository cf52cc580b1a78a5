"""A town as the rules see it: lanes, roadblocks and junctions around the ego, the lanes of the route marked.

nuPlan's layers are made from OpenDRIVE: a roadblock is the union of the driving lanes of one lane section, an
intersection is the outline of a junction, a parking lane is a car park. World frame of the town, metres.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import ArrayLike

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float, Int
from driveproof.maps import LaneKind, LaneTable, TownMap
from driveproof.rules.roads import MapPolygon, PolygonKind

RADIUS = 100.0
"""Metres around the ego within which the map is taken (NAVSIM's metric cache)."""
LEVEL = 4.0
"""Metres in height beyond which a lane belongs to another level."""
AHEAD = 120.0
"""Metres that a route shall reach."""
SEAM = 0.05
"""Metres by which lanes are grown before they are joined, lest rounding leave slits between them."""
_DRIVEN = (LaneKind.DRIVING, LaneKind.BIDIRECTIONAL)


@dataclass(frozen=True)
class Way:
    """A route: its lanes in order and its centreline ``[M, 2]`` in the world, metres."""

    lanes: tuple[int, ...]
    line: Float


def way_through(town: TownMap, poses: ArrayLike) -> Way:
    """The way along the logged ``poses`` ``[K, 3]`` (world; the first is now), extended straight on to 120 m.

    Raises
    ------
    BadInput
        If no road leads from the first to the last pose.
    """
    poses = np.asarray(poses, np.float64)
    start, goal = poses[0], poses[-1]
    lanes: list[int] = []
    line = np.zeros((0, 2))
    if np.hypot(*(goal - start)[:2]) > 5.0:
        try:
            route = town.route(start, goal)
        except BadInput as error:
            raise BadInput(error.problem, field="route") from None
        lanes = list(dict.fromkeys(route.lanes.tolist()))
        line = route.line.points
    match = town.nearest_lane(poses[-1:, :2], poses[-1:, 2])
    lane, arc = int(match.lane[0]), float(match.arc[0])
    line = np.concatenate([line, _rest(town.lanes, lane, arc)])
    lanes.append(lane)
    while np.hypot(*np.diff(line, axis=0).T).sum() < AHEAD:
        following = _straightest(town.lanes, lane)
        if following is None:
            break
        lane = following
        lanes.append(lane)
        line = np.concatenate([line, _rest(town.lanes, lane, 0.0)])
    # The centreline begins behind the ego, so that small steps back or to the side project well.
    first = lanes[0]
    behind = [_rest(town.lanes, before, 0.0) for before in town.lanes.predecessors(first)[:1]]
    entry = float(town.nearest_lane(poses[:1, :2], poses[:1, 2]).arc[0])
    part = town.lanes.points(first)
    lead = town.lanes.centre[part][town.lanes.arc[part] < entry - 0.3, :2]
    line = _tidy(np.concatenate([*behind, lead, line]))
    return Way(tuple(dict.fromkeys(lanes)), line)


def polygons_around(town: TownMap, center: ArrayLike, way: Way | None) -> list[MapPolygon]:
    """The polygons within 100 m of ``center`` ``[2]`` on its level; lanes of the way's lane sections are on the route."""
    lanes, center = town.lanes, np.asarray(center, np.float64)
    near = _lanes_near(town, center)
    shapes = {lane: _outline(lanes, lane) for lane in near}
    route = _route_lanes(lanes, way)
    polygons: list[MapPolygon] = []
    sections: dict[tuple[int, int], list[int]] = {}
    for lane in near:
        junction = int(lanes.junction[lane])
        kind = PolygonKind.LANE_CONNECTOR if junction >= 0 else PolygonKind.LANE
        if lanes.kind[lane] == LaneKind.PARKING:
            polygons.append(MapPolygon(f"park{lane}", PolygonKind.CARPARK_AREA, shapes[lane]))
            continue
        part = lanes.points(lane)
        centre = lanes.centre[part, :2]
        polygons.append(MapPolygon(f"lane{lane}", kind, shapes[lane], lane in route, centre))
        if junction < 0:
            sections.setdefault((int(lanes.road[lane]), int(lanes.section[lane])), []).append(lane)
    for (road, section), members in sections.items():
        whole = shapely.union_all(
            [shapely.Polygon(shapes[lane]).buffer(SEAM, join_style="mitre") for lane in members]
        )
        for n, piece in enumerate(shapely.get_parts(whole)):
            name = f"block{road}.{section}.{n}"
            ring = shapely.get_coordinates(piece.exterior)
            polygons.append(MapPolygon(name, PolygonKind.ROADBLOCK, ring))
    present = {int(lanes.junction[lane]) for lane in near} - {-1}
    for key in sorted(present & town.junctions.keys()):
        ring = shapely.get_coordinates(shapely.Polygon(town.junctions[key].outline).buffer(SEAM))
        polygons.append(MapPolygon(f"junction{key}", PolygonKind.INTERSECTION, ring))
    return polygons


def connector_ahead(town: TownMap, way: Way) -> int | None:
    """The first junction lane of a way that the ego is not yet in, by lane index."""
    for lane in way.lanes[1:]:
        if town.lanes.junction[lane] >= 0:
            return lane
    return None


def _lanes_near(town: TownMap, center: Float) -> list[int]:
    lanes = town.lanes
    kinds = [int(kind) for kind in (*_DRIVEN, LaneKind.PARKING)]
    fits = np.isin(lanes.kind[lanes.lane_of_point], kinds)
    gap = np.hypot(lanes.centre[:, 0] - center[0], lanes.centre[:, 1] - center[1])
    here = np.where(fits, gap, np.inf).argmin()
    level = np.abs(lanes.centre[:, 2] - lanes.centre[here, 2]) < LEVEL + 0.1 * gap
    found: list[int] = np.unique(lanes.lane_of_point[fits & (gap < RADIUS) & level]).tolist()
    return found


def _outline(lanes: LaneTable, lane: int) -> Float:
    """Ring ``[V, 2]`` of a lane: left border forth, right border back."""
    left, right = lanes.border(lane, 1)[:, :2], lanes.border(lane, -1)[:, :2]
    return np.concatenate([left, right[::-1]])


def _route_lanes(lanes: LaneTable, way: Way | None) -> set[int]:
    """Lanes of the way, and those beside them in the same section and direction."""
    found: set[int] = set()
    for lane in way.lanes if way is not None else ():
        same = (lanes.road == lanes.road[lane]) & (lanes.section == lanes.section[lane])
        same &= np.sign(lanes.lane) == np.sign(lanes.lane[lane])
        found.update(np.flatnonzero(same).tolist())
    return found


def _rest(lanes: LaneTable, lane: int, arc: float) -> Float:
    part = lanes.points(lane)
    return lanes.centre[part][lanes.arc[part] >= arc, :2]


def _straightest(lanes: LaneTable, lane: int) -> int | None:
    following: Int = lanes.successors(lane)
    if not len(following):
        return None
    turns = []
    for other in following.tolist():
        part = lanes.points(other)
        turn = lanes.heading[part.stop - 1] - lanes.heading[lanes.points(lane).stop - 1]
        turns.append(abs(np.arctan2(np.sin(turn), np.cos(turn))))
    return int(following[int(np.argmin(turns))])


def _tidy(line: Float) -> Float:
    """The line without points closer than 0.3 m to the one before."""
    kept = [line[0]]
    for point in line[1:]:
        if np.hypot(*(point - kept[-1])) > 0.3:
            kept.append(point)
    return np.array(kept)
