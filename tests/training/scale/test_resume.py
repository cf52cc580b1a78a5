"""Supervised training that is killed goes on where it was, and writes no pickle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # where sft_program lies

from sft_program import STEPS

from driveproof.files import sha256_file

PROGRAM = Path(__file__).with_name("sft_program.py")


def start(folder: Path, name: str) -> subprocess.Popen[str]:
    root = Path(__file__).resolve().parents[3]
    command = [
        sys.executable,
        str(PROGRAM),
        *map(str, (folder, folder / f"{name}.s", folder / name)),
    ]
    return subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, float]]]:
    """The folder of an unbroken run, and its curve."""
    folder = tmp_path_factory.mktemp("resume")
    said = start(folder, "whole").communicate(timeout=900)[0]
    return folder, json.loads(said.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("last", [1, 4, 7])
def test_a_killed_run_goes_on_as_if_nothing_had_happened(
    whole: tuple[Path, list[dict[str, float]]], last: int
) -> None:
    """Killed before the first checkpoint, at one, and between two: same curve, same bytes."""
    folder, curve = whole
    assert [row["step"] for row in curve] == list(range(1, STEPS + 1))
    name = f"cut{last}"
    cut = start(folder, name)
    assert cut.stdout is not None
    for line in cut.stdout:
        if line == f"step {last}\n":
            cut.send_signal(signal.SIGKILL)
            break
    cut.wait()
    assert not (folder / name).exists()
    kept = [path for path in (folder / f"{name}.s").rglob("*") if path.is_file()]
    assert not [path for path in kept if path.suffix in (".pt", ".pth", ".bin", ".pkl")]
    said = start(folder, name).communicate(timeout=900)[0].splitlines()
    assert json.loads(said[-1]) == curve
    # it did not begin anew, unless there was nothing to go on from
    assert ("step 1" in said) == (last < 3)
    model = "model.safetensors"
    assert sha256_file(folder / name / model) == sha256_file(folder / "whole" / model)
    assert not (folder / f"{name}.s").exists()
