"""Encoding every picture of a batch once: the rollouts of a group, and repeats, show the same ones."""

from __future__ import annotations

from typing import Any

import torch


def share_pictures(model: Any) -> None:
    """Let ``model`` encode equal pictures of one call once (Qwen-VL family; others stay as they are).

    Features and gradients are the same as without: what was encoded once is read several times. With groups of
    eight this saves seven eighths of the vision encoder's work in every pass. A model with adapters may be given as
    peft wraps it.
    """
    bare = model.get_base_model() if hasattr(model, "get_base_model") else model
    core = getattr(bare, "model", None)
    if core is None or not hasattr(getattr(core, "visual", None), "spatial_merge_size"):
        return
    encode = core.get_image_features

    def shared(pixel_values: torch.Tensor, image_grid_thw: torch.Tensor, **options: Any) -> Any:
        pieces = torch.split(pixel_values, image_grid_thw.prod(-1).tolist())
        chosen, where = _distinct(pieces, image_grid_thw)
        if len(chosen) == len(pieces):
            return encode(pixel_values, image_grid_thw, **options)
        features = encode(torch.cat([pieces[k] for k in chosen]), image_grid_thw[chosen], **options)
        tokens = [len(piece) for piece in features.pooler_output]
        features.pooler_output = tuple(features.pooler_output[k] for k in where)
        levels = getattr(features, "deepstack_features", None)  # Qwen3-VL alone has them
        if levels is not None:
            features.deepstack_features = [_spread(level, tokens, where) for level in levels]
        return features

    core.get_image_features = shared


def _spread(level: torch.Tensor, tokens: list[int], where: list[int]) -> torch.Tensor:
    parts = torch.split(level, tokens)
    return torch.cat([parts[k] for k in where])


def _distinct(pieces: tuple[torch.Tensor, ...], grids: torch.Tensor) -> tuple[list[int], list[int]]:
    """Positions of the distinct pictures, and for each picture which of these it is."""
    chosen: list[int] = []
    where: list[int] = []
    seen: dict[tuple[Any, ...], list[int]] = {}
    for position, (piece, grid) in enumerate(zip(pieces, grids.tolist(), strict=True)):
        # a sample of the values finds candidates, all values decide
        key = (*grid, float(piece[:: max(1, len(piece) // 8)].double().sum()))
        same = next((k for k in seen.get(key, ()) if torch.equal(pieces[chosen[k]], piece)), None)
        if same is None:
            same = len(chosen)
            chosen.append(position)
            seen.setdefault(key, []).append(same)
        where.append(same)
    return chosen, where
