"""Tables as flat frames: nested arrays become the numbers that can be wrong about them.

Read straight from parquet, not through the classes of the rooms: those refuse a broken row at the first, and
a gate has to say everything that is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from driveproof.codebook.storage import read_npz
from driveproof.errors import BadInput
from driveproof.files import read_json
from driveproof.geometry.arrays import Float
from driveproof.scene.types import STEP_S

if TYPE_CHECKING:
    import pandas as pd

_SCENE_ARRAYS = ("history", "future", "velocity", "acceleration", "world_pose", "timestamp_s")
_SCENE_COLUMNS = (*_SCENE_ARRAYS, "record_key", "scene_key", "source", "command", "agent_ids")
_ITEM_ARRAYS = ("history", "velocity", "acceleration", "waypoints", "options", "similarities")


def scene_frame(directory: Path) -> pd.DataFrame:
    """One row a scene of ``scenes-*.parquet``; ``split`` comes from ``splits.json``."""
    shards = sorted(directory.glob("scenes-*.parquet"))
    if not shards:
        raise BadInput("no scene shards (scenes-*.parquet) here", path=directory)
    splits = _read_splits(directory / "splits.json")
    rows = [row for shard in shards for row in read_rows(shard, _SCENE_COLUMNS)]
    return flat_frame(rows, lambda row: _scene_row(row, splits))


def item_frames(directory: Path, names: Sequence[str]) -> dict[str, pd.DataFrame]:
    """One row a question for each split; ``n_splits`` says in how many splits the drive occurs."""
    rows = {name: read_rows(directory / f"{name}.parquet") for name in names}
    counts = Counter(key for items in rows.values() for key in {str(r["scene_key"]) for r in items})
    return {
        name: flat_frame(items, lambda row: _item_row(row, counts)) for name, items in rows.items()
    }


def grid_frame(directory: Path) -> pd.DataFrame | None:
    """One row a question of the difficulty grid, None where there is no grid."""
    path = directory / "grid.parquet"
    if not path.is_file():
        return None
    return flat_frame(read_rows(path), lambda row: _item_row(row, {}))


def codebook_frame(path: Path) -> pd.DataFrame:
    """One row a prototype of a codebook file."""
    codes = np.asarray(read_npz(path, ("codes",))["codes"], dtype=np.float64)
    if codes.ndim != 3:
        raise BadInput("expected prototypes [K, 10, 2]", path=path, field="codes")
    _, first, inverse = np.unique(
        codes.reshape(len(codes), -1), axis=0, return_index=True, return_inverse=True
    )
    rows = [
        {
            "code": str(code),
            "n_waypoints": len(points),
            "n_not_finite": _not_finite(points),
            "fastest": fastest(points),
            "twin_of": int(first[inverse[code]]) if first[inverse[code]] != code else -1,
        }
        for code, points in enumerate(codes)
    ]
    return flat_frame(rows, dict)


def position_p_value(positions: Sequence[int], n_options: Sequence[int]) -> float:
    """Probability that fair shuffling places oracles at least this unevenly (chi-square test).

    Parameters
    ----------
    positions, n_options
        For each question the position of its oracle and how many options it has. Questions with another
        number of options have another distribution, so the expected counts are summed over questions.
    """
    from scipy.stats import chi2

    widest = max(n_options, default=0)
    if widest < 2:
        return 1.0
    expected = np.zeros(widest)
    for n in n_options:
        expected[:n] += 1.0 / n
    counts = np.bincount(np.clip(positions, 0, widest - 1), minlength=widest)
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, widest - 1))


def fastest(points: Float) -> float:
    """Highest speed, m/s, along waypoints ``[10, 2]`` at 0.5 s from the origin; not finite ones are left out."""
    path = np.concatenate([np.zeros((1, 2)), points])
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    return float(np.max(steps[np.isfinite(steps)], initial=0.0)) / STEP_S


def _scene_row(row: Mapping[str, Any], splits: Mapping[str, str]) -> dict[str, Any]:
    future = _points(row["future"], 3)
    return {
        "record_key": row["record_key"],
        "scene_key": row["scene_key"],
        "source": row["source"],
        "split": splits.get(str(row["scene_key"])),
        "command": row["command"],
        "n_history": len(row["history"] or []),
        "n_future": len(future),
        "n_not_finite": sum(_not_finite(row[name]) for name in _SCENE_ARRAYS),
        "speed": _norm(row["velocity"]),
        "acceleration": _norm(row["acceleration"]),
        "fastest": fastest(future[:, :2]),
        "origin_offset": _norm((row["history"] or [[0.0]])[-1]),
        "n_agents": len(row["agent_ids"] or []),
    }


def _item_row(row: Mapping[str, Any], splits_of: Mapping[str, int]) -> dict[str, Any]:
    kinds, codes = list(row["option_kinds"] or []), list(row["option_codes"] or [])
    options = _points(row["options"], 20).reshape(-1, 10, 2)
    similarities = list(row["similarities"] or [])
    index = row["oracle_index"]
    inside = index is not None and 0 <= index < len(kinds)
    at_oracle = similarities[index] if inside and index < len(similarities) else None
    others = [s for i, s in enumerate(similarities) if i != index and s is not None]
    return {
        "record_key": row["record_key"],
        "scene_key": row["scene_key"],
        "split": row["split"],
        "drive_class": row["drive_class"],
        "variant": row["variant"],
        "n_splits": splits_of.get(str(row["scene_key"]), 1),
        "n_options": len(kinds),
        "n_missing": max(len(kinds), len(codes), len(options), len(similarities))
        - min(len(kinds), len(codes), len(options), len(similarities)),
        "n_not_finite": sum(_not_finite(row[name]) for name in _ITEM_ARRAYS),
        "n_oracles": kinds.count("oracle"),
        "oracle_index": index,
        "places_past_end": 0 if inside else 1,
        "repeated_codes": len(codes) - len(set(codes)),
        "option_gap": _least_gap(options),
        "fastest": max(fastest(points) for points in [*options, _points(row["waypoints"], 2)]),
        "oracle_similarity": at_oracle,
        "least_similarity": min(others, default=None),
        "most_similarity": max(others, default=None),
    }


def _least_gap(options: Float) -> float | None:
    """Least average displacement, metres, between two of ``[M, 10, 2]`` options."""
    gaps = [float(np.linalg.norm(a - b, axis=1).mean()) for a, b in combinations(options, 2)]
    return min((gap for gap in gaps if np.isfinite(gap)), default=None)


def read_rows(path: Path, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """The rows of a parquet file; BadInput if it is absent, unreadable or lacks a column."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows: list[dict[str, Any]] = (
            pq.ParquetFile(path).read(columns=columns and list(columns)).to_pylist()
        )
    except FileNotFoundError:
        raise BadInput("no such table", path=path, hint="run dvc repro") from None
    except (pa.ArrowException, OSError) as error:
        text = str(error).splitlines()[0]
        raise BadInput(f"not a readable parquet file: {text}", path=path) from None
    return rows


def flat_frame(
    rows: Sequence[Mapping[str, Any]], flatten: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> pd.DataFrame:
    """A data frame of flattened rows."""
    import pandas as pd

    try:
        return pd.DataFrame([flatten(row) for row in rows])
    except KeyError as error:
        raise BadInput(f"the table has no column {error}") from None


def _read_splits(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    splits = read_json(path)
    if not isinstance(splits, dict):
        raise BadInput("expected scene_key -> split", path=path)
    return splits


def _numbers(value: Any) -> Float:
    """All numbers of a nested list, None as NaN."""
    if isinstance(value, list | tuple):
        parts = [_numbers(inner) for inner in value]
        return np.concatenate(parts) if parts else np.zeros(0)
    return np.array([np.nan if value is None else float(value)])


def _points(value: Any, width: int) -> Float:
    numbers = _numbers(value or [])
    return numbers[: len(numbers) // width * width].reshape(-1, width)


def _not_finite(value: Any) -> int:
    numbers = value.ravel() if isinstance(value, np.ndarray) else _numbers(value)
    return int((~np.isfinite(numbers)).sum())


def _norm(value: Any) -> float:
    numbers = _numbers(value or [])
    return float(np.linalg.norm(numbers[np.isfinite(numbers)]))
