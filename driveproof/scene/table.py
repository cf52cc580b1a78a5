"""Scenes on disk: a directory of parquet shards with one schema version.

A shard holds up to ``SHARD_ROWS`` scenes; agents and signals are nested lists, so that a scene is one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.errors import BadInput
from driveproof.files import atomic_dir
from driveproof.scene.types import (
    FUTURE_TIMES,
    HISTORY_TIMES,
    AgentKind,
    AgentTracks,
    Command,
    ImageRef,
    LightState,
    Scene,
    TrafficSignal,
)

SCHEMA_VERSION = "1"
SHARD_ROWS = 2048

_POSES = pa.list_(pa.list_(pa.float64(), 3))
_SIGNAL = pa.struct(
    {
        "signal_id": pa.string(),
        "kind": pa.string(),
        "x": pa.float64(),
        "y": pa.float64(),
        "state": pa.string(),
        "affects_ego": pa.bool_(),
        "distance": pa.float64(),
        "value": pa.float64(),
    }
)
SCENE_SCHEMA = pa.schema(
    {
        "record_key": pa.string(),
        "scene_key": pa.string(),
        "source": pa.string(),
        "situation": pa.string(),
        "town": pa.string(),
        "timestamp_s": pa.float64(),
        "command": pa.int8(),
        "velocity": pa.list_(pa.float64(), 2),
        "acceleration": pa.list_(pa.float64(), 2),
        "world_pose": pa.list_(pa.float64(), 3),
        "history": _POSES,
        "future": _POSES,
        "cameras": pa.list_(pa.struct({"camera": pa.string(), "refs": pa.list_(pa.string())})),
        "agent_times": pa.list_(pa.float64()),
        "agent_ids": pa.list_(pa.string()),
        "agent_kinds": pa.list_(pa.string()),
        "agent_dimensions": pa.list_(pa.float64()),
        "agent_states": pa.list_(pa.float32()),
        "signals": pa.list_(_SIGNAL),
        "missing": pa.list_(pa.string()),
    },
    metadata={"driveproof_table": "scenes", "schema_version": SCHEMA_VERSION},
)


def write_scenes(scenes: Iterable[Scene], directory: str | Path) -> int:
    """Write ``scenes`` as shards ``scenes-00000.parquet`` … into ``directory``; return how many.

    The directory appears whole or not at all; memory holds one shard at a time.
    """
    count = 0
    with atomic_dir(directory) as temporary:
        rows: list[dict[str, Any]] = []
        shard = 0
        for scene in scenes:
            rows.append(_to_row(scene))
            count += 1
            if len(rows) == SHARD_ROWS:
                _write_shard(rows, temporary, shard)
                rows, shard = [], shard + 1
        if rows or shard == 0:
            _write_shard(rows, temporary, shard)
    return count


def _write_shard(rows: list[dict[str, Any]], directory: Path, shard: int) -> None:
    table = pa.Table.from_pylist(rows, schema=SCENE_SCHEMA)
    pq.write_table(table, directory / f"scenes-{shard:05d}.parquet", compression="zstd")


def scene_shards(directory: str | Path) -> list[Path]:
    """The shards of a scene table in order.

    Raises
    ------
    BadInput
        If there is none, a file is no parquet, or its schema version is not ours.
    """
    shards = sorted(Path(directory).glob("scenes-*.parquet"))
    if not shards:
        raise BadInput("no scene shards (scenes-*.parquet) here", path=directory)
    for shard in shards:
        schema = _reading(pq.read_schema, shard)
        metadata = schema.metadata or {}
        version = metadata.get(b"schema_version", b"?").decode()
        if metadata.get(b"driveproof_table") != b"scenes" or version != SCHEMA_VERSION:
            raise BadInput(
                f"schema version {version}, this program reads {SCHEMA_VERSION}",
                path=shard,
                hint="import the logs again",
            )
        for field in SCENE_SCHEMA:
            index = schema.get_field_index(field.name)
            if index < 0 or schema.field(index).type != field.type:
                raise BadInput(f"is no {field.type}", path=shard, field=field.name)
    return shards


def _reading(read: Callable[..., Any], shard: Path, **options: Any) -> Any:
    """What ``read`` gives; an unreadable shard is the user's to know about."""
    try:
        return read(shard, **options)
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise BadInput(f"not a readable parquet file: {reason}", path=shard) from None


def read_scenes(directory: str | Path) -> Iterator[Scene]:
    """Yield the scenes of a table in the order in which they were written."""
    for shard in scene_shards(directory):
        rows = _reading(pq.read_table, shard)
        for number, row in enumerate(rows.to_pylist()):
            try:
                scene = _from_row(row)
            except (ValueError, TypeError, KeyError) as error:
                name = str(row.get("record_key") or f"row {number}")
                raise BadInput(f"no scene: {error}", path=shard, field=name) from None
            yield scene


def scenes_of_rows(rows: pa.Table) -> list[Scene]:
    """The scenes of some rows of a shard, for readers that do not want the whole table."""
    return [_from_row(row) for row in rows.to_pylist()]


def read_columns(directory: str | Path, columns: list[str]) -> pa.Table:
    """Some columns of all shards as one Arrow table (for statistics: no scenes are built)."""
    return pa.concat_tables(
        _reading(pq.read_table, shard, columns=columns) for shard in scene_shards(directory)
    )


def _to_row(scene: Scene) -> dict[str, Any]:
    return {
        "record_key": scene.record_key,
        "scene_key": scene.scene_key,
        "source": scene.source,
        "situation": scene.situation,
        "town": scene.town,
        "timestamp_s": scene.timestamp_s,
        "command": int(scene.command),
        "velocity": scene.velocity.tolist(),
        "acceleration": scene.acceleration.tolist(),
        "world_pose": scene.world_pose.tolist(),
        "history": scene.history.tolist(),
        "future": scene.future.tolist(),
        "cameras": [
            {"camera": camera, "refs": [str(ref) if ref else None for ref in refs]}
            for camera, refs in sorted(scene.images.items())
        ],
        "agent_times": scene.agents.times.tolist(),
        "agent_ids": list(scene.agents.track_ids),
        "agent_kinds": [kind.value for kind in scene.agents.kinds],
        "agent_dimensions": scene.agents.dimensions.ravel().tolist(),
        "agent_states": scene.agents.states.astype(np.float32).ravel(),
        "signals": [_signal_row(signal) for signal in scene.signals],
        "missing": sorted(scene.missing),
    }


def _signal_row(signal: TrafficSignal) -> dict[str, Any]:
    return {
        "signal_id": signal.signal_id,
        "kind": signal.kind,
        "x": signal.position[0],
        "y": signal.position[1],
        "state": signal.state.value,
        "affects_ego": signal.affects_ego,
        "distance": signal.distance,
        "value": signal.value,
    }


def _from_row(row: dict[str, Any]) -> Scene:
    times = np.asarray(row["agent_times"], dtype=np.float64)
    n = len(row["agent_ids"])
    states = np.asarray(row["agent_states"], dtype=np.float64).reshape(n, len(times), 5)
    return Scene(
        record_key=row["record_key"],
        scene_key=row["scene_key"],
        source=row["source"],
        timestamp_s=row["timestamp_s"],
        history=np.asarray(row["history"]).reshape(len(HISTORY_TIMES), 3),
        future=np.asarray(row["future"]).reshape(len(FUTURE_TIMES), 3),
        velocity=np.asarray(row["velocity"]),
        acceleration=np.asarray(row["acceleration"]),
        command=Command(row["command"]),
        images={
            entry["camera"]: tuple(ImageRef.parse(r) if r else None for r in entry["refs"])
            for entry in row["cameras"]
        },
        agents=AgentTracks(
            track_ids=tuple(row["agent_ids"]),
            kinds=tuple(AgentKind(kind) for kind in row["agent_kinds"]),
            times=times,
            dimensions=np.asarray(row["agent_dimensions"], dtype=np.float64).reshape(n, 3),
            states=states,
            valid=np.asarray(np.isfinite(states).all(-1), dtype=np.bool_),
        ),
        signals=tuple(
            TrafficSignal(
                s["signal_id"],
                s["kind"],
                (s["x"], s["y"]),
                LightState(s["state"]),
                s["affects_ego"],
                s["distance"],
                s["value"],
            )
            for s in row["signals"]
        ),
        town=row["town"],
        world_pose=np.asarray(row["world_pose"]),
        situation=row["situation"],
        missing=frozenset(row["missing"]),
    )
