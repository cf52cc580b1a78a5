"""How many codes and how much data: the sweeps of DEFT-RLVR's tables 5 and 6 on any corpus."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driveproof.codebook.arrays import digest, flat_trajectories
from driveproof.codebook.estimator import TrajectoryCodebook
from driveproof.codebook.metrics import Reconstruction
from driveproof.codebook.paper import TABLE_5, TABLE_5_COLUMNS, TABLE_6, TABLE_6_COLUMNS
from driveproof.codebook.trajectories import Text, TrajectorySet
from driveproof.config.codebook import ClusteringParams
from driveproof.config.sweep import SweepParams
from driveproof.errors import BadInput
from driveproof.files import atomic_dir, write_json
from driveproof.geometry.arrays import Bool, Float32

MAX_CODES = 8192
"""What the paper chose; more codes are never recommended."""
MIN_PER_CODE = 8.0
MAX_RATIO = 1.25
"""A code book is too fine for its data beyond these; see :func:`recommend`."""

_CSV_COLUMNS = (
    *("n_codes", "n_fit", "n_out", "runs"),
    *(
        f"{place}_{what}"
        for what in ("ade", "fde", "utilisation")
        for place in ("in", "out", "cross")
    ),
    *("in_ade_sd", "out_ade_sd", "in_ade_p99", "out_ade_p99", "gap"),
)


@dataclass(frozen=True)
class PowerLaw:
    """error = coefficient * codes ** -exponent, least squares in logarithms; ``r2`` of that line."""

    exponent: float
    coefficient: float
    r2: float


def fit_power_law(codes: ArrayLike, errors: ArrayLike) -> PowerLaw | None:
    """Fit a power law to errors ``[S]`` at S numbers of codes; None for fewer than two sizes."""
    x, y = np.log(np.asarray(codes, dtype=float)), np.log(np.asarray(errors, dtype=float))
    if len(x) < 2:
        return None
    slope, intercept = np.polyfit(x, y, 1)
    rest, spread = y - (slope * x + intercept), y - y.mean()
    total = float(spread @ spread)
    r2 = 1.0 - float(rest @ rest) / total if total else 1.0
    return PowerLaw(float(-slope), float(np.exp(intercept)), r2)


def held_out_masks(scene_keys: Text, n_splits: int, fraction: float, seed: int) -> list[Bool]:
    """Masks ``[N]`` of the held-out trajectories of ``n_splits`` random splits that cut no drive.

    ``fraction`` of the drives (not of the trajectories) is held out each time.
    """
    from sklearn.model_selection import GroupShuffleSplit

    if len(np.unique(scene_keys)) < 2:
        raise BadInput("at least two drives are needed to hold one out", field="scene_key")
    splitter = GroupShuffleSplit(n_splits=n_splits, test_size=fraction, random_state=seed)
    masks = []
    for _, held in splitter.split(scene_keys, groups=scene_keys):
        mask = np.zeros(len(scene_keys), dtype=np.bool_)
        mask[held] = True
        masks.append(mask)
    return masks


@dataclass(frozen=True)
class _Task:
    table: str
    n_codes: int
    split: int
    seed: int
    n_fit: int


@dataclass(frozen=True)
class _Run:
    task: _Task
    inside: Reconstruction
    outside: Reconstruction
    cross: Reconstruction | None


def run_sweep(
    data: TrajectorySet,
    params: SweepParams,
    clustering: ClusteringParams,
    seed: int = 0,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Fit all codebooks of both tables in ``params.workers`` processes and summarise them.

    Returns
    -------
    A plain dictionary for JSON: ``resolution`` and ``scale`` (rows of means over splits and seeds),
    ``power_law``, ``recommended``, ``skipped`` (sizes with more codes than distinct trajectories) and
    ``runs``. The number of processes does not change it.
    """
    from joblib import Parallel, delayed

    crossing: Bool = np.isin(data.sources, params.cross_sources)
    cross = data.waypoints[crossing] if crossing.any() else None
    data = data.where(~crossing)
    if not len(data):
        raise BadInput("all trajectories belong to cross_sources", field="cross_sources")
    masks = held_out_masks(data.scene_keys, params.n_splits, params.held_out, seed)
    counts = [len(np.unique(flat_trajectories(data.waypoints[~m]), axis=0)) for m in masks]
    tasks = _tasks(params, min(counts))
    runs: list[_Run] = []
    # Largest first, so that no process is left alone with a long one at the end.
    queue = sorted(tasks, key=lambda task: -task.n_codes * task.n_fit)
    jobs = (delayed(_run)(t, data.waypoints, masks[t.split], cross, clustering) for t in queue)
    for run in Parallel(n_jobs=min(params.workers, len(queue)), return_as="generator")(jobs):
        runs.append(run)
        on_progress(len(runs), len(queue))
    return _report(data, sorted(runs, key=_order), params, min(counts), seed)


def _order(run: _Run) -> tuple[str, int, int, int, int]:
    task = run.task
    return task.table, task.n_codes, task.n_fit, task.split, task.seed


def _tasks(params: SweepParams, n_fit: int) -> list[_Task]:
    """All fits that the data suffice for."""
    tasks = [
        _Task("resolution", k, split, seed, n_fit)
        for k in sorted(set(params.sizes))
        for split in range(params.n_splits)
        for seed in params.seeds
        if k <= n_fit
    ]
    for k in sorted(set(params.scale_sizes)):
        for fraction in sorted(set(params.scale_fractions)):
            count = round(n_fit * fraction)
            if k <= count:
                tasks += [
                    _Task("scale", k, split, params.seeds[0], count)
                    for split in range(params.n_splits)
                ]
    if not tasks:
        raise BadInput(f"all sizes exceed the {n_fit} trajectories left to fit", field="sizes")
    return tasks


def _run(
    task: _Task,
    waypoints: Float32,
    held: Bool,
    cross: Float32 | None,
    clustering: ClusteringParams,
) -> _Run:
    fit = waypoints[~held]
    if task.table == "scale":
        chosen = np.random.default_rng([task.seed, task.split]).permutation(len(fit))
        fit = fit[np.sort(chosen[: task.n_fit])]  # nested: a larger subset holds the smaller ones
    codebook = TrajectoryCodebook(
        task.n_codes, **clustering.model_dump(), random_state=task.seed
    ).fit(fit)
    outside = codebook.evaluate(waypoints[held])
    return _Run(
        task,
        codebook.evaluate(fit),
        outside,
        codebook.evaluate(cross) if cross is not None else None,
    )


def _report(
    data: TrajectorySet, runs: list[_Run], params: SweepParams, n_fit: int, seed: int
) -> dict[str, Any]:
    resolution = _rows([run for run in runs if run.task.table == "resolution"])
    scale = _rows([run for run in runs if run.task.table == "scale"])
    sizes = [row["n_codes"] for row in resolution]
    laws = {
        place: fit_power_law(sizes, [row[f"{place}_ade"] for row in resolution])
        for place in ("in", "out")
    }
    return {
        "trajectories": len(data),
        "drives": len(np.unique(data.scene_keys)),
        "data_sha256": digest(flat_trajectories(data.waypoints)),
        "seed": seed,
        "params": params.model_dump(mode="json", exclude={"source", "workers"}),
        "resolution": resolution,
        "scale": scale,
        "power_law": {place: vars(law) if law else None for place, law in laws.items()},
        "recommended_n_codes": recommend(resolution),
        "skipped": [k for k in sorted(set(params.sizes)) if k > n_fit],
        "runs": [_run_row(run) for run in runs],
        "paper": {
            "table_5": [dict(zip(TABLE_5_COLUMNS, row, strict=True)) for row in TABLE_5],
            "table_6": [dict(zip(TABLE_6_COLUMNS, row, strict=True)) for row in TABLE_6],
        },
    }


def _run_row(run: _Run) -> dict[str, Any]:
    return {
        **vars(run.task),
        "in": run.inside.to_dict(),
        "out": run.outside.to_dict(),
        "cross": run.cross.to_dict() if run.cross else None,
    }


def _rows(runs: Sequence[_Run]) -> list[dict[str, Any]]:
    """One row for each number of codes and of fitted trajectories: means over splits and seeds."""
    groups: dict[tuple[int, int], list[_Run]] = defaultdict(list)
    for run in runs:
        groups[run.task.n_codes, run.task.n_fit].append(run)
    rows = []
    for (n_codes, _), group in sorted(groups.items()):
        row: dict[str, Any] = {
            "n_codes": n_codes,
            "n_fit": round(np.mean([run.inside.n for run in group])),
            "n_out": round(np.mean([run.outside.n for run in group])),
            "runs": len(group),
        }
        row |= _columns("in", [run.inside for run in group])
        row |= _columns("out", [run.outside for run in group])
        row |= _columns("cross", [run.cross for run in group if run.cross is not None])
        row["gap"] = row["out_ade"] - row["in_ade"]
        rows.append(row)
    return rows


def _columns(place: str, found: Sequence[Reconstruction]) -> dict[str, float | None]:
    def mean(values: list[float]) -> float | None:
        return float(np.mean(values)) if values else None

    return {
        f"{place}_ade": mean([r.ade.mean for r in found]),
        f"{place}_ade_sd": float(np.std([r.ade.mean for r in found])) if found else None,
        f"{place}_ade_p50": mean([r.ade.p50 for r in found]),
        f"{place}_ade_p95": mean([r.ade.p95 for r in found]),
        f"{place}_ade_p99": mean([r.ade.p99 for r in found]),
        f"{place}_fde": mean([r.fde.mean for r in found]),
        f"{place}_fde_p50": mean([r.fde.p50 for r in found]),
        f"{place}_fde_p95": mean([r.fde.p95 for r in found]),
        f"{place}_fde_p99": mean([r.fde.p99 for r in found]),
        f"{place}_utilisation": mean([r.utilisation for r in found]),
    }


def recommend(rows: Sequence[dict[str, Any]]) -> int | None:
    """The largest power of two up to 8,192 that the data support; None if no size of the sweep is.

    Supported: at least ``MIN_PER_CODE`` fitted trajectories to a code, and a mean held-out ADE of at most
    ``MAX_RATIO`` times the mean in-sample ADE. Held-out utilisation is reported, not used: with few
    held-out trajectories a code it says how few they are, not how good the codes.
    """
    fit = [
        row["n_codes"]
        for row in rows
        if row["n_codes"] <= MAX_CODES
        and row["n_codes"].bit_count() == 1
        and row["n_fit"] / row["n_codes"] >= MIN_PER_CODE
        and row["out_ade"] <= MAX_RATIO * row["in_ade"]
    ]
    return max(fit, default=None)


def write_sweep(report: dict[str, Any], directory: str | Path) -> None:
    """Write ``sweep.json`` (all), ``resolution.csv`` and ``scale.csv`` (for ``dvc plots``) into ``directory``."""
    with atomic_dir(directory) as temporary:
        write_json(temporary / "sweep.json", report)
        for table in ("resolution", "scale"):
            with open(temporary / f"{table}.csv", "w", encoding="utf-8", newline="") as stream:
                writer = csv.DictWriter(stream, _CSV_COLUMNS, extrasaction="ignore")
                writer.writeheader()
                writer.writerows(report[table])
