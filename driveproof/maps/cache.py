"""Derived towns on disk: one npz (no pickle) a town, named by the hash of its OpenDRIVE text."""

from __future__ import annotations

import json
import os
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.files import atomic_path
from driveproof.geometry.arrays import Float
from driveproof.maps.lanes import LaneTable
from driveproof.maps.signals import Junction, MapSignal, SignalKind

#: Part of the file name: raise it when the derivation or this layout changes.
VERSION = 4

Parts = tuple[LaneTable, tuple[MapSignal, ...], dict[int, Junction], tuple[Float, ...]]


def cache_directory() -> Path:
    """``$DRIVEPROOF_CACHE/maps``, by default ``.cache/maps``."""
    return Path(os.environ.get("DRIVEPROOF_CACHE", ".cache")) / "maps"


def cache_path(name: str, digest: str) -> Path:
    """Where the derived town of this name and OpenDRIVE hash is kept."""
    return cache_directory() / f"{name}-{digest[:16]}-v{VERSION}.npz"


def store(path: Path, digest: str, parts: Parts) -> None:
    """Write a derived town atomically."""
    lanes, signals, junctions, crosswalks = parts
    meta = {
        "digest": digest,
        "signals": [
            {
                "key": s.key,
                "kind": s.kind.value,
                "heading": s.heading,
                "junction": s.junction,
                "controller": s.controller,
                "sequence": s.sequence,
                "value": None if np.isnan(s.value) else s.value,
            }
            for s in signals
        ],
        "junctions": list(junctions),
    }
    arrays: dict[str, Any] = {f"lanes.{key}": value for key, value in lanes.arrays().items()}
    groups = {
        "signal.position": ([s.position[None] for s in signals], 3),
        "signal.lanes": ([np.array(s.lanes)[:, None] for s in signals], 1),
        "signal.lines": ([s.stop_lines.reshape(-1, 6) for s in signals], 6),
        "signal.arcs": ([s.stop_arcs[:, None] for s in signals], 1),
        "junction.outline": ([j.outline for j in junctions.values()], 2),
        "junction.lanes": ([_column(j.lanes) for j in junctions.values()], 1),
        "junction.entries": ([_column(j.entries) for j in junctions.values()], 1),
        "junction.signals": ([_column(j.signals) for j in junctions.values()], 1),
        "crosswalks": (list(crosswalks), 3),
    }
    for key, (rows, width) in groups.items():
        arrays[key] = np.concatenate([np.zeros((0, width)), *rows])
        arrays[f"{key}.offset"] = np.cumsum([0, *(len(row) for row in rows)])
    with atomic_path(path) as temporary, open(temporary, "wb") as stream:
        np.savez(stream, meta=np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8), **arrays)


def fetch(path: Path, digest: str) -> Parts | None:
    """A derived town, or None if it is not there, broken, or of another OpenDRIVE text."""
    try:
        with np.load(path, allow_pickle=False) as file:
            data = {key: file[key] for key in file.files}
        meta = json.loads(data["meta"].tobytes())
        return _assemble(data, meta) if meta["digest"] == digest else None
    except (OSError, ValueError, LookupError, TypeError, zipfile.BadZipFile, EOFError):
        return None


def _assemble(data: dict[str, Any], meta: dict[str, Any]) -> Parts:
    prefix = "lanes."
    lanes = LaneTable(
        **{key.removeprefix(prefix): value for key, value in data.items() if key.startswith(prefix)}
    )

    def rows(key: str) -> list[Any]:
        offset = data[f"{key}.offset"]
        return [data[key][a:b] for a, b in pairwise(offset)]

    def whole(key: str) -> list[tuple[int, ...]]:
        return [tuple(int(value) for value in row[:, 0]) for row in rows(key)]

    signals = tuple(
        MapSignal(
            **{**fields, "kind": SignalKind(fields["kind"])},
            position=position[0],
            lanes=members,
            stop_lines=lines.reshape(-1, 2, 3),
            stop_arcs=arcs[:, 0],
        )
        for fields, position, members, lines, arcs in zip(
            [{**item, "value": _nan(item["value"])} for item in meta["signals"]],
            rows("signal.position"),
            whole("signal.lanes"),
            rows("signal.lines"),
            rows("signal.arcs"),
            strict=True,
        )
    )
    junctions = {
        key: Junction(key, outline, members, entries, guards)
        for key, outline, members, entries, guards in zip(
            meta["junctions"],
            rows("junction.outline"),
            whole("junction.lanes"),
            whole("junction.entries"),
            whole("junction.signals"),
            strict=True,
        )
    }
    return lanes, signals, junctions, tuple(rows("crosswalks"))


def _column(values: tuple[int, ...]) -> Float:
    return np.array(values, dtype=np.float64).reshape(-1, 1)


def _nan(value: float | None) -> float:
    return float("nan") if value is None else value
