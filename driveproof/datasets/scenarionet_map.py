"""Maps of ScenarioNet scenarios: ``map_features`` and ``dynamic_map_states``.

Said by nuScenes' scenarios: lanes with a polygon, connectors (lanes without one), and rings ``boundary_*`` round the
union of the drivable areas. Derived: borders of connectors (1.75 m), successors (a lane that begins where another
ends), junctions. Missing: traffic lights. Other sources name no rings; their drivable area is derived from road
edges as for Waymo, and junctions from lanes that cross.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from driveproof.datasets.checks import malformed
from driveproof.datasets.map_shapes import (
    crossing,
    following,
    junctions_of,
    polyline,
    ribbon,
    ring,
    rings_of,
    roadway,
)
from driveproof.geometry.arrays import Float
from driveproof.scene import LightState
from driveproof.scene.log_map import LaneLights, LogMap, MapLane

_BIKE = "LANE_BIKE_LANE"
_LIGHTS = {"LANE_STATE_STOP": LightState.RED, "LANE_STATE_GO": LightState.GREEN}
_LIGHTS |= {"LANE_STATE_CAUTION": LightState.YELLOW}
_LIGHTS |= {f"TRAFFIC_LIGHT_{colour.name}": colour for colour in LightState}


def read_map(scenario: Mapping[str, Any], times: Float, path: Path) -> LogMap:
    """The map of a scenario whose log has its samples at ``times`` ``[T]``.

    Raises
    ------
    BadInput
        Naming the file and the feature.
    """
    with malformed(path):
        return _read_map(scenario, times, path)


def _read_map(scenario: Mapping[str, Any], times: Float, path: Path) -> LogMap:
    features = {str(key): value for key, value in scenario["map_features"].items()}
    chosen = {
        key: value
        for key, value in features.items()
        if value["type"].startswith("LANE_")
        and value["type"] != _BIKE
        and len(value["polyline"]) > 1
    }
    centres = []
    for key, value in chosen.items():
        with malformed(path, f"map_features[{key}]"):
            centres.append(polyline(value["polyline"]))
    lights = _lights(scenario.get("dynamic_map_states") or {}, times, path)
    surfaces = {key for key, value in chosen.items() if len(value.get("polygon", ())) > 2}
    crossed = crossing(centres)
    after = following(centres)
    names = list(chosen)
    lanes = []
    for n, (key, value) in enumerate(chosen.items()):
        with malformed(path, f"map_features[{key}]"):
            outline = ring(value["polygon"]) if key in surfaces else ribbon(centres[n])
            inside = key not in surfaces if surfaces else n in crossed
            onward = tuple(str(name) for name in value.get("exit_lanes", ()))
            lanes.append(
                MapLane(
                    key, centres[n], outline, inside, onward or tuple(names[k] for k in after[n])
                )
            )
    drivable, note = _drivable(features, centres, path)
    notes = [note, "junctions are hulls of connecting lanes, clipped to the drivable area"]
    if lights is None:
        notes.append("the source records no traffic lights")
    walks = tuple(
        ring(value["polygon"])
        for value in features.values()
        if value["type"] == "CROSSWALK" and len(value.get("polygon", ())) > 2
    )
    return LogMap(
        tuple(lanes), drivable, junctions_of(lanes, drivable), walks, lights, tuple(notes)
    )


def _drivable(
    features: Mapping[str, Mapping[str, Any]], centres: list[Float], path: Path
) -> tuple[tuple[Float, ...], str]:
    """Drivable rings, and how they were found: nested ``boundary_*`` rings by the even-odd rule, or road edges."""
    with malformed(path, "map_features"):
        outlines = [
            polyline(v["polyline"]) for k, v in features.items() if k.startswith("boundary_")
        ]
        closed = [line for line in outlines if len(line) > 3 and np.allclose(line[0], line[-1])]
        if closed:
            area: shapely.Geometry = shapely.Polygon()
            for ring in closed:
                area = shapely.symmetric_difference(area, shapely.make_valid(shapely.Polygon(ring)))
            return rings_of(area), "the drivable area is what the rings boundary_* enclose"
        edges = [
            polyline(value["polyline"])
            for value in features.values()
            if value["type"].startswith("ROAD_EDGE") and len(value["polyline"]) > 1
        ]
    note = (
        "no drivable area in the source: within 6 m of a lane's centre and not across a road edge"
    )
    return roadway(centres, edges), note


def _lights(dynamic: Mapping[Any, Any], times: Float, path: Path) -> LaneLights | None:
    """States by lane; None where the scenario has no light at all."""
    states: dict[str, tuple[LightState, ...]] = {}
    for key, light in dynamic.items():
        with malformed(path, f"dynamic_map_states[{key}]"):
            values = light["state"]["object_state"]
            named = [_LIGHTS.get(str(value), LightState.UNKNOWN) for value in values]
            named += [LightState.UNKNOWN] * (len(times) - len(named))
            states[str(light.get("lane", key))] = tuple(named[: len(times)])
    return LaneLights(times, states) if states else None
