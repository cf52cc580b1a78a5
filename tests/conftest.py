"""Fixtures shared by all rooms."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# Examples are the same in every run, and a busy machine is no failure.
settings.register_profile("driveproof", deadline=None, derandomize=True)
settings.load_profile("driveproof")

# Quiet, offline, one thread a worker: two threads beside another job were seen 10 to 40 times slower.
os.environ.update(
    {
        "OMP_NUM_THREADS": "1",
        "DO_NOT_TRACK": "true",
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "GX_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
        "DVC_NO_ANALYTICS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository root."""
    return ROOT


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The reference material beside the checkout; skips where it is absent."""
    path = ROOT.parent / "shared"
    if not (path / "data").is_dir():
        pytest.skip("reference material ../shared is not on this machine")
    return path


# The `carla` client can take its process with it: one of its own threads reads or frees what another still uses
# (see docs/simulator.md). That is no verdict on a test, so a test whose worker died is run once more, and says so.
_CRASHED: set[str] = set()
_WITH_CLIENT = ("tests/sim/", "tests/collect/", "tests/commenter/", "tests/action/")


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem: str, report: pytest.TestReport, sched: Any) -> None:
    """Run a test that uses the client once more after its worker died; a second death counts."""
    if crashitem in _CRASHED or not crashitem.startswith(_WITH_CLIENT):
        return
    _CRASHED.add(crashitem)
    sched.mark_test_pending(crashitem)
    report.outcome = "rerun"  # type: ignore[assignment]  # the word that xdist documents for this


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name the tests that were run again."""
    for name in sorted(_CRASHED):
        terminalreporter.write_line(f"run again after the client's process died: {name}")
