"""What every adapter does with untrusted content: one clear line instead of a traceback."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import ArrayLike

from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.geometry.kinematics import differentiate
from driveproof.geometry.se2 import rotate

_PLAUSIBLE_RATIO = (0.5, 2.0)
_PLAUSIBLE_COSINE = 0.5
_MOVING_M_S = 1.0
_LEAST_SAMPLES = 10


def one_line(error: BaseException | str) -> str:
    """The first line of an error's text, at most 160 characters."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:160]


@contextmanager
def malformed(path: str | Path, field: str | None = None) -> Iterator[None]:
    """Turn what parsing untrusted content raises into :class:`BadInput` naming file and field."""
    try:
        yield
    except KeyError as error:
        raise BadInput(f"lacks {one_line(repr(error.args[0]))}", path=path, field=field) from None
    except (
        TypeError,
        ValueError,
        IndexError,
        AttributeError,
        OverflowError,
        RecursionError,
        MemoryError,  # a header that claims terabytes
        EOFError,
        OSError,
        pa.ArrowException,
    ) as error:
        raise BadInput(f"malformed: {one_line(error)}", path=path, field=field) from None


def parse_json(data: bytes, path: str | Path, field: str | None = None) -> Any:
    """Parsed JSON; numbers written as NaN or Infinity (Python's dialect) are let through.

    Raises
    ------
    BadInput
        If it is not JSON.
    """
    try:
        return orjson.loads(data)
    except ValueError:
        pass  # orjson is strict; the recorders use Python's json, which writes NaN
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not JSON: {one_line(error)}", path=path, field=field) from None


def parse_objects(data: bytes, path: str | Path, keys: Sequence[str] = ()) -> list[dict[str, Any]]:
    """A JSON array of objects that all have ``keys``."""
    rows = parse_json(data, path)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadInput("expected an array of objects", path=path)
    for index, row in enumerate(rows):
        for key in keys:
            if key not in row:
                raise BadInput(f"lacks {key!r}", path=path, field=f"row {index}")
    return rows


def check_velocity(
    velocity: ArrayLike, poses: Float, times: Float, path: str | Path, field: str
) -> None:
    """Refuse a recorded velocity that contradicts the positions: a wrong unit, clock or frame.

    Parameters
    ----------
    velocity, poses, times
        ``[T, 2]`` in the frame of each pose, ``[T, 3]`` in the world, ``[T]`` seconds.

    Compared are medians over the moving samples, so that noise and dropouts do not matter: the speeds may
    differ by a factor of two, the directions by 60 degrees. Fewer than ten moving samples prove nothing.
    """
    if len(times) < _LEAST_SAMPLES or (np.diff(times) <= 0).any():
        return  # the windows count a broken clock
    recorded = np.asarray(velocity, dtype=np.float64)
    driven = rotate(differentiate(poses[:, :2], times), -poses[:, 2])
    fast = np.maximum(np.hypot(*driven.T), np.hypot(*recorded.T)) > _MOVING_M_S
    moving = np.isfinite(recorded).all(1) & np.isfinite(driven).all(1) & fast
    if moving.sum() < _LEAST_SAMPLES:
        return
    recorded, driven = recorded[moving], driven[moving]
    speeds = np.hypot(*recorded.T), np.hypot(*driven.T)
    ratio = float(np.median(speeds[0]) / max(np.median(speeds[1]), 1e-6))
    if not _PLAUSIBLE_RATIO[0] <= ratio <= _PLAUSIBLE_RATIO[1]:
        raise BadInput(
            f"speed is {ratio:.3g} times what the positions say",
            path=path,
            field=field,
            hint="wrong unit or clock?",
        )
    cosine = (recorded * driven).sum(1) / np.maximum(speeds[0] * speeds[1], 1e-9)
    if np.median(cosine) < _PLAUSIBLE_COSINE:
        raise BadInput(
            "velocity points elsewhere than the positions go",
            path=path,
            field=field,
            hint="wrong frame or handedness?",
        )
