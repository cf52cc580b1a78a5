"""``publish``: one run for each state of dvc.lock, one model version for each content of a model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driveproof.config import Params
from driveproof.config.publish import PublishedModel
from driveproof.errors import BadInput
from driveproof.evaluation.driving.records import RouteRecord
from driveproof.evaluation.driving.suite import Loss
from driveproof.evaluation.unit_scores import UnitScore, drive_unit_scores, mcq_unit_scores
from driveproof.mcq import read_items
from driveproof.mcq.answers import read_answers
from driveproof.tracking.lineage import Lineage, content_hash, read_lineage, revision_of
from driveproof.tracking.registry import (
    Version,
    attach_scores,
    register,
    set_alias,
    version_of_content,
    version_revisions,
)
from driveproof.tracking.store import Store, open_store

if TYPE_CHECKING:
    from mlflow.entities import Run

QUESTIONS = Path("data/mcq/test.parquet")
ARTIFACT_SUFFIXES = frozenset({".html", ".json"})
"""Files below reports/ that a run keeps."""
ARTIFACT_FILES = ("params.yaml", "dvc.yaml", "dvc.lock")
_BATCH = 100


@dataclass(frozen=True)
class PublishedVersion:
    """A model of the build: its version, and whether that is new."""

    name: str
    version: str
    new: bool
    folder: str


@dataclass(frozen=True)
class Published:
    """What ``publish`` did: the run of this build, and the versions of the models that were built."""

    run_id: str
    new_run: bool
    models: tuple[PublishedVersion, ...]


def publish(
    params: Params, root: str | Path = ".", store_root: str | Path | None = None
) -> Published:
    """Record the build in ``root``; a build that is already recorded changes nothing.

    The run is closed last, so a publish that was cut off counts as not done and is done again.

    Parameters
    ----------
    root
        Repository root with dvc.lock, reports/ and models/.
    store_root
        Directory from which relative paths of the store are taken; default: ``root``.

    Raises
    ------
    BadInput
        If nothing was built, a report is broken, or a model holds a pickle.
    Unreachable
        If the store does not answer.
    """
    root = Path(root)
    settings = params.publish
    lineage = read_lineage(root, params)
    models = [one for model in settings.models for one in model.of(params.grpo.variants)]
    built = [model for model in models if (root / model.folder).is_dir()]
    hashes = [content_hash(root / model.folder) for model in built]
    measured = [_scores(model, root) for model in built]
    store = open_store(settings, root if store_root is None else store_root)
    known = find_run(store, lineage.lock_hash)
    if known is not None:
        found = [
            (model, version_of_content(store, model.name, digest))
            for model, digest in zip(built, hashes, strict=True)
        ]
        versions = [_published(model, version, False) for model, version in found if version]
        return Published(known.info.run_id, False, tuple(versions))
    run = _begin(store, lineage)
    _log(store, run, lineage, root)
    versions = []
    for model, digest, scores in zip(built, hashes, measured, strict=True):
        version = version_of_content(store, model.name, digest)
        new = version is None
        if version is None:
            version = register(store, run, model.name, root / model.folder, digest)
        if scores:
            attach_scores(store, version, run.info.run_id, "mcq", scores)
        set_alias(store, version, settings.alias)
        store.client.set_tag(run.info.run_id, f"version.{model.folder}", str(version))
        versions.append(_published(model, version, new))
    store.client.set_terminated(run.info.run_id)
    return Published(run.info.run_id, True, tuple(versions))


def publish_drive(
    params: Params,
    version: Version,
    records: Sequence[RouteRecord],
    store: Store,
    losses: Sequence[Loss] = (),
    identity: Mapping[str, Any] | None = None,
) -> str:
    """Attach the scores of a closed-loop run to the version that drove; the same run again changes nothing.

    Parameters
    ----------
    losses
        Drives without a record; a policy that broke scores 0, all others are lost and counted.
    identity
        What the policy that drove says it is, where it is known.

    Returns
    -------
    The MLflow run.

    Raises
    ------
    BadInput
        If no route has ended, or other weights than the version's drove.
    """
    from mlflow.entities import Metric

    scores = drive_unit_scores(records, losses)
    if all(score.value != score.value for score in scores):
        raise BadInput("no route of this run has ended", field="records")
    _check_driver(store, version, revision_of(identity))
    told = json.dumps(
        [
            *(record.to_json() for record in records),
            *([*loss.key, loss.state.value] for loss in losses),
        ],
        sort_keys=True,
    )
    run_hash = hashlib.sha256(told.encode()).hexdigest()
    query = f"tags.drive_run = '{run_hash}' and tags.version = '{version}' and attributes.status = 'FINISHED'"
    known = store.client.search_runs([store.experiment_id], filter_string=query, max_results=1)
    if known:
        return str(known[0].info.run_id)
    tags = {"drive_run": run_hash, "version": str(version), "seed": str(params.seed)}
    name = f"drive-{run_hash[:8]}"
    run = store.client.create_run(store.experiment_id, tags=tags, run_name=name)
    run_id = str(run.info.run_id)
    attach_scores(store, version, run_id, "drive", scores)
    known_values = [score for score in scores if score.value == score.value]
    metrics = sorted({score.metric for score in known_values})
    moment = run.info.start_time
    points = []
    for metric in metrics:
        values = [score.value for score in known_values if score.metric == metric]
        points.append(Metric(f"drive/{metric}", sum(values) / len(values), moment, 0))
        points.append(Metric(f"drive/{metric}_n", float(len(values)), moment, 0))
    store.client.log_batch(run_id, metrics=points)
    store.client.set_terminated(run_id)
    return run_id


def _check_driver(store: Store, version: Version, revision: str | None) -> None:
    """Refuse scores of other weights; a policy or a version that names none may be anything."""
    if revision is None:
        return
    known = version_revisions(store, version)
    if known and revision not in known:
        raise BadInput(
            f"weights {revision[:12]} drove, this version has {', '.join(k[:12] for k in sorted(known))}",
            field=str(version),
            hint="publish the run of the version that drove",
        )


def _log_rollouts(store: Store, run_id: str, root: Path) -> None:
    """The samples of rollouts of every variant, as tables that MLflow shows."""
    import pyarrow.parquet as pq

    for path in sorted(root.glob("reports/grpo/*/samples.parquet")):
        table = pq.read_table(path).to_pandas()
        store.client.log_table(run_id, table, f"rollouts/{path.parent.name}.json")


def _scores(model: PublishedModel, root: Path) -> list[UnitScore]:
    """Its scores by question, none if it was not evaluated."""
    if not model.answers or not (root / model.answers).is_file():
        return []
    runs = read_answers(root / model.answers)
    if model.run not in runs:
        names = ", ".join(sorted(runs))
        raise BadInput(f"no run {model.run!r}", path=root / model.answers, hint=f"has {names}")
    answers = runs[model.run]
    asked = {(answer.record_key, answer.variant) for answer in answers}
    items = [i for i in read_items(root / QUESTIONS) if (i.record_key, i.variant) in asked]
    return mcq_unit_scores(items, answers)


def _published(model: PublishedModel, version: Version, new: bool) -> PublishedVersion:
    return PublishedVersion(model.name, version.number, new, model.folder)


def find_run(store: Store, lock_hash: str) -> Run | None:
    """The finished run of a state of dvc.lock, if there is one."""
    query = f"tags.dvc_lock = '{lock_hash}' and attributes.status = 'FINISHED'"
    runs = store.client.search_runs([store.experiment_id], filter_string=query, max_results=1)
    return runs[0] if runs else None


def _begin(store: Store, lineage: Lineage) -> Run:
    query = f"tags.dvc_lock = '{lineage.lock_hash}' and attributes.status = 'RUNNING'"
    for cut_off in store.client.search_runs([store.experiment_id], filter_string=query):
        store.client.set_terminated(cut_off.info.run_id, "KILLED")
    name = f"build-{lineage.lock_hash[:8]}"
    return store.client.create_run(store.experiment_id, tags=dict(lineage.tags), run_name=name)


def _log(store: Store, run: Run, lineage: Lineage, root: Path) -> None:
    from mlflow.entities import Metric, Param

    run_id, moment = run.info.run_id, run.info.start_time
    params = [Param(name, value) for name, value in lineage.params.items()]
    metrics = [Metric(p.name, p.value, moment, p.step) for p in lineage.metrics]
    for first in range(0, len(params), _BATCH):
        store.client.log_batch(run_id, params=params[first : first + _BATCH])
    for first in range(0, len(metrics), _BATCH):
        store.client.log_batch(run_id, metrics=metrics[first : first + _BATCH])
    for name in ARTIFACT_FILES:
        if (root / name).is_file():
            store.client.log_artifact(run_id, str(root / name))
    _log_rollouts(store, run_id, root)
    for path in sorted((root / "reports").rglob("*")):
        if path.is_file() and path.suffix in ARTIFACT_SUFFIXES:
            folder = path.parent.relative_to(root).as_posix()
            store.client.log_artifact(run_id, str(path), folder)
