"""The doctor tells good from bad, and exits accordingly."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from driveproof.cli.diagnosis import Finding, diagnose


def _findings(root: Path, carla: str | None = None) -> dict[str, Finding]:
    return {finding.name: finding for finding in diagnose(root, carla)}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "params.yaml").write_text("seed: 0\n")
    (tmp_path / "requirements.lock").write_text("numpy==0.0.1\nno-such-package-here==1.0\n")
    return tmp_path


def test_what_is_wrong_with_a_bare_folder_is_named(checkout: Path) -> None:
    findings = _findings(checkout)
    assert findings["packages"].state == "bad"
    assert "no-such-package-here missing" in findings["packages"].detail
    assert "locked 0.0.1" in findings["packages"].detail
    assert findings["dvc"].state == "bad"
    assert findings["params"].state == findings["mlflow"].state == "ok"
    assert not (checkout / "mlflow.db").exists()
    (checkout / "params.yaml").write_text("sead: 0\n")
    assert _findings(checkout)["params"].state == "bad"


def test_only_a_simulator_that_was_asked_for_has_to_be_there(checkout: Path) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        address = f"127.0.0.1:{port}"
        assert _findings(checkout, address)["carla"].state == "bad"  # bound, not listening
        server.listen()
        assert _findings(checkout, address)["carla"].state == "ok"
    assert _findings(checkout, "nonsense")["carla"].state == "bad"


def test_servers_that_are_set_must_answer(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    assert _findings(checkout)["prefect"].state == "note"
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    assert _findings(checkout)["prefect"].state == "bad"


@pytest.mark.slow
def test_the_command_prints_json_and_exits_with_what_it_found(checkout: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "driveproof", "doctor", "--json"],
        cwd=checkout,
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout)
    assert {"name", "state", "detail"} == set(found[0])
    assert done.returncode == 1
