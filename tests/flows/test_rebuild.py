"""The rebuild flow on a real Prefect server: deployed, run by a worker; killed, resumed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

RUN_FLOW = """
import sys
from pathlib import Path
from flows.rebuild import rebuild
rebuild(repository=Path(sys.argv[1]), publish=False, grace_s=0.5)
"""


@pytest.mark.slow
def test_the_deployment_of_the_repository_completes_on_a_worker(server, project, root) -> None:
    server.deploy(root)
    deployment = server.api("deployments/name/rebuild/nightly")
    assert [s["schedule"]["cron"] for s in deployment["schedules"]] == ["0 2 * * *"]
    created = server.api(
        f"deployments/{deployment['id']}/create_flow_run",
        {"parameters": {"repository": str(project.path), "overrides": ["seed=5"], "retries": 0}},
    )
    worker = server.prefect(root, "worker", "start", "--pool", "local", "--run-once")
    finished = server.api(f"flow_runs/{created['id']}")
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
