"""Supervised training of a VLM on the teacher's conversations.

The loop is transformers' ``Trainer`` (hence accelerate and DeepSpeed for many GPUs) with a collator of our own in
place of TRL's ``SFTTrainer``: that one opens, resizes and tokenises every picture and conversation anew in each
batch and computes scores over the vocabulary at every position, which costs several times the training of a
model of two million parameters. Here pictures are encoded once and scores computed where they are supervised.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import Dataset, SequentialSampler
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from driveproof.config.sft import TuningParams
from driveproof.errors import BadInput
from driveproof.files import atomic_dir, sha256_file, write_json
from driveproof.policy import local
from driveproof.policy.families import family_of, fit
from driveproof.policy.pictures import Pictures
from driveproof.policy.tiny import build_tiny_vlm, load_processor
from driveproof.training.checkpoints import SafeCheckpoints, claim
from driveproof.training.digest import digest, digest_pictures
from driveproof.training.encoding import IGNORED, Encoder
from driveproof.training.lessons import Lessons
from driveproof.training.optimizer import make_optimizer
from driveproof.training.processes import (
    check_optimizer,
    is_first,
    placement,
    share,
    wait,
    whole_state,
    world,
)

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Progress = Callable[[int, int, float], None]
"""Called with the step, the number of steps, and the loss."""
STYLE_FILE = "driveproof.json"
"""In a model folder: the prompt style it was trained with."""


@dataclass(frozen=True)
class Running:
    """How a training is run.

    Attributes
    ----------
    scratch
        Folder of checkpoints, None: there are none. A run that was cut off and finds its own there goes on from the latest
        whole one. Whoever starts the run removes it when everything that comes of it is written.
    checkpoint_every
        Steps between two.
    longest
        Answers are cut off where an example gets longer than so many tokens; 0: never.
    preload
        Encode every picture before the first step and keep it.
    """

    scratch: Path | None = None
    checkpoint_every: int = 100
    longest: int = 0
    preload: bool = True


def train(
    teacher: Lessons,
    params: TuningParams,
    seed: int,
    out_dir: str | Path,
    root: str | Path = ".",
    progress: Progress = lambda step, steps, loss: None,
    running: Running = Running(),
) -> dict[str, Any]:
    """Train a model and write its folder; return the settings and the loss curve.

    In several processes, as accelerate starts them, every one calls this with the same arguments; a step sees the same
    examples however many there are, and the first alone writes.

    Parameters
    ----------
    teacher
        What is taught, in which order.
    out_dir
        Model folder that appears whole or not at all.
    root
        Directory that relative paths of pictures start from.
    running
        Checkpoints and limits.

    Raises
    ------
    BadInput
        If the base model cannot be loaded, a picture is missing, the examples of a step cannot be shared by the processes,
        or the loss stops being finite.
    """
    if params.threads:
        torch.set_num_threads(params.threads)
    torch.use_deterministic_algorithms(True, warn_only=torch.cuda.is_available())
    check_optimizer(params.optimizer, f"{params.section}.optimizer")
    with TemporaryDirectory() as scratch:
        base = Path(params.base)
        if params.base == "tiny":
            base = Path(scratch) / "tiny"
            _build(teacher, params, seed, base)
        model, processor = load_kit(base, params.max_pixels)
        parameters = sum(p.numel() for p in model.parameters())
        _prepare(model, params)
        reduced = _use_bf16(params)
        precision = torch.bfloat16 if reduced else torch.float32
        pictures = Pictures(root)
        encoder = Encoder(processor, pictures, precision, keep=running.preload)
        if running.preload:
            encoder.preload(teacher.images())
        folder, latest = Path(scratch) / "trainer", None
        if running.scratch is not None:
            folder = running.scratch
            latest = claim(folder, _identity(teacher, params, seed, base, running, pictures))
        trainer = _SftTrainer(
            params,
            model=model,
            args=_arguments(params, teacher.steps, seed, folder, reduced, running),
            train_dataset=_Examples(teacher, encoder, params, running.longest),
            data_collator=encoder.collate,
            callbacks=[_Report(progress, params.section)],
        )
        trainer.train(resume_from_checkpoint=str(latest) if latest else None)
        state = whole_state(trainer)
        if is_first():
            with atomic_dir(out_dir) as made:
                _save(trainer, processor, made, state)
                write_json(made / STYLE_FILE, {**teacher.identity(), "seed": seed})
        wait(trainer)
    return {
        "parameters": parameters,
        "seed": seed,
        "precision": "bf16" if reduced else "fp32",
        "settings": params.model_dump(mode="json"),
        "curve": [
            {"step": entry["step"], "loss": round(entry["loss"], 4)}
            for entry in trainer.state.log_history
            if "loss" in entry
        ],
    }


def _identity(
    teacher: Lessons,
    params: TuningParams,
    seed: int,
    base: Path,
    running: Running,
    pictures: Pictures,
) -> str:
    """What a checkpoint must agree with to be gone on from: start, settings, seed, every example and picture."""
    weights = {path.name: sha256_file(path) for path in sorted(base.glob("*.safetensors"))}
    each = params.batch_size * params.accumulation
    taught = hashlib.sha256()
    for index in range(teacher.steps * each):
        taught.update(digest(teacher.lesson(index, index // each)).encode())
    shown = [taught.hexdigest(), digest_pictures(teacher.images(), pictures), running.longest]
    settings = params.model_dump(mode="json", exclude={"base", "workers"})
    text = json.dumps([weights, teacher.identity(), settings, seed, shown], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def load_model(path: str | Path) -> PreTrainedModel:
    """A VLM from a local folder, fp32 weights, safetensors only; see :func:`driveproof.policy.local.load_model`."""
    model: PreTrainedModel = local.load_model(Path(path), torch.float32)
    return model


def load_kit(path: str | Path, max_pixels: int = 0) -> tuple[PreTrainedModel, Any]:
    """Model and processor of a local folder within the bounds of their family, as ``transformers:`` asks it.

    Parameters
    ----------
    max_pixels
        Most pixels of a picture, 0: as folder and family say.

    Raises
    ------
    BadInput
        If the folder is no such model.
    """
    family = family_of(path)
    model, processor = load_model(path), load_processor(path, max_pixels)
    fit(family, processor, model)
    return model, processor


def _build(teacher: Lessons, params: TuningParams, seed: int, out: Path) -> None:
    tiny = params.tiny
    build_tiny_vlm(
        out,
        teacher.corpus(),
        hidden=tiny.hidden,
        layers=tiny.layers,
        heads=tiny.heads,
        vision_hidden=tiny.vision_hidden,
        vision_layers=tiny.vision_layers,
        seed=seed,
        family=tiny.family,
        phrases=teacher.phrases,
    )


def _prepare(model: Any, params: TuningParams) -> None:
    if params.base == "tiny":
        # At these lengths plain attention is faster on a CPU than the fused kernel, by half a step.
        model.set_attn_implementation("eager")
    if params.freeze_vision:
        for name, parameter in model.named_parameters():
            if "visual" in name or "vision_tower" in name:
                parameter.requires_grad_(False)
    if params.gradient_checkpointing:
        model.gradient_checkpointing_enable()


def _use_bf16(params: TuningParams) -> bool:
    if params.precision != "auto":
        return params.precision == "bf16"
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    return bool(torch.cpu._is_avx512_bf16_supported())


def _arguments(
    params: TuningParams, steps: int, seed: int, scratch: Path, reduced: bool, running: Running
) -> TrainingArguments:
    batch, passes = share(
        params.batch_size, params.accumulation, world(), f"{params.section}.batch_size"
    )
    saved: dict[str, Any] = {"save_strategy": "no"}
    if running.scratch is not None:
        # two are kept: one is whole while the other is written
        saved = {"save_strategy": "steps", "save_steps": running.checkpoint_every, "save_total_limit": 2}  # fmt: skip
    return TrainingArguments(
        output_dir=str(scratch),
        max_steps=steps,
        per_device_train_batch_size=batch,
        gradient_accumulation_steps=passes,
        learning_rate=params.learning_rate,
        lr_scheduler_type=params.schedule,
        warmup_steps=round(params.warmup * steps),
        max_grad_norm=params.max_grad_norm,
        bf16=reduced,
        seed=seed,
        logging_steps=params.log_every,
        report_to="none",
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        dataloader_num_workers=0,
        disable_tqdm=True,
        **placement(torch.cuda.is_available()),
        **saved,
    )


class _Examples(Dataset[dict[str, Any]]):
    """The examples of all steps in order."""

    def __init__(
        self, teacher: Lessons, encoder: Encoder, params: TuningParams, longest: int
    ) -> None:
        self._teacher, self._encoder, self._longest = teacher, encoder, longest
        self._per_step = params.batch_size * params.accumulation

    def __len__(self) -> int:
        return self._teacher.steps * self._per_step

    def __getitem__(self, index: int) -> dict[str, Any]:
        lesson = self._teacher.lesson(index, index // self._per_step)
        return self._encoder.encode(lesson, self._longest)


class _SftTrainer(SafeCheckpoints, Trainer):
    """Trainer with our optimiser, the given order of examples, and scores only where they are supervised."""

    def __init__(self, params: TuningParams, **arguments: Any) -> None:
        parent: Any = super()
        parent.__init__(**arguments)
        self._params = params
        self.remove_callback(PrinterCallback)
        self._spread = self.args.world_size > 1
        # the trainer counts the supervised tokens of a step, over all passes and processes
        self.model_accepts_loss_kwargs = self._spread or self.args.gradient_accumulation_steps > 1
        if self._spread:
            # Whatever wraps the model (ZeRO, DDP) has to see the pass, so the loss becomes the model's own.
            trained: Any = self.model
            trained.forward = _LossOf(trained)

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        examples: Any = self.train_dataset
        return SequentialSampler(examples)

    def create_optimizer(self, model: Any = None) -> torch.optim.Optimizer:
        """Muon with AdamW, or AdamW."""
        trained: Any = self.model
        self.optimizer = make_optimizer(trained, self._params)
        return self.optimizer

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """Mean cross entropy of the supervised tokens of a step, whoever computes which of them."""
        if self._spread:
            # gradients are averaged over the processes, which makes the mean of a sum too small by their number
            summed = model(**inputs)
            return summed * self.args.world_size / num_items_in_batch
        core = self.accelerator.unwrap_model(model)
        labels = inputs.pop("labels")
        if self.args.gradient_accumulation_steps > 1:
            return supervised_loss(core, inputs, labels, "sum") / num_items_in_batch
        return supervised_loss(core, inputs, labels, "mean")


class _LossOf:
    """A model's forward pass that ends in the summed loss."""

    def __init__(self, core: Any) -> None:
        self._core = core

    def __call__(self, **inputs: Any) -> torch.Tensor:
        labels = inputs.pop("labels")
        return supervised_loss(self._core, inputs, labels, "sum")


def supervised_loss(
    core: Any, inputs: dict[str, Any], labels: torch.Tensor, reduction: str
) -> torch.Tensor:
    """Cross entropy of the supervised tokens; scores over the vocabulary are computed for them alone."""
    labels = labels[:, 1:]
    positions = labels != IGNORED
    hidden = core.base_model(**inputs, use_cache=False)[0][:, :-1]
    scores = core.get_output_embeddings()(hidden[positions]).float()
    return torch.nn.functional.cross_entropy(scores, labels[positions], reduction=reduction)


class _Report(TrainerCallback):
    def __init__(self, progress: Progress, section: str) -> None:
        self._progress, self._section = progress, section

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Pass the loss on; stop where it is no number."""
        if not logs or "loss" not in logs:
            return
        loss = float(logs["loss"])
        if not torch.isfinite(torch.tensor(loss)):
            raise BadInput(
                f"the loss is not finite at step {state.global_step}",
                hint=f"lower {self._section}.learning_rate or {self._section}.matrix_learning_rate",
            )
        self._progress(state.global_step, state.max_steps, loss)


def _save(trainer: Trainer, processor: Any, folder: Path, state: Any) -> None:
    core = trainer.accelerator.unwrap_model(trainer.model)
    core.set_attn_implementation("sdpa")  # what the folder says is for whoever loads it
    core.save_pretrained(folder, **({} if state is None else {"state_dict": state}))
    processor.save_pretrained(folder)
