"""Two processes with ZeRO-2 and ZeRO-3 learn what one process learns; the first alone writes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))  # where toy_world lies

import toy_world

from driveproof.config import load_params
from driveproof.errors import BadInput
from driveproof.files import read_json
from driveproof.mcq.table import write_items
from driveproof.scene import write_scenes
from driveproof.training.launch import plan
from driveproof.training.processes import placement, share
from driveproof.training.worker import Job, work

PROGRAM = Path(__file__).with_name("grpo_program.py")
STEPS = 3
SFT = {
    "tiny": {"hidden": 32, "layers": 2, "heads": 2, "vision_hidden": 16, "vision_layers": 1},
    "batch_size": 8, "optimizer": "adamw", "learning_rate": 0.01, "precision": "fp32", "redraw": False,
    "phases": [{"steps": STEPS, "shares": {"full": 1, "plan": 1}}], "log_every": 1, "threads": 1,
}  # fmt: skip
GRPO = {
    "start": "one", "train_seeds": 1, "steps": 2, "questions": 4, "group": 4, "micro_batch": 8, "max_tokens": 6,
    "precision": "fp32", "learning_rate": 0.003, "optimizer": "adamw", "checkpoint_every": 1,
    "threads": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data of the toy world, and what one process learns from it in ``one``."""
    folder = tmp_path_factory.mktemp("spread")
    made, codebook = toy_world.scenes(folder), toy_world.codebook()
    write_scenes(made, folder / "data" / "scenes")
    write_items(toy_world.items(made, codebook), folder / "data" / "mcq" / "train.parquet")
    codebook.save(folder / "data" / "codebook" / "codebook.npz")
    parameters(folder, 2)
    paths = {name: str(folder / value) for name, value in DATA.items()}
    work(Job(kind="sft", out=str(folder / "one"), report=str(folder / "one.json"), **paths))
    return folder


DATA = {
    "params": "params.yaml", "items": "data/mcq/train.parquet", "scenes": "data/scenes",
    "codebook": "data/codebook/codebook.npz", "scratch": "scratch", "root": ".",
}  # fmt: skip


def parameters(folder: Path, zero: int) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    root = Path(__file__).resolve().parents[3]
    environment = {
        "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONPATH": str(root),
        "TORCH_EXTENSIONS_DIR": str(folder / "extensions"),
    }  # fmt: skip
    launch = {"device": "cpu", "gpus": 2, "zero": zero, "master_port": port, "checkpoint_every": 2}
    content = {"sft": SFT, "grpo": GRPO, "launch": {**launch, "environment": environment}}
    (folder / "params.yaml").write_text(yaml.safe_dump(content))


def launch(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "driveproof", "launch", *arguments]
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def losses(path: Path) -> list[float]:
    return [row["loss"] for row in read_json(path)["curve"]]


@pytest.mark.slow
@pytest.mark.parametrize("zero", [2, 3])
def test_two_processes_learn_what_one_learns(world: Path, zero: int) -> None:
    from safetensors.numpy import load_file

    parameters(world, zero)
    said = launch(world, "sft")
    for step in range(1, STEPS + 1):
        assert said.count(f"step {step} of {STEPS}:") == 1  # the first process alone reports
    assert losses(world / "reports/launch/sft.json") == pytest.approx(
        losses(world / "one.json"), rel=2e-4
    )
    one = load_file(world / "one/model.safetensors")
    two = load_file(world / "models/launch/sft/model.safetensors")
    assert {name: value.shape for name, value in two.items()} == {
        n: v.shape for n, v in one.items()
    }
    for name, value in one.items():
        assert np.allclose(value, two[name], atol=5e-3), name
    assert read_json(world / "models/launch/sft/driveproof.json") == read_json(
        world / "one/driveproof.json"
    )
    assert not list((world / "models/launch/sft").glob("*.bin"))
    assert not (world / "extensions").exists(), "without a GPU nothing is compiled"
    assert not (world / ".cache/launch/scratch/sft").exists()


@pytest.mark.slow
def test_two_processes_reinforce_with_sharded_weights(world: Path) -> None:
    """Sampling differs from one process's, so movement and form are compared and not losses."""
    from safetensors.numpy import load_file

    parameters(world, 3)
    made = plan(load_params(world / "params.yaml"), "grpo", Job(kind="grpo", variant="deft_exact"))
    for name, content in made.files.items():
        (world / name).parent.mkdir(parents=True, exist_ok=True)
        (world / name).write_text(content)
    command = made.commands[-1]
    argv = [*command.argv[: command.argv.index("-m")], str(PROGRAM), str(world), str(world / "two")]
    argv[0] = str(Path(sys.executable).with_name("accelerate"))
    done = subprocess.run(
        argv,
        cwd=world,
        env={**os.environ, **command.environment},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    curves, samples = read_json(world / "two.json")
    assert [row["step"] for row in curves] == [1, 2]
    assert curves[0]["kl"] == pytest.approx(0.0, abs=1e-5)  # the start is the reference
    assert curves[1]["kl"] > 0
    assert all(0 < row["reward"] < 1 and row["grad_norm"] > 0 for row in curves)
    assert len(samples) == 2 * 8  # of sixteen rollouts a step the first process has its own half
    before, after = (
        load_file(world / "one/model.safetensors"),
        load_file(world / "two/model.safetensors"),
    )
    assert {key: value.shape for key, value in after.items()} == {
        key: value.shape for key, value in before.items()
    }
    moved = {key for key in before if not np.array_equal(before[key], after[key])}
    assert moved
    assert not any("visual" in key for key in moved)


@pytest.mark.parametrize(
    ("batch", "accumulation", "processes", "expected"),
    [
        (8, 1, 1, (8, 1)),
        (8, 1, 2, (4, 1)),
        (1, 64, 8, (1, 8)),
        (4, 4, 8, (2, 1)),
        (4, 6, 3, (4, 2)),
    ],
)
def test_a_step_has_as_many_examples_for_any_number_of_processes(
    batch: int, accumulation: int, processes: int, expected: tuple[int, int]
) -> None:
    shared = share(batch, accumulation, processes, "sft.batch_size")
    assert shared == expected
    assert shared[0] * shared[1] * processes == batch * accumulation


@pytest.mark.parametrize(("batch", "accumulation", "processes"), [(1, 1, 2), (3, 1, 2), (2, 3, 4)])
def test_what_cannot_be_shared_is_refused(batch: int, accumulation: int, processes: int) -> None:
    with pytest.raises(BadInput, match="cannot be shared evenly"):
        share(batch, accumulation, processes, "sft.batch_size")


def test_deepspeed_without_a_gpu_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from deepspeed import ops

    monkeypatch.setattr(ops, "__compatible_ops__", {"some": True}, raising=False)
    assert placement(False) == {"use_cpu": True}
    assert placement(True) == {"use_cpu": False}
    monkeypatch.setenv("ACCELERATE_USE_DEEPSPEED", "true")
    assert placement(False) == {"use_cpu": False, "ddp_backend": "gloo"}
    assert not ops.__compatible_ops__
