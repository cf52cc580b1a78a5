"""What scores of driving rules say about planners: means with intervals over drives, losses by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.evaluation.statistics import Estimate, cluster_interval
from driveproof.geometry.arrays import Float
from driveproof.rules import RULES

SEED = 0
SCORES = (*RULES, "EPDMS", "EPDMS_human_filtered")
_REASONS = 20
"""Reasons that are told apart; the rest are counted together."""


@dataclass
class Tally:
    """Sums of one planner's scores by drive, so that memory grows with drives and not with proposals."""

    rows: int = 0
    sums: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    """Column, drive: total and number."""
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, column: str, drive: str, values: Float) -> None:
        """Take in values of one drive; NaN is unscored."""
        known = values[~np.isnan(values)]
        if len(known):
            total = self.sums.setdefault(column, {}).setdefault(drive, [0.0, 0])
            total[0] += float(known.sum())
            total[1] += len(known)

    def estimate(self, column: str) -> Estimate:
        """Mean and bootstrap interval over drives; lost are the rows without a value."""
        drives = self.sums.get(column, {})
        totals = np.array([drives[name] for name in sorted(drives)], np.float64).reshape(-1, 2)
        n = int(totals[:, 1].sum())
        if not n:
            return Estimate(None, None, None, 0, self.rows)
        low, high = cluster_interval(totals[:, 0], totals[:, 1], SEED)
        return Estimate(float(totals[:, 0].sum() / n), low, high, n, self.rows - n)

    def to_json(self, columns: Iterable[str]) -> dict[str, Any]:
        """Estimates by column and reasons of loss."""
        common = dict(self.reasons.most_common(_REASONS))
        rest = sum(self.reasons.values()) - sum(common.values())
        return {
            "rows": self.rows,
            "scores": {column: estimate_json(self.estimate(column)) for column in columns},
            "lost": {**common, **({"other": rest} if rest else {})},
        }


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """Mean, interval, n and lost as plain numbers."""
    return {
        "mean": estimate.mean,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "lost": estimate.lost,
    }


def summarise_scores(path: Path) -> dict[str, Any]:
    """Summary of a table of :func:`driveproof.rules.planner_run.score_file`, read in batches.

    Means are over all scored proposals of a planner, intervals by drawing whole drives; ``lost`` counts the
    proposals whose EPDMS could not be computed, by reason.
    """
    tallies: dict[str, Tally] = {}
    for batch in pq.ParquetFile(path).iter_batches(batch_size=65536):
        table = pa.table(batch)
        names = table["name"].to_numpy(zero_copy_only=False)
        drives = table["scene_key"].to_pandas().fillna("").to_numpy()
        values = {c: table[c].to_numpy(zero_copy_only=False).astype(np.float64) for c in SCORES}
        reasons = table["reason"].to_pandas()
        for name in sorted(set(names.tolist())):
            mine = names == name
            tally = tallies.setdefault(name, Tally())
            tally.rows += int(mine.sum())
            tally.reasons.update(reasons[mine].dropna().tolist())
            for drive in sorted(set(drives[mine].tolist())):
                here = mine & (drives == drive)
                for column in SCORES:
                    tally.add(column, drive, values[column][here])
    return {name: tallies[name].to_json(SCORES) for name in sorted(tallies)}
