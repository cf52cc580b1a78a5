"""What a stage, which is one process, must refuse."""

from __future__ import annotations

from typing import Literal

from driveproof.config import Params
from driveproof.errors import BadInput


def check_single(params: Params, kind: Literal["sft", "grpo"], variant: str = "") -> None:
    """A stage trains in one process; what asks for more is for ``driveproof launch``.

    Raises
    ------
    BadInput
        Naming the setting, and the command.
    """
    hint = f"driveproof launch {kind} {variant}".rstrip()
    launch, vllm = params.launch, params.grpo.vllm
    if launch.nodes * launch.gpus > 1:
        raise BadInput(
            f"a stage is one process, not one on each of {launch.nodes} x {launch.gpus} GPUs",
            field="launch.nodes" if launch.nodes > 1 else "launch.gpus",
            hint=hint,
        )
    if kind == "grpo" and vllm.mode == "colocate" and vllm.tensor_parallel > 1:
        raise BadInput(
            f"a stage is one process, and an engine of {vllm.tensor_parallel} GPUs needs as many",
            field="grpo.vllm.tensor_parallel",
            hint=hint,
        )
