"""What a set of questions holds, for stats.json and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from driveproof.codebook.paper import TABLE_10, TABLE_10_COLUMNS
from driveproof.mcq.build import SplitResult
from driveproof.mcq.grid import Grid
from driveproof.mcq.items import McqItem
from driveproof.mcq.separation import separation


def describe(items: Sequence[McqItem]) -> dict[str, Any]:
    """Counts by class, source, number of options and place of the oracle, and the separation."""
    return {
        "items": len(items),
        "drives": len({item.scene_key for item in items}),
        "classes": _count(item.drive_class for item in items),
        "sources": _count(item.source for item in items),
        "options": _count(str(item.n_options) for item in items),
        "oracle_positions": _count(str(item.oracle_index) for item in items),
        "separation": separation(items),
    }


def stats_of(results: Mapping[str, SplitResult], grid: Grid) -> dict[str, Any]:
    """Everything that the stage counts: in every split, scenes = items + the sum of ``rejected``."""
    splits = {
        name: {
            "scenes": result.scenes,
            "scene_classes": dict(sorted(result.classes.items())),
            "rejected": dict(sorted(result.rejected.items())),
            **describe(result.items),
        }
        for name, result in results.items()
    }
    cells = _count(item.variant for item in grid.items)
    return {
        "splits": splits,
        "grid": {"cells": cells, "rejected": dict(sorted(grid.rejected.items()))},
        "paper": {
            "table_10": {
                name: dict(zip(TABLE_10_COLUMNS, row, strict=True))
                for name, row in TABLE_10.items()
            }
        },
    }


def _count(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
