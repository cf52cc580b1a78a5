"""The optimisers: AdamW, or Muon for the matrices of the transformer blocks with AdamW for all others.

Muon orthogonalises the momentum of a weight matrix before the step (Jordan et al., 2024; torch.optim.Muon). From
scratch and in a few hundred steps it is worth several times as many steps of AdamW; docs/training.md has figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from driveproof.config.sft import TuningParams

BETAS = (0.9, 0.98)
MOMENTUM = 0.95


class Together(torch.optim.Optimizer):
    """Several optimisers, each with its own parameters, stepped as one."""

    def __init__(self, parts: list[torch.optim.Optimizer]) -> None:
        # The groups are shared with the parts, so that a learning-rate schedule reaches them.
        self.parts = parts
        super().__init__([group for part in parts for group in part.param_groups], {})
        self.param_groups = [group for part in parts for group in part.param_groups]

    def step(self, closure: Any = None) -> Any:
        """Step every part."""
        loss = closure() if closure is not None else None
        for part in self.parts:
            part.step()
        return loss

    def state_dict(self) -> dict[str, Any]:
        """The states of all parts."""
        return {"parts": [part.state_dict() for part in self.parts]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Inverse of :meth:`state_dict`."""
        for part, state in zip(self.parts, state_dict["parts"], strict=True):
            part.load_state_dict(state)
        self.param_groups = [group for part in self.parts for group in part.param_groups]


def make_optimizer(model: torch.nn.Module, params: TuningParams) -> torch.optim.Optimizer:
    """The optimiser that ``params`` asks for, over the trainable parameters of ``model``."""
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    blocks = {
        name: p
        for name, p in trainable.items()
        if p.ndim == 2 and not any(part in name for part in ("embed", "lm_head", "position"))
    }
    rest = [p for name, p in trainable.items() if name not in blocks]
    if params.optimizer == "adamw":
        decayed = {"params": list(blocks.values()), "weight_decay": params.weight_decay}
        groups = [decayed, {"params": rest, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, lr=params.learning_rate, betas=BETAS)
    muon = torch.optim.Muon(
        list(blocks.values()),
        lr=params.matrix_learning_rate,
        momentum=MOMENTUM,
        adjust_lr_fn="original",
        weight_decay=params.weight_decay,
    )
    adamw = torch.optim.AdamW(rest, lr=params.learning_rate, betas=BETAS, weight_decay=0.0)
    return Together([muon, adamw])
