"""Tables that another program wrote, as columns of texts: CSV, TSV, XLSX, JSON. Nothing in them is run or unpickled."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput

SUFFIXES = (".csv", ".tsv", ".xlsx", ".json")
MAX_BYTES = 2 << 30
"""Of one file, unpacked: pictures may stand in result files as text."""
_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_CELL = re.compile(r"([A-Z]{1,3})\d+")
Columns = dict[str, list[str]]


def read_columns_of(path: Path, wanted: Collection[str] | None = None) -> Columns:
    """The columns of a table by name, texts as written, "" where a cell is empty.

    Parameters
    ----------
    wanted
        Names, in lower case, of the columns to keep; None keeps all. Long texts that nobody reads are not kept.

    Raises
    ------
    BadInput
        If the file is no table of its kind.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadInput(f"is larger than {MAX_BYTES >> 30} GiB", path=path)
        if path.suffix == ".json":
            return _from_json(read_json_of(path), wanted)
        rows = _sheet(path) if path.suffix == ".xlsx" else _separated(path)
        return _gather(rows, wanted)
    except BadInput:
        raise
    except (OSError, ValueError, SyntaxError, KeyError, csv.Error, zipfile.BadZipFile) as error:
        # SyntaxError is what the XML parser raises
        problem = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(f"no table can be read: {problem}", path=path) from None


def read_json_of(path: Path) -> Any:
    """A JSON value, NaN allowed: other programs write it."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        problem = str(error).splitlines()[0]
        raise BadInput(f"no JSON: {problem}", path=path) from None


def _gather(rows: Iterator[Sequence[str]], wanted: Collection[str] | None) -> Columns:
    head = next(rows, None)
    if not head:
        raise ValueError("it is empty")
    names = [name.strip() for name in head]
    kept = [
        (place, name)
        for place, name in enumerate(names)
        if wanted is None or name.lower() in wanted
    ]
    columns: Columns = {name: [] for _, name in kept}
    for row in rows:
        if not any(row):
            continue
        for place, name in kept:
            columns[name].append(row[place] if place < len(row) else "")
    return columns


def _separated(path: Path) -> Iterator[Sequence[str]]:
    csv.field_size_limit(1 << 28)
    separator = "\t" if path.suffix == ".tsv" else ","
    with path.open(encoding="utf-8-sig", newline="") as stream:
        yield from csv.reader(stream, delimiter=separator, strict=True)


def _sheet(path: Path) -> Iterator[Sequence[str]]:
    """Rows of the first sheet of a workbook (ECMA-376), formulas by their last value."""
    with zipfile.ZipFile(path) as archive:
        if sum(member.file_size for member in archive.infolist()) > MAX_BYTES:
            raise BadInput(f"unpacks to more than {MAX_BYTES >> 30} GiB", path=path)
        names = archive.namelist()
        sheets = sorted(n for n in names if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", n))
        if not sheets:
            raise BadInput("no workbook: it holds no sheet", path=path)
        shared = list(_shared(archive)) if "xl/sharedStrings.xml" in names else []
        sheet = min(sheets, key=lambda name: (len(name), name))
        for row in _elements(archive, sheet, "row"):
            cells: dict[int, str] = {}
            for cell in row.iter(f"{_SHEET}c"):
                place = _CELL.fullmatch(cell.get("r") or "")
                cells[_column(place[1]) if place else len(cells)] = _value(cell, shared)
            yield [cells.get(column, "") for column in range(max(cells, default=-1) + 1)]


def _elements(archive: zipfile.ZipFile, name: str, tag: str) -> Iterator[Any]:
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    with archive.open(name) as stream:
        try:
            for _, element in iterparse(stream, forbid_dtd=True):
                if element.tag == _SHEET + tag:
                    yield element
                    element.clear()
        except DefusedXmlException as error:
            raise BadInput(f"refused: {type(error).__name__}", path=archive.filename) from None


def _shared(archive: zipfile.ZipFile) -> Iterator[str]:
    for entry in _elements(archive, "xl/sharedStrings.xml", "si"):
        yield "".join(text.text or "" for text in entry.iter(f"{_SHEET}t"))


def _value(cell: Any, shared: Sequence[str]) -> str:
    kind = cell.get("t")
    if kind == "inlineStr":
        return "".join(text.text or "" for text in cell.iter(f"{_SHEET}t"))
    value = cell.find(f"{_SHEET}v")
    text = (value.text or "") if value is not None else ""
    if kind == "s" and text:
        if not text.isdigit() or int(text) >= len(shared):
            raise ValueError(f"cell {cell.get('r')} refers to no text")
        return shared[int(text)]
    return text


def _column(letters: str) -> int:
    """0 for A, 26 for AA."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _from_json(value: Any, wanted: Collection[str] | None) -> Columns:
    """A list of records, or an object of columns, each a list or an object of row -> cell (as pandas writes them)."""
    if isinstance(value, dict) and value and all(isinstance(v, dict) for v in value.values()):
        value = {name: list(cells.values()) for name, cells in value.items()}
    if isinstance(value, dict) and value and all(isinstance(v, list) for v in value.values()):
        lengths = {len(cells) for cells in value.values()}
        if len(lengths) > 1:
            raise ValueError("columns of different lengths")
        return {
            name: [_text(cell) for cell in cells]
            for name, cells in value.items()
            if wanted is None or name.lower() in wanted
        }
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        names = list(dict.fromkeys(name for row in value for name in row))
        return {
            name: [_text(row.get(name)) for row in value]
            for name in names
            if wanted is None or name.lower() in wanted
        }
    raise ValueError("neither a list of records nor an object of columns")


def _text(value: Any) -> str:
    return "" if value is None else str(value)
