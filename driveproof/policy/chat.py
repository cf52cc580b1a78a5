"""The contract of a policy that talks: messages and pictures in, text or a failure out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from driveproof.scene import ImageRef
from driveproof.scene.images import Pixels

Message = Mapping[str, Any]
"""``{"role": str, "content": [{"type": "text", "text": str} | {"type": "image"}, …]}``."""


@dataclass(frozen=True)
class ChatRequest:
    """One call of a model.

    Attributes
    ----------
    messages
        The conversation; each ``{"type": "image"}`` part stands for the next of ``images``.
    images
        References, or RGB pictures ``[H, W, 3]`` uint8.
    max_tokens
        Longest answer.
    temperature, top_p
        Sampling; temperature 0 takes the most likely token.
    seed
        Of the sampling: the same request gives the same answer wherever the model allows it.
    schema
        JSON schema that the answer must fulfil, for servers that can be held to one; others are only asked.
    session
        Requests of one session begin alike (pictures, what was said of them): a model may keep what it computed of the
        beginning. A hint about work: it is no part of the question, and "" asks for nothing.
    """

    messages: Sequence[Message]
    images: Sequence[ImageRef | Pixels] = ()
    max_tokens: int = 512
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    schema: Mapping[str, Any] | None = None
    session: str = ""

    def __post_init__(self) -> None:
        parts = [part for message in self.messages for part in message["content"]]
        places = sum(part["type"] == "image" for part in parts)
        if places != len(self.images):
            raise ValueError(f"ChatRequest: {places} image places for {len(self.images)} images")


@dataclass(frozen=True)
class ChatReply:
    """An answer, or why there is none; never both.

    ``usage`` counts "prompt_tokens" and "completion_tokens" as far as the model tells, and "prefilled_tokens", those of
    the prompt that were computed now and not reused; ``cached`` is true for an answer that was not computed now. ``latency_s`` is wall-clock and must not enter any stage's outs.
    ``outage`` is true for an error that is no failure of the model: its server is gone, late, busy, or gives nothing to
    whoever asks. It is said here and never read out of the words of an error, which may hold the model's own.
    """

    text: str | None
    error: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)
    latency_s: float = 0.0
    cached: bool = False
    outage: bool = False

    def __post_init__(self) -> None:
        if (self.text is None) != bool(self.error):
            raise ValueError("ChatReply: exactly one of text and error")
        if self.outage and not self.error:
            raise ValueError("ChatReply: an outage without an error")


@runtime_checkable
class ChatPolicy(Protocol):
    """A model that answers conversations.

    Replies come in the order of the requests, one each; a failure is a reply with ``error``, not an
    exception, so that one lost answer costs one answer.
    """

    @property
    def name(self) -> str:
        """Short name for tables."""
        ...

    def identity(self) -> dict[str, Any]:
        """What makes the model reproducible: kind, model, revision; JSON, without secrets."""
        ...

    def reply(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Answer a batch."""
        ...
