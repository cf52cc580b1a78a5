"""Fixtures shared by all rooms."""

from __future__ import annotations

import os
from collections.abc import Callable
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
        # what is derived from a town once serves all, wherever they run
        "DRIVEPROOF_CACHE": str(ROOT / ".cache"),
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


@pytest.fixture(scope="session")
def make_item() -> Callable[..., Any]:
    """Builds a question whose oracle is the logged future and whose other options end elsewhere."""
    import numpy as np

    from driveproof.mcq import McqItem
    from driveproof.scene import ImageRef
    from driveproof.testing import make_scene

    def make(
        number: int = 0,
        *,
        scene: str = "drive",
        oracle: int = 0,
        options: int = 6,
        variant: str = "",
        drive_class: str = "hard_brake",
        **motion: float,
    ) -> Any:
        made = make_scene(**motion)
        kinds = ["random"] * options
        kinds[oracle] = "oracle"
        offset = np.array([((k - oracle) * 3.0, 0.0) for k in range(options)])
        scale = np.linspace(0.1, 1.0, 10)[:, None]
        observation = made.observe()
        object.__setattr__(observation, "record_key", f"{scene}/{number}")
        pictures = tuple(ImageRef(f"{scene}-{number}-{frame}.jpg") for frame in range(4))
        object.__setattr__(observation, "images", {"front": pictures})
        return McqItem(
            record_key=f"{scene}/{number}",
            scene_key=scene,
            split="test",
            source="made",
            situation="",
            drive_class=drive_class,
            observation=observation,
            waypoints=made.waypoints,
            options=made.waypoints + scale * offset[:, None, :],
            option_codes=np.arange(options),
            option_kinds=tuple(kinds),
            similarities=np.ones(options),
            oracle_index=oracle,
            variant=variant,
        )

    return make


# The `carla` client can take its process with it: one of its own threads reads or frees what another still uses
# (see docs/simulator.md). That is no verdict on a test, so a test whose worker died is run once more, and says so.
_CRASHED: set[str] = set()
_WITH_CLIENT = ("tests/sim/", "tests/collect/", "tests/commenter/", "tests/action/", "tests/drive/")


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
