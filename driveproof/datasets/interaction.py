"""INTERACTION track files: one csv a recording; every car in it is an ego in turn.

Frame origin: centre of the box. Rate: 10 Hz. All egos of a file share one scene key. Missing: box heights,
dimensions of pedestrians (nominal ones are filled in), pictures, navigation command, signals.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from driveproof.datasets.checks import malformed, one_line
from driveproof.datasets.tracks import NOMINAL_DIMENSIONS, build_tracks, ego_log
from driveproof.errors import BadInput
from driveproof.scene import AgentKind, AgentTracks, Log

_HEADER = b"track_id,frame_id,timestamp_ms,agent_type"
_KEYS = ["track_id", "timestamp_ms", "agent_type", "x", "y", "vx", "vy"]
_MAX_STEPS = 100_000


def claims(path: Path) -> bool:
    """Whether a csv starts with the header of the format."""
    if not (path.is_file() and path.suffix == ".csv"):
        return False
    with path.open("rb") as stream:
        return stream.read(len(_HEADER)) == _HEADER


def read(path: Path) -> Iterator[Log]:
    """Yield one log a vehicle, in the order of the track names.

    Raises
    ------
    BadInput
        Naming the file and the column.
    """
    try:
        table = pd.read_csv(path, dtype={"track_id": str, "agent_type": str}, compression=None)
    except (ValueError, OSError) as error:  # pandas' parser errors are ValueErrors
        raise BadInput(f"not csv: {one_line(error)}", path=path) from None
    for key in _KEYS:
        if key not in table.columns:
            raise BadInput(f"lacks column {key!r}", path=path)
        empty = table[key].isna()
        if empty.any():
            raise BadInput("holds no value", path=path, field=f"row {int(empty.argmax())}, {key}")
    with malformed(path):
        tracks = _tracks(table, path)
    for ego, kind in enumerate(tracks.kinds):
        if kind is AgentKind.VEHICLE and tracks.valid[ego].any():
            yield ego_log(
                tracks,
                ego,
                path,
                source="interaction",
                log_id=f"{path.resolve().parent.name}/{path.stem}",
                name_frames=True,
                missing=frozenset({"agent_dimensions", "images", "command", "signals"}),
            )


def _tracks(table: pd.DataFrame, path: Path) -> AgentTracks:
    if table.empty:
        raise BadInput("holds no row", path=path)
    stamps = table["timestamp_ms"].to_numpy(dtype=np.int64)
    times = np.arange(stamps.min(), stamps.max() + 1, 100)
    if len(times) > _MAX_STEPS:
        raise BadInput("spans more than 10,000 s", path=path, field="timestamp_ms")
    ids, kinds, dimensions, states, valid = [], [], [], [], []
    for name, rows in table.groupby("track_id", sort=True):
        car = rows["agent_type"].iloc[0] == "car"
        kind = AgentKind.VEHICLE if car else AgentKind.PEDESTRIAN
        steps = (rows["timestamp_ms"].to_numpy(dtype=np.int64) - times[0]) // 100
        velocity = rows[["vx", "vy"]].to_numpy(dtype=np.float64)
        course = np.arctan2(velocity[:, 1], velocity[:, 0])
        heading = rows["psi_rad"].to_numpy(dtype=np.float64) if car else course
        place = rows[["x", "y"]].to_numpy(dtype=np.float64)
        state = np.full((len(times), 5), np.nan)
        state[steps] = np.concatenate([place, heading[:, None], velocity], axis=1)
        length, width, height = NOMINAL_DIMENSIONS[kind]
        if car:
            length, width = float(rows["length"].iloc[0]), float(rows["width"].iloc[0])
        ids.append(str(name))
        kinds.append(kind)
        dimensions.append((length, width, height))
        states.append(state)
        valid.append(np.isfinite(state).all(1))
    clock = (times - times[0]) * 1e-3
    return build_tracks(clock, ids, kinds, list(dimensions), states, valid)
