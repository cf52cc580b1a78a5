"""The private methods of TRL and transformers that are called or replaced here, all in one place.

TRL has no public way to generate twice in one rollout or to clip advantages, and transformers none to write an
optimiser's state other than pickled. :data:`REPLACED` and :data:`CALLED` say what is relied on; a test compares them
with what is installed, so that another version fails there and not in the middle of a training.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

TRL_VERSION = "1.16"
"""The signatures below were read there."""
CALLED = {
    "_tokenize_prompts": ("self", "prompts"),
    "_generate_single_turn": (
        *("self", "prompt_ids", "images", "multimodal_fields", "num_generations"),
        "has_tool_images",
    ),
}
"""Private methods of TRL's GRPO trainer that are called, with their parameters."""
REPLACED = {
    "_generate_and_score_completions": ("self", "inputs"),
    "_get_per_token_logps_and_entropies": (
        *("self", "model", "input_ids", "attention_mask", "logits_to_keep", "batch_size"),
        *("compute_entropy", "compute_aux_loss", "pixel_values", "image_grid_thw", "num_images"),
        *("pixel_attention_mask", "spatial_shapes", "num_tiles", "image_sizes", "token_type_ids"),
        *("mm_token_type_ids", "image_position_ids"),
    ),
    "_save_checkpoint": ("self", "model", "trial"),
    "_save": ("self", "output_dir", "state_dict"),
    "_save_optimizer_and_scheduler": ("self", "output_dir"),
    "_load_optimizer_and_scheduler": ("self", "checkpoint"),
    "_save_rng_state": ("self", "output_dir"),
    "_load_rng_state": ("self", "checkpoint"),
}
"""Private methods of TRL's and transformers' trainers that the subclass extends."""
TOKEN_FIELDS = ("mm_token_type_ids", "token_type_ids")
"""Per-token fields beside the prompt's ids: they grow with the conversation."""


def differences(trainer_class: type) -> list[str]:
    """How ``trainer_class`` differs from what is relied on; empty if it does not."""
    found = []
    for name, expected in {**CALLED, **REPLACED}.items():
        method = getattr(trainer_class, name, None)
        if method is None:
            found.append(f"{name} is gone")
            continue
        parameters = tuple(inspect.signature(inspect.unwrap(method)).parameters)
        if parameters != expected:
            found.append(f"{name}{parameters} was {name}{expected}")
    return found


def tokenize(trainer: Any, prompts: Sequence[Any]) -> tuple[list[list[int]], Any, dict[str, Any]]:
    """Token ids of each prompt, its pictures, and the model's other fields of the whole batch."""
    ids, images, fields = trainer._tokenize_prompts(list(prompts))
    return [list(row) for row in ids], images, dict(fields)


def generate(
    trainer: Any,
    contexts: Sequence[Sequence[int]],
    images: Any,
    fields: dict[str, Any],
    repeats: int,
) -> tuple[list[list[int]], list[list[float]] | None]:
    """One answer to each context: its token ids and, from vLLM, their log-probabilities.

    ``fields`` belong to the prompts that the contexts begin with. ``repeats`` neighbours have the same context.
    """
    grown = dict(fields)
    for name in TOKEN_FIELDS:
        if name in grown:
            grown[name] = [
                [*row, *[0] * (len(context) - len(row))]
                for row, context in zip(grown[name], contexts, strict=True)
            ]
    ids, scores = trainer._generate_single_turn(
        [list(context) for context in contexts], images, grown, repeats
    )
    return [list(row) for row in ids], scores
