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

    def add(self, column: str, drive: str, total: float, count: int) -> None:
        """Take in ``count`` scored values of one drive that sum up to ``total``."""
        if count:
            known = self.sums.setdefault(column, {}).setdefault(drive, [0.0, 0])
            known[0] += total
            known[1] += count

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
        frequent = sorted(self.reasons.items(), key=lambda item: (-item[1], item[0]))
        common = dict(frequent[:_REASONS])
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
    sums = [(column, how) for column in SCORES for how in ("sum", "count")]
    for batch in pq.ParquetFile(path).iter_batches(batch_size=65536):
        table = pa.table(batch)
        groups = table.group_by(["name", "scene_key"], use_threads=False).aggregate(
            [*sums, ("row", "count")]
        )
        for group in groups.sort_by(
            [("name", "ascending"), ("scene_key", "ascending")]
        ).to_pylist():
            tally = tallies.setdefault(group["name"], Tally())
            tally.rows += group["row_count"]
            for c in SCORES:
                total = group[f"{c}_sum"] or 0.0
                tally.add(c, group["scene_key"] or "", total, group[f"{c}_count"])
        reasons = table.group_by(["name", "reason"], use_threads=False).aggregate(
            [("row", "count")]
        )
        for group in reasons.to_pylist():
            if group["reason"] is not None:
                tallies[group["name"]].reasons[group["reason"]] += group["row_count"]
    return {name: tallies[name].to_json(SCORES) for name in sorted(tallies)}
