"""The difficulty grid of two models, cell by cell (DEFT-RLVR, figure 8): what one gains over the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driveproof.evaluation.mcq import AnswerTable
from driveproof.evaluation.run import Evaluation
from driveproof.evaluation.statistics import Estimate, mean_over_repeats, paired_difference


@dataclass(frozen=True)
class GridGain:
    """Accuracy of ``run`` minus that of ``base`` by cell, paired by question.

    ``overall`` is over all cells; the cells share their drives, so its interval draws drives with all of their cells.
    """

    base: str
    run: str
    cells: dict[str, Estimate]
    overall: Estimate

    @property
    def everywhere(self) -> bool:
        """Whether the gain lies above zero in every cell, as the paper has it; intervals are not asked."""
        return all(cell.mean is not None and cell.mean > 0 for cell in self.cells.values())


def grid_gains(evaluation: Evaluation, seed: int) -> list[GridGain]:
    """Every run over the grid against the first one; empty if there are fewer than two."""
    runs = [run for run in evaluation.runs.values() if run.grid]
    return [
        GridGain(runs[0].name, run.name, *compare_grids(runs[0].table, run.table, seed))
        for run in runs[1:]
    ]


def compare_grids(
    base: AnswerTable, other: AnswerTable, seed: int
) -> tuple[dict[str, Estimate], Estimate]:
    """Gains of ``other`` over ``base`` by cell and over all; a question that either lost is lost."""
    order = {(item.record_key, item.variant): n for n, item in enumerate(base.items)}
    rows = np.array([order[item.record_key, item.variant] for item in other.items], dtype=np.int64)
    after, before = mean_over_repeats(other.correct), mean_over_repeats(base.correct)[rows]
    variants = np.array([item.variant for item in other.items], dtype=object)
    scenes = np.array(other.scenes, dtype=object)
    cells = {}
    for cell in sorted(set(variants.tolist())):
        here = variants == cell
        names = scenes[here].tolist()
        cells[cell] = paired_difference(after[here], before[here], seed, clusters=names)
    return cells, paired_difference(after, before, seed, clusters=other.scenes)
