"""Answers on disk: one parquet file of one or more named runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.errors import BadInput
from driveproof.files import atomic_path
from driveproof.mcq.interaction import Answer
from driveproof.scene import Decision, Direction, SpeedChange

SCHEMA_VERSION = "1"
ANSWER_SCHEMA = pa.schema(
    {
        "run": pa.string(),
        "record_key": pa.string(),
        "variant": pa.string(),
        "repeat": pa.int32(),
        "mode": pa.string(),
        "turn1": pa.string(),
        "turn2": pa.string(),
        "direction": pa.string(),
        "speed": pa.string(),
        "choice": pa.int8(),
        "reason": pa.string(),
        "error": pa.string(),
        "prompt_tokens": pa.int32(),
        "completion_tokens": pa.int32(),
    },
    metadata={"driveproof_table": "answers", "schema_version": SCHEMA_VERSION},
)


def write_answers(runs: Mapping[str, Sequence[Answer]], path: str | Path) -> None:
    """Write the answers of each named run; the file appears whole or not at all."""
    rows = [_to_row(run, answer) for run, answers in runs.items() for answer in answers]
    table = pa.Table.from_pylist(rows, schema=ANSWER_SCHEMA)
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read_answers(path: str | Path) -> dict[str, list[Answer]]:
    """The answers of each run, in the order written; :class:`BadInput` if this is no table of answers."""
    try:
        table = pq.ParquetFile(path).read()
    except FileNotFoundError:
        raise BadInput("no such file of answers", path=path) from None
    except (pa.ArrowException, OSError) as error:
        text = str(error).splitlines()[0]
        raise BadInput(f"not a readable parquet file: {text}", path=path) from None
    metadata = table.schema.metadata or {}
    if metadata.get(b"driveproof_table") != b"answers" or table.schema != ANSWER_SCHEMA:
        raise BadInput(f"not a table of answers of schema version {SCHEMA_VERSION}", path=path)
    runs: dict[str, list[Answer]] = {}
    for row in table.to_pylist():
        try:
            runs.setdefault(row["run"], []).append(_from_row(row))
        except ValueError as error:
            raise BadInput(str(error), path=path, field=row["record_key"]) from None
    return runs


def _to_row(run: str, answer: Answer) -> dict[str, Any]:
    decision = answer.decision
    return {
        "run": run,
        "record_key": answer.record_key,
        "variant": answer.variant,
        "repeat": answer.repeat,
        "mode": answer.mode,
        "turn1": answer.turn1,
        "turn2": answer.turn2,
        "direction": decision.direction.value if decision else None,
        "speed": decision.speed.value if decision else None,
        "choice": answer.choice,
        "reason": answer.reason,
        "error": answer.error,
        "prompt_tokens": answer.usage.get("prompt_tokens"),
        "completion_tokens": answer.usage.get("completion_tokens"),
    }


def _from_row(row: dict[str, Any]) -> Answer:
    known = row["direction"] is not None
    tokens = ("prompt_tokens", "completion_tokens")
    return Answer(
        record_key=row["record_key"],
        repeat=row["repeat"],
        mode=row["mode"],
        turn1=row["turn1"],
        turn2=row["turn2"],
        decision=Decision(Direction(row["direction"]), SpeedChange(row["speed"]))
        if known
        else None,
        choice=row["choice"],
        reason=row["reason"],
        error=row["error"],
        variant=row["variant"],
        usage={name: row[name] for name in tokens if row[name] is not None},
    )
