"""A directory of questions: three splits, the difficulty grid and what was counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from driveproof.codebook import TrajectoryCodebook
from driveproof.config.mcq import McqParams
from driveproof.files import atomic_dir, write_json
from driveproof.mcq.build import build_splits
from driveproof.mcq.candidates import Vocabulary
from driveproof.mcq.grid import difficulty_grid
from driveproof.mcq.stats import stats_of
from driveproof.mcq.table import write_items
from driveproof.scene import Scene


def write_mcq(
    scenes: Iterable[Scene],
    splits: Mapping[str, str],
    codebook: TrajectoryCodebook,
    params: McqParams,
    seed: int,
    directory: str | Path,
    on_progress: Callable[[str], None] = lambda step: None,
) -> dict[str, Any]:
    """Build all questions and write them; the directory appears whole or not at all.

    Returns
    -------
    The content of ``stats.json``.
    """
    vocabulary = Vocabulary(codebook)
    results = build_splits(scenes, splits, vocabulary, params, seed, on_progress)
    on_progress("grid")
    grid = difficulty_grid(results["test"].items, vocabulary, params.grid, seed)
    stats = stats_of(results, grid)
    with atomic_dir(directory) as temporary:
        for split, result in results.items():
            write_items(result.items, temporary / f"{split}.parquet")
        write_items(grid.items, temporary / "grid.parquet")
        write_json(temporary / "stats.json", stats)
    return stats
