"""A throw-away DVC project of three stages, and a real Prefect server on a free port."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

# flows are no part of the installed package: they are run from the repository root
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

STEP = """
import pathlib, sys, time
name, probe = sys.argv[1], pathlib.Path({probe!r})
with open(probe / "executed", "a") as log:
    log.write(name + "\\n")
while name == "second" and (probe / "hold").exists():
    time.sleep(0.05)
pathlib.Path(name + ".txt").write_text(name)
"""
STAGES = """
stages:
  first:
    cmd: python step.py first
    params: [seed]
    deps: [step.py]
    outs: [first.txt]
  second:
    cmd: python step.py second
    deps: [step.py, first.txt]
    outs: [second.txt]
  third:
    cmd: python step.py third
    deps: [step.py, second.txt]
    outs: [third.txt]
"""


@dataclass(frozen=True)
class Project:
    """A DVC project whose stages say when they execute; ``hold`` keeps the second one busy."""

    path: Path
    probe: Path

    @property
    def hold(self) -> Path:
        return self.probe / "hold"

    def executed(self) -> list[str]:
        log = self.probe / "executed"
        return log.read_text().split() if log.exists() else []

    def git(self, *arguments: str) -> str:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
        return subprocess.run(
            command, cwd=self.path, check=True, capture_output=True, text=True
        ).stdout


@pytest.fixture
def project(tmp_path: Path) -> Project:
    path, probe = tmp_path / "project", tmp_path / "probe"
    path.mkdir()
    probe.mkdir()
    made = Project(path, probe)
    made.git("init", "-q")
    subprocess.run([sys.executable, "-m", "dvc", "init", "-q"], cwd=path, check=True)
    (path / "step.py").write_text(STEP.format(probe=str(probe)))
    (path / "dvc.yaml").write_text(STAGES)
    (path / "params.yaml").write_text("seed: 0\n")
    (path / ".gitignore").write_text("/*.txt\n/.cache/\n/mlflow.db\n/mlartifacts/\n")
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "Begin")
    return made


@dataclass(frozen=True)
class Server:
    """A Prefect server of its own, and the environment in which to use it."""

    url: str
    environment: dict[str, str]

    def prefect(self, root: Path, *arguments: str) -> str:
        """Run the program ``prefect`` in ``root`` against this server; what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "prefect", "--no-prompt", *arguments],
            cwd=root,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def api(self, path: str, body: dict[str, object] | None = None) -> Any:
        """Ask the server itself."""
        request = urllib.request.Request(
            f"{self.url}/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def deploy(self, root: Path) -> None:
        """Register the deployments of the repository, and the pools that they name."""
        for pool in ("local", "simulators"):
            self.prefect(root, "work-pool", "create", pool, "--type", "process", "--overwrite")
        self.prefect(root, "deploy", "--all")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[Server]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = tmp_path_factory.mktemp("prefect")
    url = f"http://127.0.0.1:{port}/api"
    environment = {
        **os.environ,
        "PREFECT_HOME": str(home),
        "PREFECT_API_URL": url,
        "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
        "PYTHONPATH": str(root),
        "NO_COLOR": "1",
    }
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1"]
    with open(home / "server.log", "w") as log:
        process = subprocess.Popen(
            [*command, "--port", str(port), "--no-ui", "--no-services"],
            env={key: value for key, value in environment.items() if key != "PREFECT_API_URL"},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_until_healthy(f"{url}/health", process)
        yield Server(url, environment)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_until_healthy(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert process.poll() is None, "the Prefect server ended"
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.2)
    pytest.fail("the Prefect server did not come up")
