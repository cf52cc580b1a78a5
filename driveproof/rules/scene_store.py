"""Scenes by key out of a scene table, a few at a time: an index of keys in memory, the rest on disk."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.rules.states import DT, HORIZON
from driveproof.scene import Scene, read_columns
from driveproof.scene.table import scene_shards, scenes_of_rows

_OPEN_SHARDS = 2


class SceneStore:
    """Random access to the scenes of ``directory``; memory holds the keys and two shards as Arrow tables.

    Raises
    ------
    BadInput
        If the folder is no scene table.
    """

    def __init__(self, directory: Path) -> None:
        self._shards = scene_shards(directory)
        columns = read_columns(directory, ["record_key", "scene_key", "timestamp_s"])
        places = [(n, row) for n, s in enumerate(self._shards) for row in range(_rows(s))]
        self._keys: list[str] = columns["record_key"].to_pylist()
        self._drives: list[str] = columns["scene_key"].to_pylist()
        self._times: list[float] = columns["timestamp_s"].to_pylist()
        self._places = places
        self._index = {key: n for n, key in enumerate(self._keys)}
        self._of_drive: dict[str, list[int]] = {}
        for n, drive in enumerate(self._drives):
            self._of_drive.setdefault(drive, []).append(n)
        self._open: OrderedDict[int, pa.Table] = OrderedDict()

    def __contains__(self, key: object) -> bool:
        return key in self._index

    def __len__(self) -> int:
        return len(self._keys)

    def drive_of(self, key: str) -> str:
        """The drive that a scene belongs to."""
        return self._drives[self._index[key]]

    def get(self, key: str) -> tuple[Scene, list[Scene]]:
        """A scene, and the scenes of its drive in the 4 s after it (from which states of lights are taken)."""
        here = self._index[key]
        start, end = self._times[here], self._times[here] + HORIZON * DT
        later = [n for n in self._of_drive[self._drives[here]] if start < self._times[n] <= end]
        return self._read(here), [self._read(n) for n in later]

    def _read(self, number: int) -> Scene:
        shard, row = self._places[number]
        if shard not in self._open:
            self._open[shard] = pq.read_table(self._shards[shard])
            if len(self._open) > _OPEN_SHARDS:
                self._open.popitem(last=False)
        self._open.move_to_end(shard)
        return scenes_of_rows(self._open[shard].slice(row, 1))[0]


def _rows(shard: Path) -> int:
    return int(pq.ParquetFile(shard).metadata.num_rows)
