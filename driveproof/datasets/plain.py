"""Bare trajectories: a table of waypoints that somebody else has cut already; yields scenes, not logs.

``.npz`` or ``.parquet`` with ``traj`` (``[N, 10, 2]``, ego frame, 0.5 .. 5.0 s), ``v0`` (``[N, 2]``, ego
frame, m/s), ``record_key``, ``scene_key``, and either ``source`` or ``source_id`` with ``source_names``.
Frame origin: whatever the table used. Missing: all of the past and the surroundings; the history is that
of constant velocity, so it holds no more than ``v0``; headings are taken from the path.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from driveproof.datasets.checks import malformed, one_line
from driveproof.datasets.columns import read_columns_of
from driveproof.datasets.motion import path_headings
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.geometry.kinematics import constant_velocity
from driveproof.scene import FUTURE_TIMES, HISTORY_TIMES, Scene

_KEYS = ("traj", "v0", "record_key", "scene_key")
_MISSING = frozenset(
    {"history", "heading", "acceleration", "command", "images", "agents", "signals"}
)
_MAX_ARRAY_BYTES = 4 << 30


def claims(path: Path) -> bool:
    """Whether the file is an npz or parquet with the keys of such a table."""
    try:
        if path.suffix == ".npz" and path.is_file():
            with zipfile.ZipFile(path) as archive:
                names = set(archive.namelist())
            return {f"{key}.npy" for key in _KEYS} <= names
        if path.suffix == ".parquet" and path.is_file():
            return set(_KEYS) <= set(pq.read_schema(path).names)
    except (OSError, ValueError, zipfile.BadZipFile):  # Arrow's errors are ValueErrors
        return False
    return False


def read(path: Path) -> Iterator[Scene]:
    """Yield one scene a row.

    Raises
    ------
    BadInput
        Naming the file, the row and the field.
    """
    table = _from_npz(path) if path.suffix == ".npz" else _from_parquet(path)
    with malformed(path):
        count = len(table["record_key"])
        waypoints = np.asarray(table["traj"], dtype=np.float64)
        velocity = np.asarray(table["v0"], dtype=np.float64)
        if waypoints.shape != (count, len(FUTURE_TIMES), 2):
            raise BadInput(
                f"shape {waypoints.shape}, expected ({count}, 10, 2)", path=path, field="traj"
            )
        if velocity.shape != (count, 2) or len(table["scene_key"]) != count:
            raise BadInput("length differs from record_key", path=path, field="v0 or scene_key")
        sources = _sources(table, count)
    for index in range(count):
        field = f"row {index}"
        if not (np.isfinite(waypoints[index]).all() and np.isfinite(velocity[index]).all()):
            raise BadInput("not finite", path=path, field=f"{field}: traj or v0")
        with malformed(path, field):
            scene = _scene(table, index, waypoints[index], velocity[index], sources[index])
        yield scene


def _scene(
    table: dict[str, NDArray[Any]], index: int, waypoints: Float, velocity: Float, source: str
) -> Scene:
    path = np.concatenate([np.zeros((1, 2)), waypoints])
    past = constant_velocity(velocity, HISTORY_TIMES)
    return Scene(
        record_key=str(table["record_key"][index]),
        scene_key=str(table["scene_key"][index]),
        source=source,
        timestamp_s=0.0,
        history=np.concatenate([past, np.zeros((len(past), 1))], axis=1),
        future=np.concatenate([waypoints, path_headings(path, 0.0)[1:, None]], axis=1),
        velocity=velocity,
        acceleration=np.zeros(2),
        missing=_MISSING,
    )


def _sources(table: dict[str, NDArray[Any]], count: int) -> list[str]:
    if "source" in table:
        return [str(name) for name in table["source"]]
    if "source_id" in table and "source_names" in table:
        names = [str(name) for name in table["source_names"]]
        return [names[int(number)] for number in table["source_id"]]
    return ["plain"] * count


def _from_npz(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with malformed(path), zipfile.ZipFile(path) as archive:
            if sum(info.file_size for info in archive.infolist()) > _MAX_ARRAY_BYTES:
                raise BadInput("unpacks to more than 4 GiB", path=path)
        with malformed(path), np.load(path, allow_pickle=False) as arrays:
            wanted = (*_KEYS, "source", "source_id", "source_names")
            return {key: arrays[key] for key in wanted if key in arrays or key in _KEYS}
    except (zipfile.BadZipFile, zlib.error) as error:
        raise BadInput(f"not a readable npz: {one_line(error)}", path=path) from None


def _from_parquet(path: Path) -> dict[str, NDArray[Any]]:
    columns = read_columns_of(path, list(_KEYS))
    with malformed(path):
        if "source" in pq.read_schema(path).names:
            columns |= read_columns_of(path, ["source"])
        columns["traj"] = np.array(
            [np.stack([np.asarray(p, dtype=np.float64) for p in row]) for row in columns["traj"]]
        ).reshape(len(columns["traj"]), -1, 2)
        columns["v0"] = np.array([np.asarray(row, dtype=np.float64) for row in columns["v0"]])
    return columns
