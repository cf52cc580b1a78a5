"""Reading what annotators filled in, with clear errors."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput
from driveproof.evaluation.cfs import AXES
from driveproof.evaluation.people.sheets import ANNOTATORS, COLUMNS, VERSION

_ALLOWED = {
    **dict.fromkeys(AXES, ("0", "1", "2")),
    "agrees": ("yes", "no"),
    "better": ("1", "2", "tie"),
}
MAX_SCORE = 2


@dataclass
class Marks:
    """What one annotator said; empty fields are left out.

    ``scores``: item -> axis -> 0, 1 or 2. ``decisions``: item -> whether it agrees. ``pairs``: item -> "1", "2" or "tie".
    """

    scores: dict[str, dict[str, int]] = field(default_factory=dict)
    decisions: dict[str, bool] = field(default_factory=dict)
    pairs: dict[str, str] = field(default_factory=dict)

    def cfs(self, item: str) -> float | None:
        """Sum of the four axes over 8, None unless all are marked."""
        axes = self.scores.get(item, {})
        return sum(axes.values()) / (MAX_SCORE * len(AXES)) if len(axes) == len(AXES) else None


def read_marks(folder: str | Path) -> tuple[dict[str, Any], dict[str, Marks]]:
    """The key, and each annotator's marks.

    Raises
    ------
    BadInput
        Naming the file and the line of what is no mark, or stands twice, or belongs to no text.
    """
    folder = Path(folder)
    key = _read_key(folder / "key.json")
    found = {}
    for annotator in ANNOTATORS:
        rows = {
            name: _read(folder / annotator / f"{name}.csv", name, key[kind])
            for name, kind in (("texts", "texts"), ("decisions", "texts"), ("pairs", "pairs"))
            if name != "pairs" or key["pairs"]
        }
        found[annotator] = Marks(
            scores={i: {a: int(v) for a, v in row.items()} for i, row in rows["texts"].items()},
            decisions={i: r["agrees"] == "yes" for i, r in rows["decisions"].items() if r},
            pairs={i: r["better"] for i, r in rows.get("pairs", {}).items() if r},
        )
    return key, found


def _read_key(path: Path) -> dict[str, Any]:
    try:
        key = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput("no such key", path=path, hint="driveproof human sheets") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not JSON: {str(error).splitlines()[0]}", path=path) from None
    whole = isinstance(key, dict) and key.get("version") == VERSION
    if not whole or not all(isinstance(key.get(name), dict) for name in ("texts", "pairs")):
        raise BadInput(f"not a key of version {VERSION}", path=path)
    for name, wanted in (("texts", {"run", "scene", "cfs", "hld"}), ("pairs", {"runs", "scene"})):
        for token, entry in key[name].items():
            if not isinstance(entry, dict) or not wanted <= entry.keys():
                raise BadInput("the entry lacks a field", path=path, field=token)
    return dict(key)


def _read(path: Path, name: str, known: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    columns = COLUMNS[name]
    rows: dict[str, dict[str, str]] = {}
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            missing = {"item", *columns} - set(reader.fieldnames or ())
            if missing:
                raise BadInput(f"has no column {sorted(missing)[0]}", path=path)
            for row in reader:
                place = f"line {reader.line_num}"
                item = (row["item"] or "").strip()
                if item not in known:
                    raise BadInput(f"{item!r} is no item of the key", path=path, field=place)
                if item in rows:
                    raise BadInput(f"{item} stands twice", path=path, field=place)
                rows[item] = _marks(row, columns, path, place)
    except FileNotFoundError:
        raise BadInput("no such sheet", path=path) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"not a CSV file: {error}", path=path) from None
    return rows


def _marks(
    row: Mapping[str, str | None], columns: tuple[str, ...], path: Path, place: str
) -> dict[str, str]:
    marks = {}
    for column in columns:
        value = (row[column] or "").strip().lower()
        if value and value not in _ALLOWED[column]:
            allowed = ", ".join(_ALLOWED[column])
            raise BadInput(f"{column}: {value!r} is none of {allowed}", path=path, field=place)
        if value:
            marks[column] = value
    return marks
