"""L5Kit prediction data (Lyft Level 5): a zarr v2 folder with frames, agents and scenes; one log a scene of 25 s.

Frame origin: the vehicle pose (``ego_translation``, ``ego_rotation``); boxes by their centre. Rate: 10 Hz.
Missing: pictures, navigation command, places of traffic lights (only faces of map elements are named).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driveproof.datasets.blosc import MAX_CHUNK_BYTES, decompress
from driveproof.datasets.checks import malformed
from driveproof.datasets.motion import tracks_on_grid
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.scene import AgentKind, AgentTracks, Log

_DTYPE = re.compile(r"[<>|][iuf][1248]|[<>|][SU]\d{1,4}|\|b1")
_FIELDS = {
    "scenes": ("frame_index_interval", "host", "start_time"),
    "frames": ("timestamp", "agent_index_interval", "ego_translation", "ego_rotation"),
    "agents": ("centroid", "extent", "yaw", "track_id", "label_probabilities"),
}
# Places in label_probabilities; "unknown" (1), two thirds of all detections, and "don't care" are left out.
_KINDS = {
    **dict.fromkeys((3, 4, 5, 6, 7, 8, 9, 11, 13), AgentKind.VEHICLE),
    **dict.fromkeys((10, 12), AgentKind.CYCLIST),
    14: AgentKind.PEDESTRIAN,
    15: AgentKind.OBSTACLE,
}


def claims(path: Path) -> bool:
    """Whether the folder holds frames and agents as zarr arrays."""
    return (path / "frames/.zarray").is_file() and (path / "agents/.zarray").is_file()


def read(path: Path) -> Iterator[Log]:
    """Yield one log a scene.

    Raises
    ------
    BadInput
        Naming the array and the chunk.
    """
    tables = {name: _array(path / name, fields) for name, fields in _FIELDS.items()}
    for number, scene in enumerate(tables["scenes"]):
        with malformed(path, f"scene {number}"):
            log = _read_scene(scene, number, tables["frames"], tables["agents"])
        yield log


def _array(path: Path, fields: tuple[str, ...]) -> NDArray[Any]:
    """A one-dimensional structured zarr v2 array, its chunks one after the other."""
    with malformed(path, ".zarray"):
        header = json.loads((path / ".zarray").read_bytes())
        dtype = _dtype(header["dtype"])
        (rows,), (step,) = header["shape"], header["chunks"]
        compressor = header["compressor"]
        if header["filters"] or (compressor and compressor["id"] != "blosc"):
            raise BadInput("another codec than blosc, or a filter", path=path, field=".zarray")
        if not 0 < rows * dtype.itemsize <= MAX_CHUNK_BYTES or not 0 < step <= MAX_CHUNK_BYTES:
            raise BadInput("empty or too large", path=path, field=".zarray")
        for name in fields:
            if name not in (dtype.names or ()):
                raise BadInput(f"lacks {name!r}", path=path, field=".zarray")
    parts = []
    for index in range(math.ceil(rows / step)):
        with malformed(path, f"chunk {index}"):
            data = (path / str(index)).read_bytes()
            parts.append(np.frombuffer(decompress(data) if compressor else data, dtype=dtype))
            if len(parts[-1]) != step:
                raise ValueError(f"{len(parts[-1])} rows, expected {step}")
    whole: NDArray[Any] = np.concatenate(parts)[:rows]
    return whole


def _dtype(fields: list[Any]) -> np.dtype[Any]:
    """The structured type, of plain numbers and text only."""
    checked = []
    for name, kind, *shape in fields:
        if not _DTYPE.fullmatch(kind):
            raise ValueError(f"type {str(kind)[:20]!r} is not allowed")
        checked.append(
            (str(name), kind, tuple(int(n) for n in shape[0])) if shape else (str(name), kind)
        )
    return np.dtype(checked)


def _read_scene(scene: Any, number: int, frames: NDArray[Any], agents: NDArray[Any]) -> Log:
    first, last = (int(i) for i in scene["frame_index_interval"])
    if not 0 <= first < last <= len(frames):
        raise ValueError("frame_index_interval leads out of the frames")
    rows = frames[first:last]
    times = (rows["timestamp"] - rows["timestamp"][0]) * 1e-9
    turn = rows["ego_rotation"]
    heading = np.arctan2(turn[:, 1, 0], turn[:, 0, 0])
    poses = np.concatenate([rows["ego_translation"][:, :2], heading[:, None]], axis=1)
    return Log(
        source="l5kit",
        log_id=f"{scene['host']}-{int(scene['start_time'])}-{number}",
        times=times,
        poses=poses,
        agents=_agents(rows, agents, times),
        frame_origin="vehicle",
        missing=frozenset({"images", "command", "signals"}),
    )


def _agents(rows: NDArray[Any], agents: NDArray[Any], times: Float) -> AgentTracks:
    ids, kinds, clock, boxes = [], [], [], []
    for time, (first, last) in zip(times, rows["agent_index_interval"].tolist(), strict=True):
        if not 0 <= first <= last <= len(agents):
            raise ValueError("agent_index_interval leads out of the agents")
        found = agents[first:last]
        seen = found[np.isin(found["label_probabilities"].argmax(axis=1), list(_KINDS))]
        ids += [str(track) for track in seen["track_id"]]
        labels = seen["label_probabilities"].argmax(axis=1).tolist()
        kinds += [_KINDS[label] for label in labels]
        clock += [float(time)] * len(seen)
        boxes.append(
            np.concatenate([seen["centroid"], seen["yaw"][:, None], seen["extent"]], axis=1)
        )
    return tracks_on_grid(times, ids, kinds, clock, np.concatenate(boxes))
