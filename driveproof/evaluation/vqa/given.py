"""Files of answers that a model gave, to be scored."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.errors import BadInput
from driveproof.questions import QuestionKey

_FIELDS = ("clip", "frame", "number", "subject", "text")
_MAX_LINE = 1 << 20


@dataclass(frozen=True)
class Given:
    """One answer: which question of which frame of which clip, and what was said (None: the model failed)."""

    clip: str
    frame: int
    key: QuestionKey
    text: str | None
    error: str = ""


def read_given(path: str | Path) -> Iterator[Given]:
    """Answers of a ``.jsonl`` or ``.parquet`` file with the fields clip, frame, number, subject, text (and error).

    Raises
    ------
    BadInput
        Naming the line or row and the field.
    """
    path = Path(path)
    rows = _parquet(path) if path.suffix == ".parquet" else _lines(path)
    for place, row in rows:
        yield _given(row, path, place)


def _given(row: Mapping[str, Any], path: Path, place: str) -> Given:
    for name, kinds in (("clip", str), ("frame", int), ("number", int)):
        if not isinstance(row.get(name), kinds) or isinstance(row.get(name), bool):
            raise BadInput(f"{name} is no {kinds.__name__}", path=path, field=place)
    text, subject = row.get("text"), row.get("subject") or ""
    if not (text is None or isinstance(text, str)) or not isinstance(subject, str):
        raise BadInput("text or subject is no string", path=path, field=place)
    key = QuestionKey(row["number"], subject)
    return Given(row["clip"], row["frame"], key, text, str(row.get("error") or ""))


def _lines(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        with open(path, encoding="utf-8") as stream:
            for number, line in enumerate(stream, start=1):
                place = f"line {number}"
                if len(line) > _MAX_LINE:
                    raise BadInput("is longer than 1 MiB", path=path, field=place)
                if line.strip():
                    yield place, _object(line, path, place)
    except FileNotFoundError:
        raise BadInput("no such file of answers", path=path) from None
    except UnicodeDecodeError:
        raise BadInput("not UTF-8 text", path=path) from None


def _object(line: str, path: Path, place: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise BadInput("is no JSON", path=path, field=place) from None
    if not isinstance(found, dict):
        raise BadInput("is no JSON object", path=path, field=place)
    return found


def _parquet(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise BadInput("no such file of answers", path=path) from None
    except (pa.ArrowException, OSError) as error:
        raise BadInput(
            f"not a readable parquet file: {str(error).splitlines()[0]}", path=path
        ) from None
    missing = [name for name in _FIELDS if name not in table.column_names]
    if missing:
        raise BadInput(f"has no column {missing[0]}", path=path)
    for number, row in enumerate(table.to_pylist()):
        yield f"row {number}", row
