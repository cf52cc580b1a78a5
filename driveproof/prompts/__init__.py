"""What is said to a policy and how its answers are read: templates with hashes, messages, parsers."""

from driveproof.prompts.messages import (
    Message,
    joint_messages,
    scene_messages,
    with_options,
)
from driveproof.prompts.parse import (
    ParsedChoice,
    choice_line,
    decision_line,
    option_letters,
    parse_choice,
    parse_decision,
)
from driveproof.prompts.render import (
    PROMPT_HASH,
    prompt_hash,
    prompt_hashes,
    render_joint_turn,
    render_options_turn,
    render_scene_turn,
    render_system,
)
from driveproof.prompts.style import COMPACT, FULL, STYLES, PromptStyle, ShownImage, shown_images

__all__ = [
    "COMPACT",
    "FULL",
    "PROMPT_HASH",
    "STYLES",
    "Message",
    "ParsedChoice",
    "PromptStyle",
    "ShownImage",
    "choice_line",
    "decision_line",
    "joint_messages",
    "option_letters",
    "parse_choice",
    "parse_decision",
    "prompt_hash",
    "prompt_hashes",
    "render_joint_turn",
    "render_options_turn",
    "render_scene_turn",
    "render_system",
    "scene_messages",
    "shown_images",
    "with_options",
]
