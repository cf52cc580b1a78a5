"""Supervised training of a VLM on the teacher's conversations.

The loop is transformers' ``Trainer`` (hence accelerate and DeepSpeed for many GPUs) with a collator of our own in
place of TRL's ``SFTTrainer``: that one opens, resizes and tokenises every picture and conversation anew in each
batch and computes scores over the vocabulary at every position, which costs several times the training of a
model of two million parameters. Here pictures are encoded once and scores computed where they are supervised.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import Dataset, SequentialSampler
from transformers import Trainer, TrainerCallback, TrainingArguments

from driveproof.config.sft import TuningParams
from driveproof.errors import BadInput
from driveproof.files import atomic_dir, write_json
from driveproof.policy.pictures import Pictures
from driveproof.policy.tiny import build_tiny_vlm, load_processor
from driveproof.training.encoding import IGNORED, Encoder
from driveproof.training.lessons import Lessons
from driveproof.training.optimizer import make_optimizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Progress = Callable[[int, int, float], None]
"""Called with the step, the number of steps, and the loss."""
STYLE_FILE = "driveproof.json"
"""In a model folder: the prompt style it was trained with."""


def train(
    teacher: Lessons,
    params: TuningParams,
    seed: int,
    out_dir: str | Path,
    root: str | Path = ".",
    progress: Progress = lambda step, steps, loss: None,
) -> dict[str, Any]:
    """Train a model and write its folder; return the settings and the loss curve.

    Parameters
    ----------
    teacher
        What is taught, in which order.
    out_dir
        Model folder that appears whole or not at all.
    root
        Directory that relative paths of pictures start from.

    Raises
    ------
    BadInput
        If the base model cannot be loaded, a picture is missing, or the loss stops being finite.
    """
    if params.threads:
        torch.set_num_threads(params.threads)
    torch.use_deterministic_algorithms(True, warn_only=torch.cuda.is_available())
    with TemporaryDirectory() as scratch:
        base = Path(params.base)
        if params.base == "tiny":
            base = Path(scratch) / "tiny"
            _build(teacher, params, seed, base)
        model, processor = load_model(base), load_processor(base)
        _prepare(model, params)
        reduced = _use_bf16(params)
        encoder = Encoder(processor, Pictures(root), torch.bfloat16 if reduced else torch.float32)
        encoder.preload(teacher.images())
        trainer = _SftTrainer(
            params,
            model=model,
            args=_arguments(params, teacher.steps, seed, Path(scratch) / "trainer", reduced),
            train_dataset=_Examples(teacher, encoder, params),
            data_collator=encoder.collate,
            callbacks=[_Report(progress)],
        )
        trainer.train()
        with atomic_dir(out_dir) as folder:
            _save(trainer, processor, folder)
            write_json(folder / STYLE_FILE, {**teacher.identity(), "seed": seed})
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "seed": seed,
        "precision": "bf16" if reduced else "fp32",
        "settings": params.model_dump(mode="json"),
        "curve": [
            {"step": entry["step"], "loss": round(entry["loss"], 4)}
            for entry in trainer.state.log_history
            if "loss" in entry
        ],
    }


def load_model(path: str | Path) -> PreTrainedModel:
    """A VLM from a local folder, fp32 weights, safetensors only."""
    from transformers import AutoModelForImageTextToText

    try:
        model: PreTrainedModel = AutoModelForImageTextToText.from_pretrained(
            str(path), local_files_only=True, use_safetensors=True, dtype=torch.float32
        )
    except (OSError, ValueError, RuntimeError) as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0]
        raise BadInput(f"no model can be loaded: {problem}", path=path) from None
    return model


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
    params: TuningParams, steps: int, seed: int, scratch: Path, reduced: bool
) -> TrainingArguments:
    return TrainingArguments(
        output_dir=str(scratch),
        max_steps=steps,
        per_device_train_batch_size=params.batch_size,
        gradient_accumulation_steps=params.accumulation,
        learning_rate=params.learning_rate,
        lr_scheduler_type=params.schedule,
        warmup_steps=round(params.warmup * steps),
        max_grad_norm=params.max_grad_norm,
        bf16=reduced,
        use_cpu=not torch.cuda.is_available(),
        seed=seed,
        logging_steps=params.log_every,
        save_strategy="no",
        report_to="none",
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        dataloader_num_workers=0,
        disable_tqdm=True,
    )


class _Examples(Dataset[dict[str, Any]]):
    """The examples of all steps in order."""

    def __init__(self, teacher: Lessons, encoder: Encoder, params: TuningParams) -> None:
        self._teacher, self._encoder = teacher, encoder
        self._per_step = params.batch_size * params.accumulation

    def __len__(self) -> int:
        return self._teacher.steps * self._per_step

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self._encoder.encode(self._teacher.lesson(index, index // self._per_step))


class _SftTrainer(Trainer):
    """Trainer with our optimiser, the given order of examples, and scores only where they are supervised."""

    def __init__(self, params: TuningParams, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._params = params

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
        """Mean cross entropy of the supervised tokens of a batch."""
        labels = inputs.pop("labels")[:, 1:]
        positions = labels != IGNORED
        core = self.accelerator.unwrap_model(model)
        hidden = core.base_model(**inputs, use_cache=False)[0][:, :-1]
        scores = core.get_output_embeddings()(hidden[positions]).float()
        loss = torch.nn.functional.cross_entropy(scores, labels[positions])
        return (loss, {"logits": scores}) if return_outputs else loss


class _Report(TrainerCallback):
    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Pass the loss on; stop where it is no number."""
        if not logs or "loss" not in logs:
            return
        loss = float(logs["loss"])
        if not torch.isfinite(torch.tensor(loss)):
            raise BadInput(
                f"the loss is not finite at step {state.global_step}",
                hint="lower sft.learning_rate or sft.matrix_learning_rate",
            )
        self._progress(state.global_step, state.max_steps, loss)


def _save(trainer: Trainer, processor: Any, folder: Path) -> None:
    core = trainer.accelerator.unwrap_model(trainer.model)
    core.set_attn_implementation("sdpa")  # what the folder says is for whoever loads it
    core.save_pretrained(folder)
    processor.save_pretrained(folder)
