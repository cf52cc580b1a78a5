"""Conversations as chat messages with image placeholders; training and evaluation build them here alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from driveproof.prompts.render import (
    render_joint_turn,
    render_options_turn,
    render_scene_turn,
    render_system,
)
from driveproof.prompts.style import PromptStyle, shown_images
from driveproof.scene import Observation

Message = dict[str, Any]
"""``{"role": str, "content": [{"type": "text", "text": str} | {"type": "image"}, …]}``. The placeholders
stand for :func:`driveproof.prompts.shown_images` of the observation, in that order."""


def scene_messages(observation: Observation, style: PromptStyle) -> list[Message]:
    """DEFT before turn 1: the system message (if the style has one) and the scene without candidates."""
    return _opening(observation, render_scene_turn(observation, style), style)


def with_options(
    messages: Sequence[Message], reply: str, options: ArrayLike, style: PromptStyle
) -> list[Message]:
    """DEFT before turn 2: ``messages``, the policy's own turn-1 ``reply``, then the candidates ``[M, 10, 2]``."""
    revealed = render_options_turn(options, style)
    return [*messages, text_message("assistant", reply), text_message("user", revealed)]


def joint_messages(
    observation: Observation, options: ArrayLike, style: PromptStyle
) -> list[Message]:
    """JEFT: one user turn with scene and candidates ``[M, 10, 2]``."""
    return _opening(observation, render_joint_turn(observation, options, style), style)


def text_message(role: str, text: str) -> Message:
    """A message of one text part."""
    return {"role": role, "content": [{"type": "text", "text": text}]}


def _opening(observation: Observation, text: str, style: PromptStyle) -> list[Message]:
    user = text_message("user", text)
    pictures = [{"type": "image"} for _ in shown_images(observation, style)]
    user["content"] = [*pictures, *user["content"]]
    system = render_system(style)
    return [text_message("system", system), user] if system else [user]
