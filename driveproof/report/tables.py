"""Tables of the report and how numbers are written in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driveproof.evaluation.statistics import bounds_text

MISSING = "–"
_CELL = re.compile(r"m(\d+)_high([\d.]+)")


@dataclass(frozen=True)
class Table:
    """A table: caption, head, rows of texts; the first ``texts`` columns are words, the others numbers."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int = 1
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A chapter: tables and figures (inline SVG or HTML), or what has to be built for it."""

    anchor: str
    title: str
    intro: str = ""
    tables: tuple[Table, ...] = ()
    figures: tuple[tuple[str, str], ...] = ()
    """Pairs of inline SVG and caption."""
    missing: str = ""
    """The stage that has not run, "" if there is something to show."""


def number(value: Any, digits: int = 3) -> str:
    """A number with fixed digits, an integer with thousands, a dash for None."""
    if value is None:
        return MISSING
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.{digits}f}"


def percent(value: Any, digits: int = 1) -> str:
    """A fraction as percent, a dash for None."""
    return MISSING if value is None else f"{100.0 * float(value):.{digits}f} %"


def estimate(value: Mapping[str, Any] | None, digits: int = 3) -> str:
    """A mean with its interval and n, and how many were lost to it."""
    if not value:
        return MISSING
    lost = f", lost {value['lost']:,}" if value.get("lost") else ""
    if value.get("mean") is None:
        return f"unscored (n 0{lost})"
    mean = number(float(value["mean"]), digits)
    return f"{mean} [{bounds_text(value['low'], value['high'], digits)}] (n {value['n']:,}{lost})"


def counts(caption: str, of: str, values: Mapping[str, int], note: str = "") -> Table:
    """A table of counts, largest first, with their sum."""
    ordered = sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))
    rows = [(name or "(none)", number(count)) for name, count in ordered]
    total = ("sum", number(sum(values.values())))
    return Table(caption, (of, "count"), (*rows, total), note=note)


def grid(caption: str, cells: Mapping[str, str], note: str = "") -> Table:
    """Cells of the difficulty grid, named like ``m06_high0.85``: a row a bound, a column a number of options."""
    places = {name: _CELL.fullmatch(name) for name in cells}
    found = {(m[2], int(m[1])): cells[name] for name, m in places.items() if m}
    columns = sorted({options for _, options in found})
    bounds = sorted({high for high, _ in found})
    rows = tuple((high, *(found.get((high, m), MISSING) for m in columns)) for high in bounds)
    head = ("similarity at most", *(f"{m} options" for m in columns))
    return Table(caption, head, rows, note=note)


def texts(rows: Sequence[Sequence[Any]]) -> tuple[tuple[str, ...], ...]:
    """Rows of anything as rows of texts."""
    return tuple(tuple(number(cell) for cell in row) for row in rows)
