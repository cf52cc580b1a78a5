"""Maps of Waymo motion scenarios: ``map_features`` and ``dynamic_map_states``.

Said by the record: centrelines, successors, speed limits, road lines and edges, crosswalks, driveways, lights by
lane and step. Derived: borders of a lane (its boundary features where it names any, else 1.75 m), the drivable area
(within 6 m of a centreline and not across a road edge, and driveways), junctions (hulls of lanes that are
interpolated, have a light or cross another). Heights are ignored. Lanes for bicycles are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import shapely

from driveproof.datasets import waymo_pb2
from driveproof.datasets.checks import malformed
from driveproof.datasets.map_shapes import (
    HALF_WIDTH,
    crossing,
    junctions_of,
    polyline,
    ribbon,
    ring,
    roadway,
)
from driveproof.geometry.arrays import Float
from driveproof.scene import LightState
from driveproof.scene.log_map import LaneLights, LogMap, MapLane

BIKE_LANE = 3
MPH = 0.44704
_BORDER = (1.0, 3.0)
"""Metres between which the distance to a boundary feature is taken for that to the lane's border."""
NOTES = (
    "no drivable area in the source: within 6 m of a lane's centre and not across a road edge",
    "junctions are hulls of lanes that are interpolated, have a light or cross another",
    "borders of lanes are their boundary features where named, else 1.75 m from the centre",
)
# TrafficSignalLaneState.State; a flashing red light is a stop sign, one may drive on after stopping
_LIGHTS = {1: LightState.RED, 2: LightState.YELLOW, 3: LightState.GREEN}
_LIGHTS |= {4: LightState.RED, 5: LightState.YELLOW, 6: LightState.GREEN}
_LIGHTS |= {7: LightState.OFF, 8: LightState.YELLOW}


def read_map(scenario: waymo_pb2.Scenario, times: Float, path: Path, field: str) -> LogMap:
    """The map of a scenario whose log has its samples at ``times`` ``[T]``.

    Raises
    ------
    BadInput
        Naming the record and the feature.
    """
    lines: dict[int, Float] = {}
    edges, walks, driveways = [], [], []
    for feature in scenario.map_features:
        with malformed(path, f"{field}, map_features {feature.id}"):
            for name in ("road_line", "road_edge"):
                if feature.HasField(name) and len(getattr(feature, name).polyline) > 1:
                    lines[feature.id] = _line(getattr(feature, name).polyline)
                    edges += [lines[feature.id]] if name == "road_edge" else []
            walks += [_ring(feature.crosswalk.polygon)] if feature.HasField("crosswalk") else []
            driveways += [_ring(feature.driveway.polygon)] if feature.HasField("driveway") else []
    lights = _lights(scenario, times)
    chosen = [f for f in scenario.map_features if _is_lane(f)]
    centres = []
    for feature in chosen:
        with malformed(path, f"{field}, map_features {feature.id}"):
            centres.append(_line(feature.lane.polyline))
    crossed = crossing(centres)
    lanes = tuple(
        MapLane(
            str(feature.id),
            centre,
            ribbon(
                centre,
                _half_width(feature.lane.left_boundaries, centre, lines),
                _half_width(feature.lane.right_boundaries, centre, lines),
            ),
            feature.lane.interpolating or n in crossed or str(feature.id) in lights.states,
            tuple(str(name) for name in feature.lane.exit_lanes),
            feature.lane.speed_limit_mph * MPH or float("nan"),
        )
        for n, (feature, centre) in enumerate(zip(chosen, centres, strict=True))
    )
    drivable = roadway(centres, edges, driveways)
    return LogMap(lanes, drivable, junctions_of(lanes, drivable), tuple(walks), lights, NOTES)


def _is_lane(feature: waymo_pb2.MapFeature) -> bool:
    lane = feature.lane
    return feature.HasField("lane") and lane.type != BIKE_LANE and len(lane.polyline) > 1


def _line(points: Iterable[waymo_pb2.MapPoint]) -> Float:
    return polyline((point.x, point.y) for point in points)


def _ring(points: Iterable[waymo_pb2.MapPoint]) -> Float:
    return ring((point.x, point.y) for point in points)


def _half_width(
    segments: Iterable[waymo_pb2.BoundarySegment], centre: Float, lines: dict[int, Float]
) -> Float:
    """Metres ``[M]`` from the centreline to one border of the lane."""
    width = np.full(len(centre), HALF_WIDTH)
    for segment in segments:
        border = lines.get(segment.boundary_feature_id)
        if border is None:
            continue
        part = slice(max(segment.lane_start_index, 0), segment.lane_end_index + 1)
        gap = shapely.distance(shapely.points(centre[part]), shapely.LineString(border))
        width[part] = np.where((gap > _BORDER[0]) & (gap < _BORDER[1]), gap, width[part])
    return width


def _lights(scenario: waymo_pb2.Scenario, times: Float) -> LaneLights:
    states: dict[str, list[LightState]] = {}
    for step, state in enumerate(scenario.dynamic_map_states[: len(times)]):
        for lane in state.lane_states:
            row = states.setdefault(str(lane.lane), [LightState.UNKNOWN] * len(times))
            row[step] = _LIGHTS.get(lane.state, LightState.UNKNOWN)
    return LaneLights(times, {name: tuple(row) for name, row in states.items()})
