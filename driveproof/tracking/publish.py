"""``publish``: one run for each state of dvc.lock, one model version for each content of the model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from driveproof.config import Params
from driveproof.tracking.lineage import Lineage, content_hash, read_lineage
from driveproof.tracking.store import Store, open_store

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.entities.model_registry import ModelVersion

ARTIFACT_SUFFIXES = frozenset({".html", ".json"})
"""Files below reports/ that a run keeps."""
ARTIFACT_FILES = ("params.yaml", "dvc.yaml", "dvc.lock")
MODEL_PATH = "model"
_BATCH = 100


@dataclass(frozen=True)
class Published:
    """What ``publish`` did: the run of this build, and the model version of its model (None: no model)."""

    run_id: str
    new_run: bool
    model_name: str
    model_version: str | None
    new_version: bool


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
        If nothing was built, a report is broken, or the model holds a pickle.
    Unreachable
        If the store does not answer.
    """
    root = Path(root)
    settings = params.publish
    lineage = read_lineage(root, params)
    model = root / settings.model_dir
    model_hash = content_hash(model) if model.is_dir() else None
    store = open_store(settings, root if store_root is None else store_root)
    known = find_run(store, lineage.lock_hash)
    version = _find_version(store, settings.model_name, model_hash)
    if known is not None:
        return Published(known.info.run_id, False, settings.model_name, _number(version), False)
    run = _begin(store, lineage)
    _log(store, run, lineage, root)
    new_version = model_hash is not None and version is None
    if new_version:
        version = _register(store, run, settings.model_name, model, str(model_hash))
    number = _number(version)
    if number is not None:
        store.client.set_registered_model_alias(settings.model_name, settings.alias, number)
        store.client.set_tag(run.info.run_id, "model_version", f"{settings.model_name}/{number}")
    store.client.set_terminated(run.info.run_id)
    return Published(run.info.run_id, True, settings.model_name, number, new_version)


def _number(version: ModelVersion | None) -> str | None:
    return str(version.version) if version is not None else None


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
    for path in sorted((root / "reports").rglob("*")):
        if path.is_file() and path.suffix in ARTIFACT_SUFFIXES:
            folder = path.parent.relative_to(root).as_posix()
            store.client.log_artifact(run_id, str(path), folder)


def _find_version(store: Store, name: str, model_hash: str | None) -> ModelVersion | None:
    versions = store.client.search_model_versions(f"name = '{name}'")
    matching = [v for v in versions if v.tags.get("content_hash") == model_hash]
    return matching[0] if matching else None


def _register(store: Store, run: Run, name: str, model: Path, model_hash: str) -> ModelVersion:
    from mlflow.exceptions import MlflowException

    store.client.log_artifacts(run.info.run_id, str(model), MODEL_PATH)
    try:
        store.client.get_registered_model(name)
    except MlflowException:
        store.client.create_registered_model(name)
    return store.client.create_model_version(
        name,
        source=f"{run.info.artifact_uri}/{MODEL_PATH}",
        run_id=run.info.run_id,
        tags={"content_hash": model_hash, "dvc_lock": str(run.data.tags["dvc_lock"])},
    )
