"""Questions on disk: one parquet file a split, with a schema version."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.errors import BadInput
from driveproof.files import atomic_path
from driveproof.mcq.items import McqItem
from driveproof.scene import FUTURE_TIMES, HISTORY_TIMES, Command, ImageRef, Observation

SCHEMA_VERSION = "1"

_FLOATS = pa.list_(pa.float64())
ITEM_SCHEMA = pa.schema(
    {
        "record_key": pa.string(),
        "scene_key": pa.string(),
        "split": pa.string(),
        "source": pa.string(),
        "situation": pa.string(),
        "drive_class": pa.string(),
        "variant": pa.string(),
        "command": pa.int8(),
        "history": _FLOATS,
        "velocity": pa.list_(pa.float64(), 2),
        "acceleration": pa.list_(pa.float64(), 2),
        "cameras": pa.list_(pa.struct({"camera": pa.string(), "refs": pa.list_(pa.string())})),
        "waypoints": _FLOATS,
        "options": _FLOATS,
        "option_codes": pa.list_(pa.int64()),
        "option_kinds": pa.list_(pa.string()),
        "similarities": pa.list_(pa.float32()),
        "oracle_index": pa.int8(),
    },
    metadata={"driveproof_table": "mcq", "schema_version": SCHEMA_VERSION},
)


def write_items(items: Iterable[McqItem], path: str | Path) -> int:
    """Write ``items`` as one parquet file and return how many; the file appears whole or not at all."""
    rows = [_to_row(item) for item in items]
    table = pa.Table.from_pylist(rows, schema=ITEM_SCHEMA)
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")
    return len(rows)


def read_items(path: str | Path) -> list[McqItem]:
    """The questions of a file in the order in which they were written.

    Raises
    ------
    BadInput
        If the file is absent, no parquet, of another schema version, or a row breaks the rules of
        :class:`McqItem`; the row's record key is named.
    """
    table = _read_table(Path(path))
    items: list[McqItem] = []
    for number, row in enumerate(table.to_pylist()):
        try:
            items.append(_from_row(row))
        except (ValueError, TypeError, IndexError) as error:
            key = row.get("record_key") or f"row {number}"
            raise BadInput(f"bad question: {error}", path=path, field=key) from None
    return items


def _read_table(path: Path) -> pa.Table:
    try:
        table = pq.ParquetFile(path).read()
    except FileNotFoundError:
        raise BadInput("no such file of questions", path=path) from None
    except (pa.ArrowException, OSError) as error:
        text = str(error).splitlines()[0]
        raise BadInput(f"not a readable parquet file: {text}", path=path) from None
    metadata = table.schema.metadata or {}
    version = metadata.get(b"schema_version", b"?").decode(errors="replace")
    if metadata.get(b"driveproof_table") != b"mcq" or version != SCHEMA_VERSION:
        raise BadInput(
            f"not a table of questions of schema version {SCHEMA_VERSION} (found {version})",
            path=path,
            hint="build the questions again",
        )
    if table.schema.names != ITEM_SCHEMA.names:
        odd = sorted(set(table.schema.names) ^ set(ITEM_SCHEMA.names))
        raise BadInput(f"columns differ from the schema: {', '.join(odd)}", path=path)
    return table


def _to_row(item: McqItem) -> dict[str, Any]:
    seen = item.observation
    return {
        "record_key": item.record_key,
        "scene_key": item.scene_key,
        "split": item.split,
        "source": item.source,
        "situation": item.situation,
        "drive_class": str(item.drive_class),
        "variant": item.variant,
        "command": int(seen.command),
        "history": seen.history.ravel().tolist(),
        "velocity": seen.velocity.tolist(),
        "acceleration": seen.acceleration.tolist(),
        "cameras": [
            {"camera": camera, "refs": [str(ref) if ref else None for ref in refs]}
            for camera, refs in sorted(seen.images.items())
        ],
        "waypoints": item.waypoints.ravel().tolist(),
        "options": item.options.ravel().tolist(),
        "option_codes": item.option_codes.tolist(),
        "option_kinds": [str(kind) for kind in item.option_kinds],
        "similarities": item.similarities.tolist(),
        "oracle_index": item.oracle_index,
    }


def _from_row(row: dict[str, Any]) -> McqItem:
    empty = sorted(key for key, value in row.items() if value is None)
    if empty:
        raise ValueError(f"{', '.join(empty)}: empty")
    observation = Observation(
        record_key=row["record_key"],
        images={
            entry["camera"]: tuple(ImageRef.parse(r) if r else None for r in entry["refs"])
            for entry in row["cameras"]
        },
        history=np.asarray(row["history"], dtype=np.float64).reshape(len(HISTORY_TIMES), 3),
        velocity=np.asarray(row["velocity"], dtype=np.float64),
        acceleration=np.asarray(row["acceleration"], dtype=np.float64),
        command=Command(row["command"]),
    )
    return McqItem(
        record_key=row["record_key"],
        scene_key=row["scene_key"],
        split=row["split"],
        source=row["source"],
        situation=row["situation"],
        drive_class=row["drive_class"],
        observation=observation,
        waypoints=np.asarray(row["waypoints"], dtype=np.float64).reshape(len(FUTURE_TIMES), 2),
        options=np.asarray(row["options"], dtype=np.float64).reshape(-1, len(FUTURE_TIMES), 2),
        option_codes=np.asarray(row["option_codes"], dtype=np.int64),
        option_kinds=tuple(row["option_kinds"]),
        similarities=np.asarray(row["similarities"], dtype=np.float32),
        oracle_index=int(row["oracle_index"]),
        variant=row["variant"],
    )
