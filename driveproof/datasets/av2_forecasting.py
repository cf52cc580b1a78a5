"""Argoverse 2 motion forecasting: one parquet a scenario of 11 s; the ego is track "AV".

Frame origin: centre of the ego's box. Rate: 10 Hz. Missing: box dimensions (nominal ones are filled in),
pictures, navigation command, signals. The test split holds 5 s and gives no scene.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from driveproof.datasets.av2_map import read_map
from driveproof.datasets.av2_sensor import EGO_SIZE
from driveproof.datasets.checks import malformed
from driveproof.datasets.columns import numbers, read_columns_of
from driveproof.datasets.tracks import NOMINAL_DIMENSIONS, build_tracks, ego_log
from driveproof.errors import BadInput
from driveproof.scene import AgentKind, AgentTracks, Log

RATE_HZ = 10.0
EGO = "AV"
_MAX_STEPS = 100_000
_STATE = ["position_x", "position_y", "heading", "velocity_x", "velocity_y"]
_KINDS = {
    "vehicle": AgentKind.VEHICLE,
    "bus": AgentKind.VEHICLE,
    "motorcyclist": AgentKind.VEHICLE,
    "pedestrian": AgentKind.PEDESTRIAN,
    "cyclist": AgentKind.CYCLIST,
    "static": AgentKind.OBSTACLE,
    "construction": AgentKind.OBSTACLE,
    "riderless_bicycle": AgentKind.OBSTACLE,
}


def claims(path: Path) -> bool:
    """Whether ``path`` is a scenario file or the folder of one."""
    return _is_scenario(path) or (path.is_dir() and any(path.glob("scenario_*.parquet")))


def _is_scenario(path: Path) -> bool:
    return path.is_file() and path.name.startswith("scenario_") and path.suffix == ".parquet"


def read(path: Path) -> Iterator[Log]:
    """Yield one log a scenario file.

    Raises
    ------
    BadInput
        Naming the file and the column.
    """
    for source in sorted(path.glob("scenario_*.parquet")) if path.is_dir() else [path]:
        names = ["track_id", "object_type", "timestep", "scenario_id", *_STATE]
        columns = read_columns_of(source, names)
        with malformed(source):
            steps = columns["timestep"].astype(np.int64)
            if steps.min() < 0 or steps.max() >= _MAX_STEPS:
                raise BadInput("out of range", path=source, field="timestep")
            track_ids = columns["track_id"].astype(str)
            if EGO not in track_ids:
                raise BadInput("has no track 'AV'", path=source, field="track_id")
            tracks = _tracks(
                track_ids, columns["object_type"].astype(str), steps, numbers(columns, _STATE)
            )
            name = str(columns["scenario_id"][0])
            archive = source.parent / f"log_map_archive_{name}.json"
            log = ego_log(
                tracks,
                tracks.track_ids.index(EGO),
                source,
                source="av2_forecasting",
                log_id=name,
                missing=frozenset({"agent_dimensions", "images", "command", "signals"}),
                ego_size=EGO_SIZE,
                load_map=partial(read_map, archive) if archive.is_file() else None,
            )
        yield log


def _tracks(
    track_ids: np.ndarray[tuple[int], np.dtype[np.str_]],
    types: np.ndarray[tuple[int], np.dtype[np.str_]],
    steps: np.ndarray[tuple[int], np.dtype[np.int64]],
    states: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> AgentTracks:
    ids, kinds, rows, valid = [], [], [], []
    count = int(steps.max()) + 1
    for name in sorted(set(track_ids.tolist())):
        here = np.flatnonzero(track_ids == name)
        kind = AgentKind.VEHICLE if name == EGO else _KINDS.get(str(types[here[0]]))
        if kind is None:  # background and unknown things
            continue
        row = np.full((count, 5), np.nan)
        row[steps[here]] = states[here]
        ids.append(name)
        kinds.append(kind)
        rows.append(row)
        valid.append(np.isfinite(row).all(1))
    dimensions: list[tuple[float, ...]] = [NOMINAL_DIMENSIONS[kind] for kind in kinds]
    return build_tracks(np.arange(count) / RATE_HZ, ids, kinds, dimensions, rows, valid)
