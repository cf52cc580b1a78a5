"""Training in several processes: who reports, what each of them takes of a step, how a sharded model is saved."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from driveproof.errors import BadInput
from driveproof.files import read_json


def world() -> int:
    """Number of training processes, as launchers say it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first() -> bool:
    """Whether this process is the one that reports and writes."""
    return int(os.environ.get("RANK", "0")) == 0


def uses_deepspeed() -> bool:
    """Whether accelerate was told to use DeepSpeed."""
    return os.environ.get("ACCELERATE_USE_DEEPSPEED", "false").lower() == "true"


def sharding() -> str:
    """How a state is cut into pieces, which a checkpoint must agree with; "" in one process."""
    if world() == 1:
        return ""
    stage = 0
    settings = os.environ.get("ACCELERATE_DEEPSPEED_CONFIG_FILE")
    if uses_deepspeed() and settings:
        stage = read_json(settings)["zero_optimization"]["stage"]
    return f"{world()} processes, ZeRO {stage}"


def placement(gpu: bool) -> dict[str, Any]:
    """Arguments of transformers' trainers about devices; every training comes here before it sends a message.

    Without a GPU, ``use_cpu`` makes accelerate leave DeepSpeed out silently, so it is not set there; gloo carries the
    messages.
    """
    if gpu or not uses_deepspeed():
        return {"use_cpu": not gpu, **({"ddp_backend": "gloo"} if not gpu and world() > 1 else {})}
    _compile_nothing()
    return {"use_cpu": False, "ddp_backend": "gloo"}


def _compile_nothing() -> None:
    """DeepSpeed would look for a compiler and build messages by shared memory first, which takes minutes; gloo does."""
    from deepspeed import ops  # type: ignore[import-untyped]

    ops.__compatible_ops__ = {}


def share(batch: int, accumulation: int, processes: int, field: str) -> tuple[int, int]:
    """Examples of a pass and passes of a step in each of ``processes``, which together take what one would.

    A step has ``batch * accumulation`` examples. More processes make fewer passes; from one pass on, smaller ones.

    Raises
    ------
    BadInput
        If the examples of a step cannot be shared evenly.
    """
    if accumulation % processes == 0:
        return batch, accumulation // processes
    examples = batch * accumulation
    if examples % processes or (examples // processes) > batch:
        raise BadInput(
            f"{batch} x {accumulation} examples a step cannot be shared evenly by {processes} processes",
            field=field,
        )
    return examples // processes, 1


def check_optimizer(name: str, field: str) -> None:
    """ZeRO cuts matrices into pieces, which Muon cannot orthogonalise.

    Raises
    ------
    BadInput
        If ZeRO is used with Muon.
    """
    if uses_deepspeed() and name != "adamw":
        raise BadInput(
            f"ZeRO shards matrices, which {name} needs whole", field=field, hint="take adamw"
        )


def whole_state(trainer: Any) -> Any:
    """The weights of the whole model on the first process, gathered from all; every process must call this.

    None where the model is not sharded and can be saved as it is. What is tied to another weight stays out, as in a
    model that was never sharded: gathered copies no longer look like one.
    """
    if not trainer.is_deepspeed_enabled:
        return None
    state = trainer.accelerator.get_state_dict(trainer.model_wrapped)
    if state is None:
        return None
    core = trainer.accelerator.unwrap_model(trainer.model)
    tied: dict[str, str] = getattr(core, "all_tied_weights_keys", None) or {}
    return {name: value for name, value in state.items() if tied.get(name) not in state}


@contextmanager
def gathered(trainer: Any) -> Iterator[None]:
    """A model whose weights are sharded, whole for a while in every process; every process must come here."""
    if not trainer.is_deepspeed_enabled:
        yield
        return
    import deepspeed

    with deepspeed.zero.GatheredParameters(list(trainer.model.parameters())):
        yield


def wait(trainer: Any) -> None:
    """Until every process is here."""
    trainer.accelerator.wait_for_everyone()
