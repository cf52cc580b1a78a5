"""Scores by unit (a question, a route): what two models are compared by, unit for unit.

A mean alone cannot be compared well: most of the spread is between the units, and both models saw the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.errors import BadInput
from driveproof.evaluation.driving.records import RouteRecord, RouteState
from driveproof.evaluation.driving.route_score import Variant, score_record
from driveproof.evaluation.driving.suite import Loss
from driveproof.evaluation.mcq import tabulate
from driveproof.evaluation.statistics import (
    Estimate,
    bootstrap_mean,
    mean_over_repeats,
    paired_difference,
)
from driveproof.files import atomic_path
from driveproof.geometry.arrays import Float
from driveproof.mcq.interaction import Answer
from driveproof.mcq.items import McqItem

DRIVE_METRICS = ("driving_score", "success")
SCHEMA = pa.schema(
    [
        pa.field("metric", pa.string(), nullable=False),
        pa.field("unit", pa.string(), nullable=False),
        pa.field("cluster", pa.string(), nullable=False),
        pa.field("value", pa.float64()),
    ]
)


@dataclass(frozen=True)
class UnitScore:
    """One value.

    Attributes
    ----------
    metric
        "accuracy" and "hld" (0 to 1) of questions; "driving_score" (0 to 100) and "success" (0 or 1) of routes.
    unit
        The question or route; a metric has each once.
    cluster
        What depends on each other: the drive of a question, the route of its repeats.
    value
        NaN where it was lost.
    """

    metric: str
    unit: str
    cluster: str
    value: float


@dataclass(frozen=True)
class Comparison:
    """Two models by one metric.

    Attributes
    ----------
    metric
        Which.
    first, second
        Each one's mean over all of its units.
    difference
        First minus second over the units that both have, with a paired bootstrap interval over clusters.
    only_first, only_second
        Units that one alone has; they are in no difference.
    clusters, clusters_first
        Drives or routes behind the difference, and behind the first one's mean: units of one depend on each other.
    lost_first, lost_second
        Shared units without a value for the first, or the second; they are in no difference either.
    """

    metric: str
    first: Estimate
    second: Estimate
    difference: Estimate
    only_first: int
    only_second: int
    clusters: int
    clusters_first: int
    lost_first: int = 0
    lost_second: int = 0


def mcq_unit_scores(items: Sequence[McqItem], answers: Iterable[Answer]) -> list[UnitScore]:
    """Accuracy and consistency of the decision by question, means over its repeats."""
    table = tabulate(items, answers)
    scores = []
    for metric, values in (("accuracy", table.correct), ("hld", table.consistent)):
        if not values.shape[1]:
            continue
        for item, value in zip(items, mean_over_repeats(values), strict=True):
            unit = "/".join(part for part in (item.record_key, item.variant) if part)
            scores.append(UnitScore(metric, unit, item.scene_key, float(value)))
    return scores


def drive_unit_scores(
    records: Iterable[RouteRecord], losses: Iterable[Loss] = ()
) -> list[UnitScore]:
    """Corrected driving score and success by route and repeat.

    A policy that broke scores 0, with a record or without one; a route that was lost otherwise is NaN, never 0.
    """
    scores = []
    for record in records:
        unit = f"{record.route_id}_rep{record.repeat}"
        known = record.state.scored
        value = score_record(record, Variant.CORRECTED, _no_motion).composed if known else None
        success = float(record.success) if known else np.nan
        values = zip(DRIVE_METRICS, (np.nan if value is None else value, success), strict=True)
        scores += [UnitScore(metric, unit, record.route_id, value) for metric, value in values]
    for loss in losses:
        value = 0.0 if loss.state is RouteState.FAILED_BY_POLICY else np.nan
        unit = f"{loss.route_id}_rep{loss.repeat}"
        scores += [UnitScore(metric, unit, loss.route_id, value) for metric in DRIVE_METRICS]
    return scores


def _no_motion(record: RouteRecord) -> None:
    """Neither score needs the motion."""


def compare_units(
    first: Sequence[UnitScore], second: Sequence[UnitScore], seed: int = 0
) -> list[Comparison]:
    """Both models by each metric that either has, in alphabetical order."""
    metrics = sorted({score.metric for score in (*first, *second)})
    return [_compare(metric, _of(metric, first), _of(metric, second), seed) for metric in metrics]


def _of(metric: str, scores: Sequence[UnitScore]) -> dict[str, UnitScore]:
    return {score.unit: score for score in scores if score.metric == metric}


def _compare(
    metric: str, first: dict[str, UnitScore], second: dict[str, UnitScore], seed: int
) -> Comparison:
    shared = sorted(first.keys() & second.keys())

    def values(scores: dict[str, UnitScore], units: Sequence[str]) -> Float:
        return np.array([scores[unit].value for unit in units], np.float64)

    def mean(scores: dict[str, UnitScore]) -> Estimate:
        units = sorted(scores)
        clusters = [scores[unit].cluster for unit in units]
        return bootstrap_mean(values(scores, units), seed, clusters=clusters)

    difference = paired_difference(
        values(first, shared),
        values(second, shared),
        seed,
        clusters=[first[unit].cluster for unit in shared],
    )
    own, other = _scored_units(first), _scored_units(second)
    return Comparison(
        metric,
        mean(first),
        mean(second),
        difference,
        only_first=len(first) - len(shared),
        only_second=len(second) - len(shared),
        clusters=len({first[unit].cluster for unit in own & other}),
        clusters_first=len({first[unit].cluster for unit in own}),
        lost_first=len(first.keys() & second.keys() - own),
        lost_second=len(first.keys() & second.keys() - other),
    )


def _scored_units(scores: dict[str, UnitScore]) -> set[str]:
    return {unit for unit, score in scores.items() if not np.isnan(score.value)}


def write_unit_scores(path: str | Path, scores: Sequence[UnitScore]) -> None:
    """Write a table; NaN becomes null."""
    ordered = sorted(scores, key=lambda score: (score.metric, score.unit))
    columns = {
        "metric": [score.metric for score in ordered],
        "unit": [score.unit for score in ordered],
        "cluster": [score.cluster for score in ordered],
        "value": [None if np.isnan(score.value) else score.value for score in ordered],
    }
    with atomic_path(path) as temporary:
        pq.write_table(pa.table(columns, schema=SCHEMA), temporary)


def read_unit_scores(path: str | Path) -> list[UnitScore]:
    """Read a table.

    Raises
    ------
    BadInput
        If it is no such table, or a metric has a unit twice.
    """
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise BadInput(f"no table of scores: {str(error).splitlines()[0]}", path=path) from None
    if table.schema.names != SCHEMA.names or table.schema.types != SCHEMA.types:
        raise BadInput("no table of scores", path=path, field=", ".join(table.schema.names))
    scores = [
        UnitScore(
            row["metric"],
            row["unit"],
            row["cluster"],
            np.nan if row["value"] is None else row["value"],
        )
        for row in table.to_pylist()
    ]
    keys = {(score.metric, score.unit) for score in scores}
    if len(keys) < len(scores):
        raise BadInput("a metric has a unit twice", path=path)
    return scores
