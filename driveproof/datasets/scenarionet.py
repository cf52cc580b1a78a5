"""ScenarioNet pickles: one scenario a file, read without running the pickle.

Frame origin: that of the source data set (its vehicle pose). World: right-handed, as the files say; others
are refused. Rate: as sampled, usually 10 Hz (nuScenes is interpolated from 2 Hz). Missing: pictures,
navigation command, signals.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.datasets.checks import malformed
from driveproof.datasets.scenarionet_map import read_map
from driveproof.datasets.tracks import build_tracks, ego_log
from driveproof.datasets.unpickle import load_pickle
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.scene import AgentKind, Log

_KINDS = {
    "VEHICLE": AgentKind.VEHICLE,
    "PEDESTRIAN": AgentKind.PEDESTRIAN,
    "CYCLIST": AgentKind.CYCLIST,
    "TRAFFIC_BARRIER": AgentKind.OBSTACLE,
    "TRAFFIC_CONE": AgentKind.OBSTACLE,
}


def claims(path: Path) -> bool:
    """Whether the file is named as ScenarioNet names scenarios (a pickle is not opened to look)."""
    return path.is_file() and path.suffix == ".pkl" and path.name.startswith("sd_")


def read(path: Path) -> Iterator[Log]:
    """Yield the scenario of one file.

    Raises
    ------
    BadInput
        Naming the file and the field; also if the pickle asks for more than arrays and containers.
    """
    scenario = load_pickle(path)
    with malformed(path):
        metadata, tracks = scenario["metadata"], scenario["tracks"]
        if "right" not in str(metadata.get("coordinate", "right-handed")):
            raise BadInput("is not right-handed", path=path, field="metadata.coordinate")
        times = np.asarray(metadata["ts"], dtype=np.float64)
        if metadata["sdc_id"] not in tracks:
            raise BadInput("names no track", path=path, field="metadata.sdc_id")
        columns = [
            _track(str(name), track, len(times), path)
            for name, track in tracks.items()
            if track["type"] in _KINDS
        ]
        ids, kinds, dimensions, states, valid = (
            list(column) for column in zip(*columns, strict=True)
        )
        log = ego_log(
            build_tracks(times - times[0], ids, kinds, dimensions, states, valid),
            ids.index(str(metadata["sdc_id"])),
            path,
            source="scenarionet",
            log_id=str(metadata.get("scenario_id") or scenario["id"]),
            frame_origin="rear_axle" if metadata.get("dataset") == "nuscenes" else "vehicle",
            missing=frozenset({"images", "command", "signals"}),
            load_map=partial(read_map, scenario, times - times[0], path)
            if scenario.get("map_features")
            else None,
        )
    yield log


def _track(name: str, track: dict[str, Any], steps: int, path: Path) -> tuple[Any, ...]:
    """Id, kind, dimensions, states ``[T, 5]`` and validity ``[T]`` of one track."""
    with malformed(path, f"tracks[{name}]"):
        state = track["state"]
        position = _column(state["position"], steps)
        states = np.concatenate(
            [
                position[:, :2],
                _column(state["heading"], steps)[:, :1],
                _column(state["velocity"], steps)[:, :2],
            ],
            axis=1,
        )
        valid = _column(state["valid"], steps)[:, 0] > 0
        dimensions = tuple(
            float(np.median(_column(state[key], steps)[valid])) if valid.any() else 0.0
            for key in ("length", "width", "height")
        )
    return name, _KINDS[track["type"]], dimensions, states, valid


def _column(values: Any, steps: int) -> Float:
    """``[T, K]`` whatever the trailing axes are."""
    return np.asarray(values, dtype=np.float64).reshape(steps, -1)
