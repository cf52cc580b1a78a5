"""The map of a log as the rules see it: lanes and areas around the ego, the route through the lanes that were driven.

The route is that of the logged driver: the likeliest lanes under the logged poses, joined by successors, extended
straight on to 120 m. Frames: the log's world at the door, the scene's own frame inside.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely

from driveproof.geometry import points_to_local, poses_to_world
from driveproof.geometry.arrays import Float
from driveproof.geometry.polyline import Polyline
from driveproof.rules.lane_path import lanes_driven, straight_on
from driveproof.rules.roads import MapPolygon, PolygonKind, RoadMap
from driveproof.rules.states import DT, STEPS
from driveproof.rules.traffic import Signals
from driveproof.scene import LightState, Scene
from driveproof.scene.log_map import LogMap, MapLane

RADIUS = 100.0
"""Metres around the ego within which the map is taken (NAVSIM's metric cache)."""
_BESIDE = 3.5
"""Metres between the centres of two lanes side by side."""
_SAME_WAY = np.pi / 6
_CHANGE = 5.0
"""Metres before and after the crossing of a lane line over which the route's line changes lanes."""


def roads_in(
    log_map: LogMap, scene: Scene, future: Float, notes: list[str]
) -> tuple[RoadMap, Signals]:
    """The roads and lights of a scene in its own frame; ``future`` ``[K, 3]`` are the poses that the log drove.

    What had to be assumed is appended to ``notes``.
    """
    notes.extend(log_map.notes)
    driven = poses_to_world(np.concatenate([np.zeros((1, 3)), future]), scene.world_pose)
    lanes = [lane for lane in log_map.lanes if _near(lane.outline, scene.world_pose)]
    path = lanes_driven(lanes, driven)
    if not path:
        notes.append("no route: the log drives where the map has no lane")
    path = straight_on(lanes, path)
    route = _beside(lanes, path)
    pose = scene.world_pose
    polygons = [_lane(lane, n in route, pose) for n, lane in enumerate(lanes)]
    for kind, rings in (
        (PolygonKind.DRIVABLE_AREA, log_map.drivable),
        (PolygonKind.INTERSECTION, log_map.junctions),
    ):
        polygons += [
            MapPolygon(f"{kind.name.lower()}{n}", kind, points_to_local(ring, pose))
            for n, ring in enumerate(rings)
            if _near(ring, pose)
        ]
    line = points_to_local(_line(lanes, path, driven), pose) if path else None
    return RoadMap.of(polygons, line), _signals(log_map, scene, lanes)


def _near(ring: Float, pose: Float) -> bool:
    low, high = ring.min(0) - pose[:2], ring.max(0) - pose[:2]
    return bool((low < RADIUS).all() and (high > -RADIUS).all())


def _lane(lane: MapLane, on_route: bool, pose: Float) -> MapPolygon:
    kind = PolygonKind.LANE_CONNECTOR if lane.in_junction else PolygonKind.LANE
    outline, centre = points_to_local(lane.outline, pose), points_to_local(lane.centre, pose)
    return MapPolygon(f"lane{lane.id}", kind, outline, on_route, centre)


def _line(lanes: Sequence[MapLane], path: Sequence[int], driven: Float) -> Float:
    """The centreline ``[M, 2]`` of a path; where it changes to a lane beside, it crosses over where the log did."""
    parts: list[Float] = []
    before = [lane for lane in lanes if lanes[path[0]].id in lane.successors]
    parts += [before[0].centre] if before else []
    for n, number in enumerate(path):
        centre = lanes[number].centre
        if n and lanes[number].id not in lanes[path[n - 1]].successors:
            old, new = Polyline(parts[-1]), Polyline(centre)
            (leave, gap), (enter, off) = old.project(driven[:, :2]), new.project(driven[:, :2])
            at = int((np.abs(off) < np.abs(gap)).argmax())
            parts[-1] = old.at([*old.arc[old.arc < leave[at] - _CHANGE], leave[at] - _CHANGE])
            centre = new.at([enter[at] + _CHANGE, *new.arc[new.arc > enter[at] + _CHANGE]])
        parts.append(centre)
    whole = np.concatenate(parts)
    kept = np.ones(len(whole), bool)
    kept[1:] = np.hypot(*np.diff(whole, axis=0).T) > 0.05
    line: Float = whole[kept]
    return line


def _beside(lanes: Sequence[MapLane], path: Sequence[int]) -> set[int]:
    """Lanes of the path and those beside them in the same direction: what nuPlan calls the route's roadblocks."""
    found = set(path)
    if not path:
        return found
    tree = shapely.STRtree([shapely.Polygon(lane.outline) for lane in lanes])
    for number in path:
        here = Polyline(lanes[number].centre)
        arcs = np.linspace(0.25, 0.75, 3) * here.length
        heading = here.heading(arcs)
        normal = np.stack([-np.sin(heading), np.cos(heading)], -1)
        for side in (-_BESIDE, _BESIDE):
            points = here.at(arcs) + side * normal
            point, lane = tree.query(shapely.points(points), predicate="within")
            for k, other in zip(point.tolist(), lane.tolist(), strict=True):
                other_line = Polyline(lanes[other].centre)
                turn = other_line.heading(other_line.project(points[k : k + 1])[0])[0] - heading[k]
                if _small(turn) and _alike(lanes[other], lanes[number]):
                    found.add(other)
    return found


def _alike(one: MapLane, other: MapLane) -> bool:
    """Whether two lanes side by side lead the same way: of junction lanes, both ends must (a turn lane does not)."""
    if one.in_junction != other.in_junction:
        return False
    return not one.in_junction or all(
        _small(_course(one.centre, end) - _course(other.centre, end)) for end in (0, -2)
    )


def _course(line: Float, segment: int) -> float:
    x, y = line[segment + 1] - line[segment]
    return float(np.arctan2(y, x))


def _small(turn: float) -> bool:
    return bool(abs(np.angle(np.exp(1j * turn))) < _SAME_WAY)


def _signals(log_map: LogMap, scene: Scene, lanes: Sequence[MapLane]) -> Signals:
    """Lights of the lanes around; a lane is red where its light was seen red at that moment."""
    if log_map.lights is None:
        return Signals.unknown()
    times = scene.timestamp_s + np.arange(STEPS) * DT
    polygon, red = [], []
    for n, lane in enumerate(lanes):
        if lane.id in log_map.lights.states:
            polygon.append(n)
            red.append([log_map.lights.at(lane.id, time) is LightState.RED for time in times])
    if not polygon:
        return Signals.none()
    return Signals(np.array(polygon, np.int64), np.array(red, bool))
