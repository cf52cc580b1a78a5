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


def steps_of(lines: list[str]) -> list[str]:
    """What was said about steps; libraries say other things, too."""
    return [line.strip() for line in lines if line.startswith("step ")]


def cut_after(step: int, folder: Path, name: str) -> list[str]:
    """Start a run, kill it when it has done ``step``, and return what it said."""
    cut = start(folder, name)
    assert cut.stdout is not None
    said: list[str] = []
    for line in cut.stdout:
        said += steps_of([line])
        if said[-1:] == [f"step {step}"]:
            cut.send_signal(signal.SIGKILL)
            break
    assert cut.wait() == -signal.SIGKILL
    assert not (folder / name).exists()
    kept = [path for path in (folder / f"{name}.s").rglob("*") if path.is_file()]
    assert not [path for path in kept if path.suffix in (".pt", ".pth", ".bin", ".pkl")]
    return said


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_ends_as_if_nothing_had_happened(
    tmp_path: Path,
) -> None:
    """Killed before the first checkpoint, at one, and between two: same curve, same bytes."""
    whole = start(tmp_path, "whole")
    # it begins anew only while there is nothing to go on from; checkpoints are written after every second step
    assert cut_after(1, tmp_path, "cut")[0] == "step 1"
    assert cut_after(4, tmp_path, "cut")[0] == "step 1"
    assert cut_after(7, tmp_path, "cut")[0] in ("step 3", "step 5")
    said = start(tmp_path, "cut").communicate(timeout=900)[0].splitlines()
    assert steps_of(said)[0] in ("step 5", "step 7")
    curve = json.loads(whole.communicate(timeout=900)[0].splitlines()[-1])
    assert [row["step"] for row in curve] == list(range(1, STEPS + 1))
    assert json.loads(said[-1]) == curve
    model = "model.safetensors"
    assert sha256_file(tmp_path / "cut" / model) == sha256_file(tmp_path / "whole" / model)
    assert not (tmp_path / "cut.s").exists()
