"""Chat policies whose answers are known."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from driveproof.policy import ChatReply, ChatRequest
from driveproof.policy.driving import DriveObservation
from driveproof.scene.images import Pixels

KEYS = "TURN_LEFT, STOP"
Answer = Callable[[str], str | None]


def text_of(request: ChatRequest) -> str:
    """The text of a request of one turn."""
    (turn,) = request.messages
    return str(turn["content"][-1]["text"])


def by_digest(prompt: str) -> str:
    """An answer that depends on every letter of the prompt, and ends in keys."""
    return f"thought {hashlib.sha256(prompt.encode()).hexdigest()[:8]}. {KEYS}"


class Talker:
    """Answers by a function of the prompt's text, and remembers the batches."""

    name = "talker"

    def __init__(self, answer: Answer = by_digest) -> None:
        self._answer = answer
        self.batches: list[list[ChatRequest]] = []

    def identity(self) -> dict[str, Any]:
        return {"kind": "talker"}

    def reply(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        self.batches.append(list(requests))
        texts = [self._answer(text_of(request)) for request in requests]
        usage = {"prompt_tokens": 10, "completion_tokens": 2}
        return [
            ChatReply(text, "" if text is not None else "lost", usage, latency_s=0.5)
            for text in texts
        ]

    @property
    def prompts(self) -> list[str]:
        return [text_of(request) for batch in self.batches for request in batch]


def picture(shade: int = 90) -> Pixels:
    return np.full((36, 64, 3), shade, np.uint8)


def seen(frame: int = 0, views: Sequence[str] = ("CAM_FRONT",), **more: Any) -> DriveObservation:
    """What is seen every half second."""
    values = {"speed": 3.0, "command": "left", "command_distance": 20.0, **more}
    pictures = {view: [picture(frame)] for view in views}
    return DriveObservation(frame, 0.5 * frame, pictures, **values)
