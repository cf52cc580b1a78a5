"""A migrated empty database once a worker: MLflow takes seconds to make one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], None]:
    """Puts an empty store as ``mlflow.db`` into a folder."""
    import mlflow

    source = tmp_path_factory.mktemp("store") / "mlflow.db"
    mlflow.MlflowClient(tracking_uri=f"sqlite:///{source}").search_experiments()

    def put(folder: Path) -> None:
        shutil.copy(source, folder / "mlflow.db")

    return put
