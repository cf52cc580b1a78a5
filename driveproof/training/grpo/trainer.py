"""The subclass of TRL's trainer: rows for rollouts, clipped advantages, steps that seed themselves, a finite loss."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from PIL import Image
from transformers import PrinterCallback, TrainerCallback, set_seed
from trl.trainer.grpo_trainer import GRPOTrainer

from driveproof.config.grpo import OptimizationParams
from driveproof.errors import BadInput
from driveproof.policy.families import fitted
from driveproof.policy.pictures import Pictures
from driveproof.policy.seeds import derive_seed
from driveproof.training.checkpoints import SafeCheckpoints
from driveproof.training.grpo.rollout import Batch, RolloutRunner
from driveproof.training.grpo.settings import reduced_precision
from driveproof.training.grpo.task import Task
from driveproof.training.optimizer import make_optimizer

Watch = Callable[[int, Mapping[str, float]], None]
"""Called after a step with its number and figures."""


class GrpoTrainer(SafeCheckpoints, GRPOTrainer):
    """GRPO on a task.

    Parameters
    ----------
    task, params
        What is practised, and how.
    pictures
        Where references of images start from.
    run_seed
        Each step draws from this and its own number alone, so a resumed run draws what an unbroken one draws.
    watch
        Told the figures of every step.
    keep
        Told the rollouts of every step and their clipped advantages.
    arguments
        The rest is TRL's.
    """

    def __init__(
        self,
        task: Task,
        params: OptimizationParams,
        pictures: Pictures,
        run_seed: int,
        watch: Watch,
        keep: Callable[[int, Batch, list[float]], None],
        **arguments: Any,
    ) -> None:
        self.runner = RolloutRunner(
            task,
            arguments["processing_class"],
            params.group,
            params.rollout_chunks,
            params.max_context,
            params.section,
        )
        self._task, self._params, self._pictures = task, params, pictures
        self._run_seed, self._keep = run_seed, keep
        self.numbers: list[int] = []
        self._own: dict[str, float] = {}
        self._reduced = reduced_precision(params)
        self._began = time.perf_counter()
        parent: Any = super()
        parent.__init__(reward_funcs=self.runner, rollout_func=self.runner.roll_out, **arguments)
        self.remove_callback(PrinterCallback)
        self.add_callback(_Watcher(watch, params.section))

    def create_optimizer(self, model: Any = None) -> torch.optim.Optimizer:
        """Muon with AdamW, or AdamW, as in supervised training."""
        trained: Any = self.model
        settings: Any = self._params  # names what the section sft names
        self.optimizer = make_optimizer(trained, settings)
        return self.optimizer

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        """Everything between the numbers of questions and a batch for the loss."""
        step = self.state.global_step
        self._began = time.perf_counter()
        # torch's draws too: sampling, and the order of the passes
        set_seed(derive_seed(self._run_seed, "step", step, self._engine()))
        self.numbers = [int(row["number"]) for row in inputs]
        out: dict[str, Any] = super()._generate_and_score_completions(self._opened())
        limit = self._params.advantage_clip
        raw = out["advantages"]
        out["advantages"] = raw.clamp(-limit, limit)
        self._own = self._figures(self.runner.batch, float((raw.abs() > limit).float().mean()))
        self._keep(step + 1, self.runner.batch, out["advantages"].tolist())
        return out

    def _engine(self) -> int:
        """Which generator this process belongs to: those that share a colocated vLLM must draw the same tokens."""
        vllm = self._params.vllm
        rank: int = self.accelerator.process_index
        return rank // vllm.tensor_parallel if vllm.mode == "colocate" else rank

    def _get_per_token_logps_and_entropies(self, *arguments: Any, **named: Any) -> Any:
        """Log-probabilities; reduced precision on a CPU is for these passes alone.

        The casts of weights that save time here would cost more than they save where one token is generated at a time.
        """
        reduced = self._reduced and not torch.cuda.is_available()
        with torch.autocast("cpu", torch.bfloat16, enabled=reduced):
            return super()._get_per_token_logps_and_entropies(*arguments, **named)

    def training_step(self, *arguments: Any, **named: Any) -> torch.Tensor:
        """Forward and backward pass; stops where the loss is no number, before the weights are changed."""
        parent: Any = super()
        loss: torch.Tensor = parent.training_step(*arguments, **named)
        if not torch.isfinite(loss):
            raise BadInput(
                f"the loss is not finite at step {self.state.global_step + 1}",
                hint=f"lower {self._params.section}.learning_rate",
            )
        return loss

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Add our own figures to those of TRL."""
        if self._own:
            seconds = time.perf_counter() - self._began
            logs.update(self._own, **{"time/step": seconds})
            self._own = {}
        super().log(logs, start_time)

    def _opened(self) -> list[dict[str, Any]]:
        """Prompt and pictures of each row; the rows of a group share theirs."""
        opened: dict[int, dict[str, Any]] = {}
        for number in self.numbers:
            if number not in opened:
                opening = self._task.interaction.opening(self._task.question(number))
                pictures = [self._picture(image) for image in opening.images]
                opened[number] = {"prompt": list(opening.messages)}
                if pictures:
                    opened[number]["images"] = pictures
        return [dict(opened[number]) for number in self.numbers]

    def _picture(self, image: Any) -> Image.Image:
        """vLLM counts a picture's tokens with the folder's own settings, so it gets it in the size that ours would choose."""
        found = Image.fromarray(self._pictures.pixels(image))
        if self._params.vllm.mode == "off":
            return found
        small: Image.Image = fitted(found, self.processing_class)
        return small

    def _figures(self, batch: Batch, clipped: float) -> dict[str, float]:
        def mean(values: Any) -> float:
            return float(np.mean(list(values)))

        own = {
            "advantage_clipped": clipped,
            "invalid": mean(not self._task.valid(finished) for finished in batch.finished),
            "graded": mean(scored.graded for scored in batch.scored),
            "fallback": mean(scored.fallback for scored in batch.scored),
            "length": mean(batch.lengths),
            "time/rollout": batch.generation_s,
            "time/scoring_wait": batch.waited_s,
            "time/grading": batch.grading_s,
        }
        if self.accelerator.num_processes == 1:
            return own
        # every process has as many rollouts, so the mean of means is the mean
        device = self.accelerator.device
        values = torch.tensor(list(own.values()), dtype=torch.float64, device=device)
        together = self.accelerator.reduce(values, reduction="mean")
        return dict(zip(own, together.tolist(), strict=True))


class _Watcher(TrainerCallback):
    def __init__(self, watch: Watch, section: str) -> None:
        self._watch, self._section = watch, section

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Pass the figures of a step on; stop where the gradient is no number."""
        if not logs or "reward" not in logs:
            return
        if not np.isfinite(logs.get("grad_norm", 0.0)):
            raise BadInput(
                f"the gradient is not finite at step {state.global_step}",
                hint=f"lower {self._section}.learning_rate",
            )
        self._watch(state.global_step, logs)
