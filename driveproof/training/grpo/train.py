"""One reinforced run: from a start and a task to a model folder, curves and samples; resumed where it was cut off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driveproof.config.grpo import OptimizationParams
from driveproof.errors import BadInput
from driveproof.files import atomic_dir, read_json, sha256_file, write_json
from driveproof.policy.manner import read_manner
from driveproof.policy.pictures import Pictures
from driveproof.training.checkpoints import claim
from driveproof.training.digest import digest, digest_pictures
from driveproof.training.grpo.rollout import Batch
from driveproof.training.grpo.task import Task
from driveproof.training.processes import check_optimizer, gathered, is_first, wait, world
from driveproof.training.sft import STYLE_FILE, load_kit

CURVES = {
    "loss": "loss",
    "reward": "reward",
    "reward_std": "reward_std",
    "kl": "kl",
    "entropy": "entropy",
    "length": "length",
    "invalid": "invalid",
    "graded": "graded",
    "fallback": "fallback",
    "advantage_clipped": "advantage_clipped",
    "ratio_clipped": "clip_ratio/region_mean",
    "groups_alike": "frac_reward_zero_std",
    "grad_norm": "grad_norm",
    # with vLLM alone: what the trainer's probabilities are of those that sampled
    "sampling_ratio": "sampling/importance_sampling_ratio/mean",
    "sampling_ratio_least": "sampling/importance_sampling_ratio/min",
    "sampling_difference": "sampling/sampling_logp_difference/mean",
}
"""Names of the curves, and what trainers call them."""
TIMES = {
    "step_s": "time/step",
    "rollout_s": "time/rollout",
    "scoring_wait_s": "time/scoring_wait",
    "grading_s": "time/grading",
}
"""Wall-clock of a step: it must not enter any stage's outs."""


@dataclass(frozen=True)
class TrainedRun:
    """What came of a run.

    Attributes
    ----------
    curves
        One row a step: ``step`` and the keys of :data:`CURVES`.
    samples
        Rows of rollouts: step, advantage, reward, and what the task says of them.
    times
        One row a step: ``step`` and the keys of :data:`TIMES`; wall-clock.
    """

    curves: list[dict[str, Any]]
    samples: list[dict[str, Any]]
    times: list[dict[str, Any]]


def train_grpo(
    start: str | Path,
    task: Task,
    params: OptimizationParams,
    seed: int,
    out_dir: str | Path,
    *,
    scratch: str | Path,
    root: str | Path = ".",
    max_pixels: int = 0,
    watch: Any = lambda step, figures: None,
) -> TrainedRun:
    """Reinforce ``start`` on ``task`` and write the model folder ``out_dir``.

    Parameters
    ----------
    scratch
        Folder of checkpoints. A run that finds its own there goes on from the latest whole one and ends with the same
        bytes as an unbroken run; one that finds another's begins anew. The caller removes it.
    root
        Directory that relative paths of pictures start from.
    max_pixels
        Most pixels of a picture; see :func:`driveproof.training.sft.load_kit`.
    watch
        Called after each step with its number and figures.

    Raises
    ------
    BadInput
        If there is no start, a picture is missing, or the loss stops being finite.
    """
    import torch

    start, scratch = Path(start), Path(scratch)
    check_start(start)
    _check_style(start, task)
    if params.threads:
        torch.set_num_threads(params.threads)
    check_optimizer(params.optimizer, f"{params.section}.optimizer")
    pictures = Pictures(root)
    latest = claim(scratch, run_identity(start, task, params, seed, pictures, max_pixels))
    ledger = _Ledger(scratch / "steps", task, params.samples)
    trainer = _trainer(start, task, params, seed, scratch, pictures, max_pixels, watch, ledger)
    trainer.train(resume_from_checkpoint=str(latest) if latest else None)
    with gathered(trainer):
        if is_first():
            with atomic_dir(out_dir) as folder:
                _save(trainer, folder)
                write_json(folder / STYLE_FILE, {**_manner(start), **task.identity(), "seed": seed})
    wait(trainer)
    history = trainer.state.log_history
    samples = ledger.rows(params.steps) if is_first() else []
    return TrainedRun(_rows(history, CURVES), samples, _rows(history, TIMES))


def check_start(start: Path) -> None:
    """Whether there is a model to start from: one of ours, or one that was trained with no particular prompts.

    Raises
    ------
    BadInput
        If there is none.
    """
    if not (start / "config.json").is_file() or not list(start.glob("*.safetensors")):
        raise BadInput("no trained model to start from", path=start, hint="run the stage sft first")


def run_identity(
    start: Path,
    task: Task,
    params: OptimizationParams,
    seed: int,
    pictures: Pictures,
    max_pixels: int = 0,
) -> str:
    """What a checkpoint must agree with to be gone on from: start, task with its data, settings, seed."""
    weights = {path.name: sha256_file(path) for path in sorted(start.glob("*.safetensors"))}
    settings = params.model_dump(mode="json", exclude={"workers", "checkpoint_every"})
    schedule = task.schedule(params.steps * params.questions, seed)
    openings = (task.interaction.opening(task.question(n)) for n in sorted(set(schedule)))
    shown = digest_pictures((image for o in openings for image in o.images), pictures)
    return digest(
        *(weights, settings, seed, max_pixels, schedule),
        *(task.identity(), task.fingerprint(schedule), shown),
    )


class _Ledger:
    """Samples of rollouts, a file a step, so that those before a cut are not lost."""

    def __init__(self, folder: Path, task: Task, most: int) -> None:
        self._folder, self._task, self._most = folder, task, most

    def keep(self, step: int, batch: Batch, advantages: list[float]) -> None:
        """Write the first ``most`` rollouts of a step; of several processes, the first one's."""
        if not is_first():
            return
        kept = [
            {
                "step": step,
                "reward": scored.reward,
                "advantage": advantage,
                "graded": scored.graded,
                "fallback": scored.fallback,
                "tokens": length,
                **self._task.sample(number, finished),
            }
            for number, finished, scored, length, advantage in zip(
                batch.numbers, batch.finished, batch.scored, batch.lengths, advantages, strict=True
            )
        ]
        write_json(self._path(step), kept[: self._most])

    def rows(self, steps: int) -> list[dict[str, Any]]:
        """The samples of all steps."""
        files = [self._path(step) for step in range(1, steps + 1)]
        return [row for file in files for row in read_json(file)]

    def _path(self, step: int) -> Path:
        return self._folder / f"{step:06d}.json"


def _check_style(start: Path, task: Task) -> None:
    """The policy must be asked in the words that it was trained with."""
    trained, asked = _manner(start), task.identity()
    if trained and "prompt_hash" in asked and trained.get("prompt_hash") != asked["prompt_hash"]:
        raise BadInput(
            "was trained with other prompts than it would be asked with",
            path=start,
            hint="run the stage sft again",
        )


def _manner(start: Path) -> dict[str, Any]:
    """How the start must be asked; a base model can be asked in any way."""
    return read_manner(start)


def _trainer(
    start: Path,
    task: Task,
    params: OptimizationParams,
    seed: int,
    scratch: Path,
    pictures: Pictures,
    max_pixels: int,
    watch: Any,
    ledger: _Ledger,
) -> Any:
    import os

    import torch

    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    from datasets import Dataset

    from driveproof.training.grpo.settings import (
        check_targets,
        grpo_config,
        is_vision,
        lora_config,
    )
    from driveproof.training.grpo.sharing import share_pictures
    from driveproof.training.grpo.trainer import GrpoTrainer

    torch.use_deterministic_algorithms(True, warn_only=torch.cuda.is_available())
    # a check for bugs that costs a third of a step
    setattr(torch.utils.deterministic, "fill_uninitialized_memory", False)  # noqa: B010
    model, processor = load_kit(start, max_pixels)
    check_targets(model, params)
    processor.tokenizer.padding_side = "left"
    if not torch.cuda.is_available():
        # At these lengths plain attention is faster on a CPU than the fused kernel.
        model.set_attn_implementation("eager")
    if params.freeze_vision:
        for name, parameter in model.named_parameters():
            if is_vision(name):
                parameter.requires_grad_(False)
    schedule = task.schedule(params.steps * params.questions, seed)
    rows = Dataset.from_dict({"prompt": [""] * len(schedule), "number": schedule})
    trainer = GrpoTrainer(
        task,
        params,
        pictures,
        seed,
        watch,
        ledger.keep,
        model=model,
        args=grpo_config(params, seed, scratch, task.interaction.budget, world()),
        train_dataset=rows,
        processing_class=processor,
        peft_config=lora_config(params.lora),
    )
    for used in (trainer.model, trainer.ref_model):
        share_pictures(used)
    return trainer


def _save(trainer: Any, folder: Path) -> None:
    core = trainer.accelerator.unwrap_model(trainer.model)
    if hasattr(core, "merge_and_unload"):
        core = core.merge_and_unload()
    core.set_attn_implementation("sdpa")  # what the folder says is for whoever loads it
    core.save_pretrained(folder)
    trainer.processing_class.save_pretrained(folder)


def _rows(history: list[Mapping[str, Any]], names: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "step": entry["step"],
            **{name: entry[key] for name, key in names.items() if entry.get(key) is not None},
        }
        for entry in history
        if "reward" in entry
    ]
