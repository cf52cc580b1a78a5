"""A judge for tests: it answers what its argument says, answer by answer, with ``;`` between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from driveproof.policy import ChatReply, ChatRequest


class Judge:
    """``Judge#ANSWER;ANSWER…``: the answers in turn, ``lost`` is none."""

    name = "told"

    def __init__(self, argument: str) -> None:
        self._answers = argument.split(";")
        self._count = 0
        self.pictures: list[int] = []

    def identity(self) -> dict[str, Any]:
        return {"kind": "told"}

    def reply(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        return [self._one(request) for request in requests]

    def _one(self, request: ChatRequest) -> ChatReply:
        assert len(request.images) == 4, "four frames of the window"
        text = self._answers[self._count % len(self._answers)]
        self._count += 1
        return ChatReply(None, "the server is gone") if text == "lost" else ChatReply(text)
