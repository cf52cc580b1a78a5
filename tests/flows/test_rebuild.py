"""The rebuild flow on a real Prefect server: deployed, run by a worker; killed, resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psutil
import pytest

PREFECT = [sys.executable, "-m", "prefect", "--no-prompt"]
RUN_FLOW = """
import sys
from pathlib import Path
from flows.rebuild import rebuild
rebuild(repository=Path(sys.argv[1]), publish=False, grace_s=0.5)
"""


def _prefect(server, root: Path, *arguments: str) -> str:
    done = subprocess.run(
        [*PREFECT, *arguments], cwd=root, env=server.environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _api(server, path: str, body: dict[str, object] | None = None) -> dict[str, object]:
    request = urllib.request.Request(
        f"{server.url}/{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


@pytest.mark.slow
def test_the_deployment_of_the_repository_completes_on_a_worker(server, project, root) -> None:
    for pool in ("local", "simulators"):
        _prefect(server, root, "work-pool", "create", pool, "--type", "process", "--overwrite")
    _prefect(server, root, "deploy", "--all")
    deployment = _api(server, "deployments/name/rebuild/nightly")
    assert [s["schedule"]["cron"] for s in deployment["schedules"]] == ["0 2 * * *"]
    created = _api(
        server,
        f"deployments/{deployment['id']}/create_flow_run",
        {"parameters": {"repository": str(project.path), "overrides": ["seed=5"], "retries": 0}},
    )
    worker = _prefect(server, root, "worker", "start", "--pool", "local", "--run-once")
    finished = _api(server, f"flow_runs/{created['id']}")
    assert finished["state"]["type"] == "COMPLETED", worker
    assert project.executed() == ["first", "second", "third"]
    # the checkout was not touched: results are in the shared cache and in the tracking store
    assert project.git("status", "--porcelain") == ""
    assert not list((project.path / ".cache" / "worktrees").iterdir())
    assert (project.path / "mlflow.db").exists()


@pytest.mark.slow
def test_a_killed_rebuild_leaves_no_orphan_and_resumes(server, project, root) -> None:
    project.hold.touch()
    command = [sys.executable, "-c", RUN_FLOW, str(project.path)]
    flow = subprocess.Popen(command, cwd=root, env=server.environment)
    deadline = time.monotonic() + 60
    while project.executed() != ["first", "second"]:
        assert flow.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    family = psutil.Process(flow.pid).children(recursive=True)
    assert any("step.py" in " ".join(member.cmdline()) for member in family)
    os.kill(flow.pid, signal.SIGKILL)
    flow.wait()
    _, alive = psutil.wait_procs(family, timeout=10)
    assert [member for member in alive if member.status() != psutil.STATUS_ZOMBIE] == []

    project.hold.unlink()
    subprocess.run(command, cwd=root, env=server.environment, check=True)
    assert project.executed() == ["first", "second", "second", "third"]
