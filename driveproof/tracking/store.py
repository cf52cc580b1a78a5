"""The tracking store: sqlite and a folder by default, any MLflow server by its URI."""

from __future__ import annotations

import logging
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from driveproof.config.publish import PublishParams
from driveproof.errors import BadInput, Unreachable

if TYPE_CHECKING:
    from mlflow import MlflowClient

_SQLITE = "sqlite:///"
_LOCK_TIMEOUT_S = 5.0


@dataclass(frozen=True)
class Store:
    """An open tracking store and registry, and the experiment in it."""

    client: MlflowClient
    experiment_id: str


def resolve_uri(tracking_uri: str, root: Path) -> str:
    """``tracking_uri`` with a relative sqlite path taken from ``root``.

    Raises
    ------
    BadInput
        If it is a plain folder: MLflow's file store has no model registry to speak of.
    """
    if tracking_uri.startswith(_SQLITE):
        return _SQLITE + str((root / tracking_uri.removeprefix(_SQLITE)).resolve())
    if "://" not in tracking_uri or tracking_uri.startswith("file:"):
        raise BadInput(
            f"{tracking_uri!r} is no database or server",
            path="params.yaml",
            field="publish.tracking_uri",
            hint="use sqlite:///mlflow.db or http://host:port",
        )
    return tracking_uri


def open_store(params: PublishParams, root: str | Path = ".") -> Store:
    """Open the store; make the database and the experiment if they are not there yet.

    Parameters
    ----------
    root
        Directory that relative paths of ``params`` start from.

    Raises
    ------
    BadInput
        If the URI names no database or server.
    Unreachable
        If the server or database does not answer.
    """
    # a server that is away is told within seconds, not after MLflow's two minutes of retries
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "10")
    import mlflow
    from mlflow.exceptions import MlflowException

    for name in ("alembic", "mlflow.store", "mlflow.tracking"):
        logging.getLogger(name).setLevel(logging.WARNING)
    root = Path(root)
    uri = resolve_uri(params.tracking_uri, root)
    artifacts = params.artifact_root
    if "://" not in artifacts:
        artifacts = (root / artifacts).resolve().as_uri()
    _try_sqlite(uri)
    try:
        client = mlflow.MlflowClient(tracking_uri=uri, registry_uri=uri)
        experiment = client.get_experiment_by_name(params.experiment)
        if experiment is not None:
            return Store(client, experiment.experiment_id)
        return Store(client, client.create_experiment(params.experiment, artifacts))
    except (MlflowException, OSError) as error:
        raise silent(error, path=uri) from None


def silent(error: Exception, path: str = "") -> Unreachable:
    """What to raise where the store gave no answer: a time-out, an error of the server, a locked database."""
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return Unreachable(f"the tracking store does not answer: {text}", path=path or None)


def _try_sqlite(uri: str) -> None:
    """Whether a database file can be written: MLflow tries for minutes, and then shows its inside."""
    if not uri.startswith(_SQLITE):
        return
    path = uri.removeprefix(_SQLITE)
    try:
        with closing(sqlite3.connect(path, timeout=_LOCK_TIMEOUT_S)) as database:
            database.execute("BEGIN IMMEDIATE")
            database.rollback()
    except sqlite3.Error as error:
        raise Unreachable(f"the tracking store does not answer: {error}", path=path) from None
