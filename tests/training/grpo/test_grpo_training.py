"""Whole runs: they learn, they repeat, they survive a kill, and they say what is wrong."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from grpo_arena import STYLE, Arena, Paid, settings, task, vowels

from driveproof.errors import BadInput
from driveproof.files import read_json, sha256_file
from driveproof.prompts import FULL
from driveproof.rewards import exact_reward
from driveproof.training.grpo import McqTask, TwoTurn

PROGRAM = Path(__file__).with_name("grpo_arena.py")


def train(
    arena: Arena, tmp_path: Path, name: str, practice: Any, params: Any, seed: int = 0
) -> Any:
    from driveproof.training.grpo.train import train_grpo

    return train_grpo(
        arena.start, practice, params, seed, tmp_path / name, scratch=tmp_path / f"{name}.scratch",
        root=arena.folder,
    )  # fmt: skip


@pytest.mark.slow
def test_a_run_writes_a_model_curves_and_samples_and_repeats(arena: Arena, tmp_path: Path) -> None:
    def run(name: str, seed: int = 0) -> Any:
        return train(arena, tmp_path, name, task(arena, Paid(vowels)), settings(kl=0.1), seed)

    first, again = run("a"), run("b")
    run("c", 1)
    assert [row["step"] for row in first.curves] == [1, 2]
    assert first.curves[0]["kl"] == pytest.approx(0.0, abs=1e-6)  # the start is the reference
    assert first.curves[1]["kl"] > 0
    assert {"reward", "entropy", "length", "invalid", "fallback", "ratio_clipped"} <= set(
        first.curves[0]
    )
    assert first.curves[0]["ratio_clipped"] == 0.0  # one update a batch
    assert len(first.samples) == 2 * 8
    assert {"turn1", "turn2", "reward", "advantage", "record_key", "step"} <= set(first.samples[0])
    assert not any(name in row for row in first.curves for name in ("step_s", "rollout_s"))
    assert all(row["step_s"] > 0 for row in first.times)
    assert first.curves == again.curves
    assert first.samples == again.samples
    weights = [sha256_file(tmp_path / name / "model.safetensors") for name in "abc"]
    assert weights[0] == weights[1] != weights[2]
    assert weights[0] != sha256_file(arena.start / "model.safetensors")
    written = read_json(tmp_path / "a" / "driveproof.json")
    assert written["prompt_hash"] == read_json(arena.start / "driveproof.json")["prompt_hash"]
    assert written["interaction"] == "TwoTurn"
    assert not list((tmp_path / "a").glob("*.bin"))


@pytest.mark.slow
def test_what_is_paid_for_is_done_more_often(arena: Arena, tmp_path: Path) -> None:
    params = settings(steps=8, group=8, micro_batch=16, learning_rate=1e-2, kl=0.0)
    run = train(arena, tmp_path, "m", task(arena, Paid(vowels)), params)
    rewards = [row["reward"] for row in run.curves]
    assert np.mean(rewards[-2:]) > np.mean(rewards[:2]) + 0.05


@pytest.mark.slow
def test_a_killed_run_goes_on_as_if_nothing_had_happened(arena: Arena, tmp_path: Path) -> None:
    def start(name: str) -> subprocess.Popen[str]:
        command = [
            sys.executable,
            str(PROGRAM),
            *map(str, (arena.folder, tmp_path / f"{name}.s", tmp_path / name)),
        ]
        environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)

    killed = start("killed")
    assert killed.stdout is not None
    for line in killed.stdout:
        if line.startswith("step 5"):  # the checkpoint of step 4 is whole, step 6 is under way
            killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    assert not (tmp_path / "killed").exists()
    resumed, whole = start("killed"), start("whole")
    outputs = [process.communicate(timeout=300)[0].splitlines() for process in (resumed, whole)]
    assert [line for line in outputs[0] if line.startswith("step")] == ["step 5", "step 6"]
    assert [line for line in outputs[1] if line.startswith("step")] == [
        f"step {n}" for n in range(1, 7)
    ]
    curves, samples = json.loads(outputs[0][-1])
    assert [row["step"] for row in curves] == [1, 2, 3, 4, 5, 6]
    assert [curves, samples] == json.loads(outputs[1][-1])
    weights = [sha256_file(tmp_path / name / "model.safetensors") for name in ("killed", "whole")]
    assert weights[0] == weights[1]


@pytest.mark.slow
def test_a_checkpoint_of_another_run_is_not_gone_on_from(arena: Arena, tmp_path: Path) -> None:
    practice = task(arena, Paid(vowels))
    train(arena, tmp_path, "m", practice, settings(steps=1, checkpoint_every=1))
    scratch = tmp_path / "m.scratch"
    assert (scratch / "checkpoint-1" / "complete.json").is_file()
    assert not [p for p in scratch.rglob("*") if p.suffix in (".pt", ".pth", ".bin", ".pkl")]
    changed = train(arena, tmp_path, "m", practice, settings(steps=1, learning_rate=1e-2))
    fresh = train(arena, tmp_path, "f", practice, settings(steps=1, learning_rate=1e-2))
    assert changed.curves == fresh.curves


def test_a_checkpoint_of_other_data_is_not_gone_on_from(arena: Arena, tmp_path: Path) -> None:
    from driveproof.policy.pictures import Pictures
    from driveproof.training.checkpoints import claim
    from driveproof.training.grpo.train import run_identity

    def identity(root: Path = arena.folder, **changes: Any) -> str:
        values = {"items": arena.items, "known": {}, **changes}
        practice = McqTask(
            values["items"], TwoTurn(STYLE, 6), exact_reward, STYLE, known=values["known"]
        )
        return run_identity(arena.start, practice, settings(steps=8), 0, Pictures(root))

    own = identity()
    assert own == identity()
    options = [replace(item, options=item.options + 0.1) for item in arena.items]
    judged = {item.record_key: {"signal": "red"} for item in arena.items}
    other = tmp_path / "pictures"
    shutil.copytree(arena.folder, other)
    for path in other.glob("front-*.png"):
        path.write_bytes(path.read_bytes() + b"other")
    changed = [identity(items=options), identity(known=judged), identity(other)]
    assert len({own, *changed}) == 4
    scratch = tmp_path / "scratch"
    assert claim(scratch, own) is None
    (scratch / "checkpoint-3").mkdir()
    (scratch / "checkpoint-3" / "complete.json").write_text("{}")
    assert claim(scratch, own) == scratch / "checkpoint-3"
    assert claim(scratch, changed[0]) is None
    assert not (scratch / "checkpoint-3").exists()


def test_a_start_is_needed_that_was_asked_in_the_same_words(arena: Arena, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no trained model to start from"):
        train(replace(arena, start=tmp_path / "none"), tmp_path, "m", task(arena), settings())
    other = McqTask(arena.items, TwoTurn(FULL, 6), exact_reward, FULL)
    with pytest.raises(BadInput, match="other prompts"):
        train(arena, tmp_path, "m", other, settings())


def test_a_missing_picture_is_named(arena: Arena, tmp_path: Path) -> None:
    lost = replace(arena, folder=tmp_path)
    with pytest.raises(BadInput, match=r"front-\d\.png"):
        train(lost, tmp_path, "m", task(lost), settings())
    assert not (tmp_path / "m").exists()


@pytest.mark.slow
def test_a_loss_that_is_no_number_ends_the_run(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from driveproof.training.grpo.trainer import GrpoTrainer

    genuine: Any = GrpoTrainer._compute_loss
    monkeypatch.setattr(
        GrpoTrainer, "_compute_loss", lambda *a, **k: genuine(*a, **k) * float("nan")
    )
    with pytest.raises(BadInput, match="not finite at step 1"):
        train(arena, tmp_path, "m", task(arena, Paid(vowels)), settings())
    assert not (tmp_path / "m").exists()


@pytest.mark.slow
def test_failed_graders_are_counted_in_the_curves(arena: Arena, tmp_path: Path) -> None:
    from driveproof.rewards import Known, Scored

    class Broken(Paid):
        def start(self, rollouts: Any) -> Known:
            return Known(
                [Scored(float(n % 2), fallback=n % 4 == 0) for n, _ in enumerate(rollouts)]
            )

    run = train(
        arena, tmp_path, "m", task(arena, Broken(vowels)), settings(steps=1, rollout_chunks=1)
    )
    assert run.curves[0]["fallback"] == 0.25
    assert run.curves[0]["reward"] == 0.5


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 4])
def test_a_run_encodes_every_picture_of_a_pass_once(
    rank: int, arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With adapters, too, which the default build has."""
    from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLVisionModel

    genuine: Any = Qwen3VLVisionModel.forward
    seen: list[int] = []

    def counted(self: Any, hidden: Any, grid_thw: Any, **named: Any) -> Any:
        seen.append(len(grid_thw))
        return genuine(self, hidden, grid_thw=grid_thw, **named)

    monkeypatch.setattr(Qwen3VLVisionModel, "forward", counted)
    params = settings(steps=1, questions=2, group=4, micro_batch=8, kl=0.1, lora={"rank": rank})
    train(arena, tmp_path, "m", task(arena, Paid(vowels)), params)
    shown = len(task(arena).interaction.opening(arena.items[0]).images)
    assert seen
    assert max(seen) <= 2 * shown  # of eight rollouts in each pass


@pytest.mark.slow
def test_adapters_train_and_are_merged(arena: Arena, tmp_path: Path) -> None:
    params = settings(steps=1, lora={"rank": 4}, learning_rate=5e-2)
    train(arena, tmp_path, "m", task(arena, Paid(vowels)), params)
    changed = tmp_path / "m" / "model.safetensors"
    assert changed.is_file()
    assert sha256_file(changed) != sha256_file(arena.start / "model.safetensors")


def figures(**changes: Any) -> Mapping[str, Any]:
    from driveproof.training.grpo.settings import grpo_config

    made = grpo_config(settings(**changes), 3, "nowhere", 12)
    return {name: getattr(made, name) for name in dir(made) if not name.startswith("_")}


def test_the_settings_are_those_of_the_paper() -> None:
    made = figures(kl=0.02, learning_rate=1e-6, questions=4, micro_batch=4)
    expected = {
        "loss_type": "dapo",
        "num_iterations": 1,
        "gradient_accumulation_steps": 4,
        "generation_batch_size": 16,
        "beta": 0.02,
        "use_bias_correction_kl": False,
        "scale_rewards": "group",
        "entropy_coef": 0.0,
        "lr_scheduler_type": "constant",
        "warmup_steps": 0,
        "learning_rate": 1e-6,
        "max_completion_length": 12,
        "use_vllm": False,
        "seed": 3,
    }
    assert {name: made[name] for name in expected} == expected


def test_rollouts_that_cannot_be_shared_out_are_refused() -> None:
    from driveproof.training.grpo.settings import grpo_config

    with pytest.raises(BadInput, match="cannot be shared by 3 processes"):
        grpo_config(settings(), 0, "nowhere", 12, processes=3)
    with pytest.raises(ValueError, match="micro_batch must divide"):
        settings(micro_batch=3)
    assert (
        grpo_config(
            settings(micro_batch=4), 0, "nowhere", 12, processes=2
        ).gradient_accumulation_steps
        == 1
    )


@pytest.mark.parametrize("cut", ["file", "header"])
def test_a_truncated_start_is_said(arena: Arena, tmp_path: Path, cut: str) -> None:
    start = tmp_path / "start"
    shutil.copytree(arena.start, start)
    weights = start / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2] if cut == "file" else whole[:5])
    with pytest.raises(BadInput, match="no model can be loaded"):
        train(replace(arena, start=start), tmp_path, "m", task(arena), settings())


def test_a_processor_that_is_no_object_is_said(arena: Arena, tmp_path: Path) -> None:
    start = tmp_path / "start"
    shutil.copytree(arena.start, start)
    (start / "processor_config.json").write_text("[1]")
    with pytest.raises(BadInput, match="no processor can be loaded"):
        train(replace(arena, start=start), tmp_path, "m", task(arena), settings())


def test_a_manner_that_is_no_object_is_said(arena: Arena, tmp_path: Path) -> None:
    start = tmp_path / "start"
    shutil.copytree(arena.start, start)
    (start / "driveproof.json").write_text("[1]")
    with pytest.raises(BadInput, match="expected a JSON object"):
        train(replace(arena, start=start), tmp_path, "m", task(arena), settings())


def test_targets_of_adapters_that_the_model_lacks_are_named(arena: Arena, tmp_path: Path) -> None:
    params = settings(lora={"rank": 2, "targets": ["nope"]})
    with pytest.raises(BadInput, match=r"grpo.lora.targets: the model has no matrices called nope"):
        train(arena, tmp_path, "m", task(arena), params)
