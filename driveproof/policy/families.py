"""What the families of vision-language models want: how pictures become tokens, who may speak, what is on by default.

``transformers:`` looks the family up by the folder's architecture. A setting is changed only where the folder says
something else, and what was changed is part of the policy's identity; a folder that is within bounds is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput
from driveproof.policy.chat import Message


@dataclass(frozen=True)
class Family:
    """One family.

    Attributes
    ----------
    title
        Its name for people.
    picture
        How a picture becomes tokens, for people.
    token_pixels
        Pixels of a token where the picture's dimensions decide on their number; None where they do not.
    most_tokens
        Tokens of a picture at most: six cameras of 1600 x 900 must fit into a context, and time.
    most_tiles
        Of a family that cuts pictures into tiles, how many at most.
    alternate
        Its template refuses two messages of one role in a row; they are joined.
    generation
        Settings of the folder that change answers although sampling is ours, and what they are set to.
    refused
        Why folders of this architecture cannot be used at all.
    """

    title: str
    picture: str
    token_pixels: int | None = None
    most_tokens: int | None = None
    most_tiles: int | None = None
    alternate: bool = False
    generation: Mapping[str, float] = field(default_factory=dict)
    refused: str = ""


NO_PENALTY = {"repetition_penalty": 1.0}
"""A penalty on what was said before falls on the very keys that the question offers."""

MOST_TOKENS = 1280
"""Of a picture: six cameras of 1600 x 900 must fit into a context, and time."""

FAMILIES = {
    "qwen2_5_vl": Family(
        "Qwen2.5-VL",
        "28 x 28 pixels a token, the template puts a system message first if there is none",
        token_pixels=28 * 28,
        most_tokens=MOST_TOKENS,
        generation=NO_PENALTY,
    ),
    "qwen3_vl": Family(
        "Qwen3-VL",
        "32 x 32 pixels a token, no system message of its own",
        token_pixels=32 * 32,
        most_tokens=MOST_TOKENS,
        generation=NO_PENALTY,
    ),
    "gemma3": Family(
        "Gemma 3",
        "256 tokens whatever its dimensions, squeezed to a square; a system message joins the first turn",
        alternate=True,
    ),
    "internvl": Family(
        "InternVL 3 (the -hf folders)",
        "256 tokens a tile of 448 x 448, and one of the whole",
        most_tiles=4,
    ),
    "internvl_chat": Family(
        "InternVL",
        "",
        refused="this folder wants its own code to be run, which is never done; its -hf twin needs none",
    ),
}
"""By ``model_type`` of ``config.json``."""
ANY = Family("another", "as its processor does")


def family_of(folder: str | Path) -> Family:
    """The family of a model folder; ``ANY`` for one that is not known, and for a folder without a configuration.

    Raises
    ------
    BadInput
        If folders of this architecture cannot be used.
    """
    try:
        config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
        kind = config.get("model_type") if isinstance(config, dict) else None
    except (OSError, ValueError):  # whoever loads the model says so better
        return ANY
    family = FAMILIES.get(kind, ANY) if isinstance(kind, str) else ANY
    if family.refused:
        raise BadInput(family.refused, path=folder)
    return family


def fit(family: Family, processor: Any, model: Any) -> dict[str, Any]:
    """Bring processor and model of a family within its bounds; what was changed, by name, is returned."""
    changed: dict[str, Any] = {}
    images: Any = getattr(processor, "image_processor", None)
    if family.token_pixels and family.most_tokens:
        # the folder's own patches count, should they be others than the family's
        edge = getattr(images, "patch_size", 0) * getattr(images, "merge_size", 0)
        most = family.most_tokens * (edge * edge or family.token_pixels)
        if limit_pixels(processor, most):
            changed["max_pixels"] = most
    if family.most_tiles and getattr(images, "max_patches", 0) > family.most_tiles:
        images.max_patches = family.most_tiles
        changed["max_tiles"] = family.most_tiles
    settings = getattr(model, "generation_config", None)
    for name, value in family.generation.items():
        if getattr(settings, name, None) not in (None, value):
            setattr(settings, name, value)
            changed[name] = value
    return changed


def limit_pixels(processor: Any, most: int) -> bool:
    """Let pictures of more than ``most`` pixels shrink, where dimensions decide on tokens; whether that changed anything."""
    images: Any = getattr(processor, "image_processor", None)
    if _longest(images) <= most:
        return False
    size = dict(images.size)
    least = min(size.get("shortest_edge", most), most)
    images.size = {**size, "shortest_edge": least, "longest_edge": most}
    return True


def fitted(picture: Any, processor: Any) -> Any:
    """A PIL picture in the size that ``processor`` brings it to, where dimensions decide on tokens; else as it is."""
    images: Any = getattr(processor, "image_processor", None)
    most = _longest(images)
    edge = getattr(images, "patch_size", 0) * getattr(images, "merge_size", 0)
    if not most or not edge:
        return picture
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

    least = dict(images.size).get("shortest_edge", 0)
    height, width = smart_resize(picture.height, picture.width, edge, least, most)
    return picture.resize((width, height), resample=3)  # bicubic, as the processor does


def conversation(family: Family, messages: Sequence[Message]) -> list[Message]:
    """The messages as the family's template takes them."""
    if not family.alternate:
        return list(messages)
    joined: list[dict[str, Any]] = []
    for message in messages:
        if joined and joined[-1]["role"] == message["role"]:
            joined[-1]["content"] = [*joined[-1]["content"], *message["content"]]
        else:
            joined.append(dict(message))
    return list(joined)


def _longest(images: Any) -> int:
    """Most pixels of a picture; ``longest_edge`` of the Qwen processors is an area."""
    found = dict(getattr(images, "size", None) or {}).get("longest_edge")
    return int(found) if found else 0
