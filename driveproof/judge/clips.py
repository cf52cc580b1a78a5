"""Clips: what is judged. A 2 s window of a scene, one trajectory in it, what the rules say, its label if it has one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.errors import BadInput
from driveproof.files import atomic_path
from driveproof.geometry.arrays import Float
from driveproof.judge.criteria import criteria_of
from driveproof.rules import RULES
from driveproof.scene import ImageRef

SCRIPTED, HUMAN = "scripted", "human"
"""Sources of labels. A scripted label is known by construction; nobody looked at the clip."""
_CLIPS = pa.schema(
    {
        **dict.fromkeys(
            ("key", "setting", "place", "split", "topic", "kind", "label_source"), pa.string()
        ),
        "label": pa.bool_(),
        "plan": pa.list_(pa.list_(pa.float64(), 3)),
        "size": pa.list_(pa.float64(), 2),
        **dict.fromkeys((*RULES, "epdms", "ade", "fde"), pa.float64()),
        "frames": pa.list_(pa.string()),
    },
    metadata={"driveproof_table": "judge_clips", "schema_version": "1"},
)
_PAIRS = pa.schema(
    {
        **dict.fromkeys(("key", "place", "split", "first", "second", "preferred", "label_source"), pa.string()),
    },
    metadata={"driveproof_table": "judge_pairs", "schema_version": "1"},
)  # fmt: skip


@dataclass(frozen=True)
class Clip:
    """One trajectory in one scene.

    Attributes
    ----------
    key, setting
        Unique names of the clip and of the scene it plays in: clips of one setting are trajectories to choose from.
    place
        What must not be split: place or drive.
    topic, kind
        What it is about and what the ego does; "" in logs.
    label, label_source
        Whether the driving is reasonable, None if unlabelled; "scripted", "human" or "".
    plan
        ``[10, 3]`` poses at ``FUTURE_TIMES``, scene frame.
    size
        Length and width of the ego, metres.
    rules
        Values of the nine rules; None where one could not be judged.
    epdms
        Their aggregate, None where it is unscored.
    ade, fde
        Mean and final distance to the demonstration in metres, None where there is none.
    frames
        The pictures, oldest first.
    """

    key: str
    setting: str
    place: str
    split: str
    plan: Float
    size: tuple[float, float]
    rules: dict[str, float | None]
    epdms: float | None
    topic: str = ""
    kind: str = ""
    label: bool | None = None
    label_source: str = ""
    ade: float | None = None
    fde: float | None = None
    frames: tuple[ImageRef, ...] = field(default=())

    @property
    def criteria(self) -> dict[str, float | None]:
        """Values of the seven criteria, in order."""
        return criteria_of(self.rules)


@dataclass(frozen=True)
class Pair:
    """Two clips of one scene (keys) and which one is preferred: "A" is the first, "B" the second."""

    key: str
    place: str
    split: str
    first: str
    second: str
    preferred: str
    label_source: str = ""

    def __post_init__(self) -> None:
        if self.preferred not in ("A", "B"):
            raise BadInput(f"preferred: {self.preferred!r} is neither A nor B", field=self.key)


def write_clips(clips: Iterable[Clip], path: str | Path) -> None:
    """Write clips as one parquet file."""
    rows: list[dict[str, Any]] = []
    for clip in clips:
        row = {name: getattr(clip, name) for name in _CLIPS.names if hasattr(clip, name)}
        row |= {code: clip.rules.get(code) for code in RULES}
        row |= {"plan": clip.plan.tolist(), "frames": [str(ref) for ref in clip.frames]}
        rows.append(row)
    _write(rows, _CLIPS, path)


def read_clips(path: str | Path, splits: Sequence[str] = ()) -> list[Clip]:
    """Read clips, all or those of some splits.

    Raises
    ------
    BadInput
        If the file is no table of clips or holds values that cannot be.
    """
    clips = []
    for row in _read(path, _CLIPS):
        if splits and row["split"] not in splits:
            continue
        rules = {code: row.pop(code) for code in RULES}
        try:
            clips.append(_clip(row, rules))
        except (TypeError, ValueError) as error:
            raise BadInput(f"broken clip: {error}", path=path, field=str(row.get("key"))) from None
    return clips


def _clip(row: dict[str, Any], rules: dict[str, float | None]) -> Clip:
    plan = np.asarray(row.pop("plan"), np.float64)
    if plan.ndim != 2 or plan.shape[1] != 3 or not np.isfinite(plan).all():
        raise ValueError("plan: expected finite poses [T, 3]")
    length, width = row.pop("size")
    frames = tuple(ImageRef.parse(text) for text in row.pop("frames") or ())
    return Clip(plan=plan, size=(length, width), rules=rules, frames=frames, **row)


def write_pairs(pairs: Iterable[Pair], path: str | Path) -> None:
    """Write preference pairs as one parquet file."""
    _write([asdict(pair) for pair in pairs], _PAIRS, path)


def read_pairs(path: str | Path, splits: Sequence[str] = ()) -> list[Pair]:
    """Read preference pairs, all or those of some splits; BadInput if the file is none."""
    pairs = [Pair(**row) for row in _read(path, _PAIRS)]
    return [pair for pair in pairs if not splits or pair.split in splits]


def _write(rows: list[dict[str, Any]], schema: pa.Schema, path: str | Path) -> None:
    with atomic_path(path) as temporary:
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), temporary, compression="zstd")


def _read(path: str | Path, schema: pa.Schema) -> list[dict[str, Any]]:
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise BadInput("no such file", path=path) from None
    except (OSError, pa.ArrowException) as error:
        raise BadInput(f"not parquet: {str(error).splitlines()[0]}", path=path) from None
    if not table.schema.equals(schema):
        kind = schema.metadata[b"driveproof_table"].decode()
        raise BadInput(f"is no table of {kind} of this version", path=path)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows
