"""GPUDrive's JSON of Waymo motion scenarios: one file a scenario of 9.1 s.

Frame origin: centre of the box of the self-driving car. Rate: 10 Hz. Missing: pictures, navigation
command, signals. Other layouts with the same file names exist (``position`` is no list): they are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.datasets.checks import malformed, parse_json
from driveproof.datasets.gpudrive_map import read_map
from driveproof.datasets.tracks import build_tracks, ego_log
from driveproof.errors import BadInput
from driveproof.scene import AgentKind, Log

RATE_HZ = 10.0
_KINDS = {
    "vehicle": AgentKind.VEHICLE,
    "pedestrian": AgentKind.PEDESTRIAN,
    "cyclist": AgentKind.CYCLIST,
}


def claims(path: Path) -> bool:
    """Whether the file is JSON with the keys of GPUDrive."""
    if not (path.is_file() and path.suffix == ".json"):
        return False
    with path.open("rb") as stream:
        start = stream.read(4096)
    return b'"objects"' in start and b'"position"' in start


def read(path: Path) -> Iterator[Log]:
    """Yield the scenario of one file.

    Raises
    ------
    BadInput
        Naming the file and the field.
    """
    with malformed(path):
        scenario = parse_json(path.read_bytes(), path)
        ego = scenario["metadata"]["sdc_track_index"]
        objects = scenario["objects"]
        if not isinstance(ego, int) or not 0 <= ego < len(objects):
            raise BadInput("names no object", path=path, field="metadata.sdc_track_index")
        steps = len(objects[ego]["position"])
        columns = [_object(item, steps, path, f"objects[{i}]") for i, item in enumerate(objects)]
        ids, kinds, dimensions, states, valid = (
            list(column) for column in zip(*columns, strict=True)
        )
        log = ego_log(
            build_tracks(np.arange(steps) / RATE_HZ, ids, kinds, dimensions, states, valid),
            ego,
            path,
            source="womd_json",
            log_id=str(scenario.get("scenario_id") or path.stem),
            missing=frozenset({"images", "command", "signals"}),
            load_map=partial(read_map, scenario, path) if scenario.get("roads") else None,
        )
    yield log


def _object(item: dict[str, Any], steps: int, path: Path, field: str) -> tuple[Any, ...]:
    """Id, kind, dimensions, states ``[T, 5]`` and validity ``[T]`` of one object."""
    with malformed(path, field):
        if not isinstance(item["position"], list):
            raise BadInput("another layout: position is no list", path=path, field=field)
        position = [(p["x"], p["y"]) for p in item["position"]]
        velocity = [(v["x"], v["y"]) for v in item["velocity"]]
        heading = np.asarray(item["heading"], dtype=np.float64).reshape(steps, 1)
        states = np.concatenate([np.array(position), heading, np.array(velocity)], axis=1)
        dimensions = tuple(float(item[key]) for key in ("length", "width", "height"))
        valid = np.asarray(item["valid"], dtype=bool).reshape(steps)
        kind = _KINDS.get(item["type"], AgentKind.OBSTACLE)
    return str(item["id"]), kind, dimensions, states, valid
