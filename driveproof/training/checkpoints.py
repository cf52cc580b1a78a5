"""Checkpoints that survive a kill at any moment and hold no pickle.

transformers writes optimiser states with ``torch.save``; here they are safetensors with a JSON skeleton. Random states
are not kept: every step of GRPO seeds itself (see :class:`driveproof.training.grpo.trainer.GrpoTrainer`), and supervised
training draws nothing. A checkpoint counts from the moment its mark is written, which is last.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from driveproof.errors import BadInput
from driveproof.files import atomic_path, read_json, write_json
from driveproof.training.processes import is_first, sharding

if TYPE_CHECKING:
    import torch

    _Base = Any
else:
    _Base = object

OPTIMIZER, MARK = "optimizer.safetensors", "complete.json"
_FOLDER = re.compile(r"checkpoint-(\d+)")


def save_state(path: str | Path, state: Any) -> None:
    """Write nested dictionaries and lists of tensors, numbers and texts."""
    tensors: dict[str, torch.Tensor] = {}
    skeleton = json.dumps(_flatten(state, "", tensors))
    with atomic_path(path) as temporary:
        save_file(tensors, temporary, metadata={"skeleton": skeleton})


def load_state(path: str | Path) -> Any:
    """Inverse of :func:`save_state`.

    Raises
    ------
    BadInput
        If the file is absent, truncated or something else.
    """
    try:
        with safe_open(str(path), framework="pt") as stream:
            skeleton = (stream.metadata() or {})["skeleton"]
            return _restore(json.loads(skeleton), stream)
    except (OSError, SafetensorError, KeyError, ValueError, TypeError) as error:
        raise BadInput(f"no optimiser state: {error}", path=path) from None


def newest(directory: str | Path) -> Path | None:
    """The latest whole checkpoint in ``directory``, None if there is none."""
    found = [
        (int(match[1]), path)
        for path in Path(directory).glob("checkpoint-*")
        if (match := _FOLDER.fullmatch(path.name)) and (path / MARK).is_file()
    ]
    return max(found)[1] if found else None


def belongs(directory: str | Path, identity: str) -> bool:
    """Whether the checkpoints in ``directory`` are of the run called ``identity``; marks an empty one as such."""
    mark = Path(directory) / "run.json"
    if mark.is_file():
        return bool(read_json(mark) == {"identity": identity})
    write_json(mark, {"identity": identity})
    return True


def claim(directory: str | Path, identity: str) -> Path | None:
    """The checkpoint in ``directory`` to go on from; those of another run are removed.

    Every process calls this before any of them trains. The mark of a run is written after the folder was emptied, so
    whoever finds it finds the run's own checkpoints or none.
    """
    directory, identity = Path(directory), identity + sharding()
    if is_first() and not belongs(directory, identity):
        shutil.rmtree(directory)
        belongs(directory, identity)
    mark = directory / "run.json"
    own = mark.is_file() and read_json(mark) == {"identity": identity}
    return newest(directory) if own else None


class SafeCheckpoints(_Base):  # type: ignore[misc]  # a mixin of trainers
    """Writes and reads the optimiser's state as safetensors, and marks a checkpoint when it is whole.

    With DeepSpeed and FSDP, whose states are sharded, they do that in their own way.
    """

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
        self.accelerator.wait_for_everyone()
        if self.args.should_save:
            write_json(folder / MARK, {"step": self.state.global_step})

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """None: a checkpoint is no published model."""

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        super()._save(output_dir, state_dict)
        (Path(output_dir or self.args.output_dir) / "training_args.bin").unlink(missing_ok=True)

    def _save_optimizer_and_scheduler(self, output_dir: str) -> None:
        if self.is_deepspeed_enabled or self.is_fsdp_enabled:
            super()._save_optimizer_and_scheduler(output_dir)
        elif self.args.should_save:
            state = {
                "optimizer": self.optimizer.state_dict(),
                "scheduler": self.lr_scheduler.state_dict(),
            }
            save_state(Path(output_dir) / OPTIMIZER, state)

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        if checkpoint is None:
            return
        if self.is_deepspeed_enabled or self.is_fsdp_enabled:
            super()._load_optimizer_and_scheduler(checkpoint)
        else:
            state = load_state(Path(checkpoint) / OPTIMIZER)
            self.optimizer.load_state_dict(state["optimizer"])
            self.lr_scheduler.load_state_dict(state["scheduler"])

    def _save_rng_state(self, output_dir: str) -> None:
        """None: every step seeds itself."""

    def _load_rng_state(self, checkpoint: str | None) -> None:
        """None: every step seeds itself."""


def _flatten(value: Any, name: str, tensors: dict[str, torch.Tensor]) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        tensors[name] = value.detach().cpu().contiguous()
        return {"tensor": name}
    if isinstance(value, dict):
        keys = [[key, _flatten(part, f"{name}/{key}", tensors)] for key, part in value.items()]
        return {"items": keys}
    if isinstance(value, (list, tuple)):
        return {"list": [_flatten(part, f"{name}/{k}", tensors) for k, part in enumerate(value)]}
    return {"value": value}


def _restore(node: Any, stream: Any) -> Any:
    kind, content = next(iter(node.items()))
    if kind == "tensor":
        return stream.get_tensor(content)
    if kind == "items":
        return {key: _restore(part, stream) for key, part in content}
    if kind == "list":
        return [_restore(part, stream) for part in content]
    return content
