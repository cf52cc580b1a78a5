"""Maps of GPUDrive's JSON: ``roads`` with a type and a line each.

Said by the file: centrelines, road edges, crosswalks, driveways. Derived: borders of lanes (1.75 m), successors (a
lane that begins where another ends), the drivable area and the junctions as for Waymo's own records. Missing: traffic
lights. Lanes for bicycles are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driveproof.datasets.checks import malformed
from driveproof.datasets.map_shapes import (
    crossing,
    following,
    junctions_of,
    polyline,
    ribbon,
    ring,
    roadway,
)
from driveproof.geometry.arrays import Float
from driveproof.scene.log_map import LogMap, MapLane

BIKE_LANE = 3
NOTES = (
    "no drivable area in the source: within 6 m of a lane's centre and not across a road edge",
    "junctions are hulls of lanes that cross another",
    "borders of lanes are 1.75 m from the centre",
    "the source records no traffic lights",
)


def read_map(scenario: Mapping[str, Any], path: Path) -> LogMap:
    """The map of a scenario.

    Raises
    ------
    BadInput
        Naming the file and the road.
    """
    found: dict[str, list[tuple[str, Float]]] = {}
    with malformed(path, "roads"):
        for n, road in enumerate(scenario["roads"]):
            kind, points = road["type"], road["geometry"]
            wanted = kind in ("lane", "road_edge", "crosswalk", "driveway")
            if not wanted or len(points) < 2 or road.get("map_element_id") == BIKE_LANE:
                continue
            with malformed(path, f"roads[{n}]"):
                shape = ring if kind in ("crosswalk", "driveway") else polyline
                line = shape((point["x"], point["y"]) for point in points)
            found.setdefault(kind, []).append((str(road.get("id", n)), line))
    centres = [line for _, line in found.get("lane", [])]
    names = [name for name, _ in found.get("lane", [])]
    crossed, after = crossing(centres), following(centres)
    lanes = tuple(
        MapLane(name, centre, ribbon(centre), n in crossed, tuple(names[k] for k in after[n]))
        for n, (name, centre) in enumerate(zip(names, centres, strict=True))
    )
    edges = [line for _, line in found.get("road_edge", [])]
    drivable = roadway(centres, edges, [area for _, area in found.get("driveway", [])])
    walks = tuple(area for _, area in found.get("crosswalk", []))
    return LogMap(lanes, drivable, junctions_of(lanes, drivable), walks, None, NOTES)
