"""Argoverse 2 vector maps: ``log_map_archive_*.json`` beside a log.

Said by the file: drivable areas, lanes with borders, type, neighbours and successors, crossings. Derived: a
centreline where none is given (middle of the borders), junctions (hulls of overlapping intersection lanes, clipped
to the drivable area). Missing: traffic lights, speed limits. Lanes for bicycles are left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from driveproof.datasets.checks import malformed, parse_json
from driveproof.datasets.map_shapes import junctions_of, polyline, ring
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.geometry.polyline import Polyline
from driveproof.scene.log_map import LogMap, MapLane

_SAMPLES = 12
NOTES = (
    "junctions are hulls of intersection lanes, clipped to the drivable area",
    "the source records no traffic lights",
)


def find_map(folder: Path) -> Path | None:
    """The map archive of a log in ``folder`` or ``folder/map``, if there is one."""
    found = sorted(
        [*folder.glob("log_map_archive_*.json"), *folder.glob("map/log_map_archive_*.json")]
    )
    return found[0] if found else None


def read_map(path: Path) -> LogMap:
    """The map of an archive.

    Raises
    ------
    BadInput
        Naming the file and the element.
    """
    try:
        document = parse_json(path.read_bytes(), path)
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", path=path) from None
    with malformed(path):
        areas = document["drivable_areas"].items()
        lanes = document["lane_segments"].items()
        crossings = document.get("pedestrian_crossings", {}).items()
        drivable = tuple(
            _ring(area, "area_boundary", path, f"drivable_areas.{key}") for key, area in areas
        )
        found = tuple(
            _lane(str(key), lane, path) for key, lane in lanes if lane.get("lane_type") != "BIKE"
        )
        walks = tuple(
            _crossing(item, path, f"pedestrian_crossings.{key}") for key, item in crossings
        )
    return LogMap(found, drivable, junctions_of(found, drivable), walks, None, NOTES)


def _points(rows: Any) -> Float:
    return polyline((row["x"], row["y"]) for row in rows)


def _ring(item: dict[str, Any], key: str, path: Path, field: str) -> Float:
    with malformed(path, f"{field}.{key}"):
        return ring((row["x"], row["y"]) for row in item[key])


def _lane(key: str, item: dict[str, Any], path: Path) -> MapLane:
    with malformed(path, f"lane_segments.{key}"):
        left, right = _points(item["left_lane_boundary"]), _points(item["right_lane_boundary"])
        if item.get("centerline"):
            centre = _points(item["centerline"])
        else:
            centre = polyline((_even(left) + _even(right)) / 2.0)
        return MapLane(
            key,
            centre,
            ring(np.concatenate([left, right[::-1]])),
            bool(item["is_intersection"]),
            tuple(str(name) for name in item["successors"]),
        )


def _even(line: Float) -> Float:
    whole = Polyline(line)
    return whole.at(np.linspace(0.0, whole.length, _SAMPLES))


def _crossing(item: dict[str, Any], path: Path, field: str) -> Float:
    with malformed(path, field):
        return ring(np.concatenate([_points(item["edge1"]), _points(item["edge2"])[::-1]]))
