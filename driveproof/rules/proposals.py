"""Files of planners, read in batches: parquet by row groups, npz as a stream, so that memory stays constant.

Columns (parquet) or arrays of equal length (npz)
-------------------------------------------------
record_key
    Text: the scene.
poses
    ``[T, 2]`` x, y or ``[T, 3]`` x, y, heading in the ego frame of the scene (x forward, y left, metres, radians), of
    the same point of the vehicle that the scene's poses follow, at dt, 2 dt, …, reaching 4 s. Parquet: a list of lists
    or a flat list with two or three numbers a pose; npz: ``[N, T, 2 or 3]``.
name
    Text, optional: the planner; else the file's name.
dt
    Number, optional: 0.5 or 0.1 s; else 0.1 s where 40 poses or more are given.
width
    Number, optional: numbers a pose (2 or 3) of flat lists, where both divide the length.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.rules.states import DT, HORIZON

BATCH_ROWS = 1024
STEPS_ALLOWED = (0.5, 0.1)
_FEW_POSES = 40
_MIN_STEP = 0.3
MAX_POSES = 1000


@dataclass(frozen=True)
class Proposal:
    """One row: number in the file, scene, planner, poses ``[T, 2 or 3]``, seconds between them.

    ``problem`` says why a plan cannot be scored, None if it can.
    """

    row: int
    record_key: str
    name: str
    poses: Float
    dt: float
    problem: str | None = None


def read_batches(path: Path, rows: int = BATCH_ROWS) -> Iterator[list[Proposal]]:
    """The proposals of a file in batches of ``rows``.

    A row whose poses are not numbers, not finite, or too few carries its problem along; it is no error of the file.

    Raises
    ------
    BadInput
        Naming file and field: unreadable, another schema, arrays of different length, a pose that is not x, y or
        x, y, heading, an unknown dt.
    """
    first = 0
    for columns in _npz(path, rows) if path.suffix == ".npz" else _parquet(path, rows):
        batch = [_proposal(path, first + n, columns, n) for n in range(len(columns["record_key"]))]
        first += len(batch)
        yield batch
    if not first:
        raise BadInput("holds no proposal", path=path)


def count_rows(path: Path) -> int | None:
    """How many proposals a file claims, for a progress bar."""
    try:
        if path.suffix == ".npz":
            with zipfile.ZipFile(path) as archive, archive.open("record_key.npy") as stream:
                return int(_header(stream, path, "record_key")[0][0])
        return int(pq.ParquetFile(path).metadata.num_rows)
    except (BadInput, OSError, KeyError, ValueError, IndexError, zipfile.BadZipFile):
        return None  # the reading itself says what is wrong


def headings_along(points: Float) -> Float:
    """Headings ``[N, T]`` of paths ``[N, T, 2]`` that leave the origin along x.

    A course counts after every 0.3 m and is held in between; one that flips by more than 90° is backing up. The
    heading at a pose is midway between the courses before and after it, exact on a circle driven evenly.
    """
    count, steps = points.shape[:2]
    courses = np.zeros((count, steps))
    anchor, current = np.zeros((count, 2)), np.zeros(count)
    for k in range(steps):
        delta = points[:, k] - anchor
        moved = np.hypot(delta[:, 0], delta[:, 1]) >= _MIN_STEP
        turn = _wrap(np.arctan2(delta[:, 1], delta[:, 0]) - current)
        turn = np.where(np.abs(turn) > np.pi / 2, _wrap(turn + np.pi), turn)
        current = np.where(moved, current + turn, current)
        anchor = np.where(moved[:, None], points[:, k], anchor)
        courses[:, k] = current
    turns = np.diff(courses, axis=1, prepend=0.0)
    after = np.concatenate([turns[:, 1:], turns[:, -1:]], axis=1)  # the last turn is taken to go on
    return _wrap(courses + after / 2.0)


def _wrap(angle: Float) -> Float:
    wrapped: Float = (angle + np.pi) % (2.0 * np.pi) - np.pi
    return wrapped


def _proposal(path: Path, row: int, columns: dict[str, Any], n: int) -> Proposal:
    where = f"row {row}"
    key = columns["record_key"][n]
    name = columns["name"][n] if "name" in columns else path.stem
    if key is None or name is None:
        field = f"{where}: {'record_key' if key is None else 'name'}"
        raise BadInput("is empty", path=path, field=field)
    poses, problem = _poses(columns, n, path, where)
    dt = float(columns["dt"][n]) if "dt" in columns and columns["dt"][n] is not None else None
    if dt is None:
        dt = DT if len(poses) >= _FEW_POSES else 0.5
    if not any(abs(dt - step) < 1e-6 for step in STEPS_ALLOWED):
        raise BadInput(f"expected 0.5 or 0.1 s, got {dt:g}", path=path, field=f"{where}: dt")
    if problem is None and not np.isfinite(poses).all():
        problem = f"poses: pose {int((~np.isfinite(poses)).any(-1).argmax())} is not finite"
    if problem is None and len(poses) * dt < HORIZON * DT - 1e-6:
        problem = f"poses: {len(poses)} at {dt:g} s end before {HORIZON * DT:g} s"
    return Proposal(row, str(key), str(name), poses, dt, problem)


def _poses(columns: dict[str, Any], n: int, path: Path, where: str) -> tuple[Float, str | None]:
    value, field = columns["poses"][n], f"{where}: poses"
    nothing = np.zeros((0, 2))
    if value is None or len(value) == 0:
        return nothing, "poses: is empty"
    if len(value) > 3 * MAX_POSES:
        raise BadInput(f"more than {MAX_POSES} poses", path=path, field=field)
    try:
        poses = np.array(value.tolist() if isinstance(value, np.ndarray) else value, np.float64)
    except (TypeError, ValueError):
        raise BadInput(
            "expected [x, y] or [x, y, heading] a pose", path=path, field=field
        ) from None
    if poses.ndim == 1:
        poses = _unflattened(poses, columns, n, path, where)
    if poses.ndim != 2 or poses.shape[1] not in (2, 3):
        raise BadInput("expected [x, y] or [x, y, heading] a pose", path=path, field=field)
    return poses, None


def _unflattened(flat: Float, columns: dict[str, Any], n: int, path: Path, where: str) -> Float:
    given = columns["width"][n] if "width" in columns else None
    fits = [width for width in (2, 3) if len(flat) % width == 0 and given in (None, width)]
    if len(fits) == 1:
        return flat.reshape(-1, fits[0])
    problem = "fits neither 2 nor 3 numbers a pose" if not fits else "fits 2 and 3 numbers a pose"
    hint = "say which in a column width" if fits else None
    raise BadInput(f"{len(flat)} numbers: {problem}", path=path, field=f"{where}: poses", hint=hint)


def _parquet(path: Path, rows: int) -> Iterator[dict[str, Any]]:
    """Columns of up to ``rows`` rows as lists."""
    try:
        file = pq.ParquetFile(path)
        schema = file.schema_arrow
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"no readable parquet file: {str(error)[:100]}", path=path) from None
    for column in ("record_key", "poses"):
        if column not in schema.names:
            raise BadInput(f"lacks the column {column!r}", path=path)
    if not _is_list(schema.field("poses").type):
        kind = schema.field("poses").type
        raise BadInput(f"expected lists of numbers, got {kind}", path=path, field="poses")
    wanted = [c for c in ("record_key", "name", "poses", "dt", "width") if c in schema.names]
    for column in ("record_key", "name"):
        text = column not in wanted or _is_text(schema.field(column).type)
        if not text:
            raise BadInput("expected text", path=path, field=column)
    for column in ("dt", "width"):
        kind = schema.field(column).type if column in wanted else pa.float64()
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            raise BadInput(f"expected numbers, got {kind}", path=path, field=column)
    try:
        for batch in file.iter_batches(batch_size=rows, columns=wanted):
            yield batch.to_pydict()
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"damaged: {str(error)[:100]}", path=path) from None


def _is_list(kind: pa.DataType) -> bool:
    types = pa.types
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return False
    inner = kind.value_type
    return types.is_floating(inner) or types.is_integer(inner) or _is_list(inner)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _npz(path: Path, rows: int) -> Iterator[dict[str, Any]]:
    """Slices of the arrays, read from the archive as a stream; nothing is unpickled."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = {name.removesuffix(".npy") for name in archive.namelist()}
            for column in ("record_key", "poses"):
                if column not in names:
                    raise BadInput(f"lacks the array {column!r}", path=path)
            wanted = [c for c in ("record_key", "name", "poses", "dt") if c in names]
            streams = {name: archive.open(f"{name}.npy") for name in wanted}
            heads = {name: _header(stream, path, name) for name, stream in streams.items()}
            total = heads["record_key"][0][0]
            for name, (shape, _) in heads.items():
                if shape[0] != total:
                    problem = f"{shape[0]} rows, record_key has {total}"
                    raise BadInput(problem, path=path, field=name)
            for start in range(0, total, rows):
                count = min(rows, total - start)
                yield {n: _take(streams[n], *heads[n], count, path, n) for n in wanted}
    except (OSError, zipfile.BadZipFile, EOFError) as error:
        raise BadInput(f"no readable npz file: {str(error)[:100]}", path=path) from None


def _header(stream: IO[bytes], path: Path, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of an array in C order; leaves the stream at its content."""
    try:
        layout: Any = np.lib.format
        version = layout.read_magic(stream)
        first = version == (1, 0)
        read = layout.read_array_header_1_0 if first else layout.read_array_header_2_0
        shape, fortran, dtype = read(stream)
    except ValueError as error:
        raise BadInput(f"no array: {str(error)[:80]}", path=path, field=name) from None
    ranks = (3,) if name == "poses" else (1,)
    kinds = "US" if name in ("record_key", "name") else "fiu"
    if fortran or dtype.hasobject or dtype.kind not in kinds or len(shape) not in ranks:
        expected = "numbers [N, T, 2 or 3]" if name == "poses" else "a plain array [N]"
        problem = f"expected {expected} in C order, got {dtype} {list(shape)}"
        raise BadInput(problem, path=path, field=name)
    if name == "poses" and (shape[2] not in (2, 3) or shape[1] > MAX_POSES):
        problem = f"expected at most {MAX_POSES} poses of 2 or 3 numbers, got {list(shape)}"
        raise BadInput(problem, path=path, field=name)
    return shape, dtype


def _take(
    stream: IO[bytes],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    rows: int,
    path: Path,
    name: str,
) -> NDArray[Any]:
    whole = (rows, *shape[1:])
    size = int(np.prod(whole)) * dtype.itemsize
    content = stream.read(size)
    if len(content) != size:
        raise BadInput("ends early", path=path, field=name)
    array = np.frombuffer(content, dtype).reshape(whole)
    return np.char.decode(array, "utf-8") if dtype.kind == "S" else array
