"""A suite as a deployment on a real Prefect server: it drives, ends in MLflow, and moves the champion by the gate."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from driveproof.config import load_params
from driveproof.drive.suite import staged_routes
from driveproof.evaluation.unit_scores import UnitScore
from driveproof.sim.routes import write_routes
from driveproof.tracking import find_version, open_store, publish
from driveproof.tracking.registry import attach_scores, set_alias

NAME = "driveproof-driver"
PARAMS = f"""
publish: {{models: [{{name: {NAME}, folder: models/driver}}]}}
promote:
  gates:
    {NAME}: [{{metric: driving_score, at_least: MARGIN, min_units: 2, min_clusters: 2}}]
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A suite of one short route under two names, and two versions of a driver: the second is the challenger."""
    (route,) = staged_routes(["HardBreakRoute"], longest_m=150.0)
    write_routes([route, replace(route, key="2")], tmp_path / "suite.xml")
    (tmp_path / "params.yaml").write_text(PARAMS.replace("MARGIN", "1000.0"))
    model = tmp_path / "models" / "driver"
    model.mkdir(parents=True)
    for number in (1, 2):
        (tmp_path / "dvc.lock").write_text(f"schema: '2.0'\nstages: {{s{number}: {{}}}}\n")
        save_file({"w": np.full(3, number, np.float32)}, model / "model.safetensors")
        publish(load_params(tmp_path / "params.yaml"), tmp_path)
    return tmp_path


def _suite(server, root: Path, repository: Path, **parameters: object) -> str:
    """Run the deployment ``closed-loop/nightly-suite`` with other parameters; returns how it ended."""
    deployment = server.api("deployments/name/closed-loop/nightly-suite")
    common = {"suite": "suite.xml", "repository": str(repository), "simulators": ["embedded"]}
    body = {"parameters": {**common, **parameters}}
    created = server.api(f"deployments/{deployment['id']}/create_flow_run", body)
    told = server.prefect(root, "worker", "start", "--pool", "local", "--run-once")
    state = server.api(f"flow_runs/{created['id']}")["state"]
    assert state["type"] == "COMPLETED", told
    return told


@pytest.mark.slow
def test_a_suite_ends_in_the_registry_and_moves_the_champion_by_the_gate(
    server, repository: Path, root: Path
) -> None:
    server.deploy(root)
    store = open_store(load_params(repository / "params.yaml").publish, repository)
    champion = find_version(store, f"{NAME}/1")
    slow = [UnitScore("driving_score", f"{name}_rep0", name, 30.0) for name in ("1", "2")]
    run_id = store.client.get_model_version(NAME, "1").run_id
    attach_scores(store, champion, run_id, "drive", slow)
    set_alias(store, champion, "champion")

    second = {"version": f"{NAME}@challenger", "policy": "expert", "out": "runs/second"}
    _suite(server, root, repository, promote=True, **second)
    # nobody is better by a thousand points
    assert find_version(store, f"{NAME}@champion").number == "1"
    assert find_version(store, f"{NAME}/2").measured == ("drive",)

    (repository / "params.yaml").write_text(PARAMS.replace("MARGIN", "5.0"))
    # the same run again drives nothing and publishes nothing new, and now the gate holds
    before = len(store.client.search_runs([store.experiment_id]))
    _suite(server, root, repository, promote=True, **second)
    assert find_version(store, f"{NAME}@champion").number == "2"
    assert len(store.client.search_runs([store.experiment_id])) == before
    states = [
        json.loads(p.read_text())["state"] for p in repository.glob("runs/*/routes/*/state.json")
    ]
    assert states == ["completed"] * 2
