"""Columns of parquet and feather files, from disk or from memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
from numpy.typing import NDArray

from driveproof.datasets.checks import malformed
from driveproof.errors import BadInput

MAX_ROWS = 50_000_000


def read_columns_of(
    path: str | Path, names: Sequence[str], data: bytes | None = None, field: str | None = None
) -> dict[str, NDArray[Any]]:
    """Columns by name: numbers in their own type (float where there are nulls), text as objects.

    Parameters
    ----------
    path
        The file; ``.feather`` is read as feather, all else as parquet.
    names
        Columns that must be there.
    data, field
        The bytes, and their name inside ``path``, if the file is a member of an archive.

    Raises
    ------
    BadInput
        If the file cannot be read, is empty, too long, or lacks a column.
    """
    with malformed(path, field):
        source = pa.BufferReader(data) if data is not None else str(path)
        if str(path).endswith(".feather"):
            table = feather.read_table(source, memory_map=False)
        else:
            file = pq.ParquetFile(source)
            if file.metadata.num_rows > MAX_ROWS:
                raise BadInput(f"more than {MAX_ROWS} rows", path=path, field=field)
            table = file.read(columns=[n for n in names if n in file.schema_arrow.names])
    for name in names:
        if name not in table.column_names:
            raise BadInput(f"lacks column {name!r}", path=path, field=field)
    if not table.num_rows:
        raise BadInput("holds no row", path=path, field=field)
    with malformed(path, field):
        return {name: np.asarray(table[name].to_numpy()) for name in names}


def numbers(columns: dict[str, NDArray[Any]], names: Sequence[str]) -> NDArray[np.float64]:
    """``[R, K]`` of the named columns as float64; ``ValueError`` if one holds no numbers."""
    return np.stack([np.asarray(columns[name], dtype=np.float64) for name in names], axis=-1)


def seconds(stamps: NDArray[Any], unit: float, origin: int | float) -> NDArray[np.float64]:
    """Integer time stamps as seconds since ``origin`` (subtracted first: a double cannot hold Unix nanoseconds)."""
    return np.asarray(stamps - origin, dtype=np.float64) * unit
