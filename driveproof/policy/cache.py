"""Answers kept on disk, so that a repeated evaluation of a paid or slow model asks for what is new only."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput
from driveproof.policy.chat import ChatReply, ChatRequest
from driveproof.policy.pictures import Pictures


def cache_key(model: str, request: ChatRequest, pictures: Pictures) -> str:
    """sha256 over everything that an answer depends on: model, messages, pictures, sampling, seed."""
    content = {
        "model": model,
        "messages": list(request.messages),
        "images": [pictures.digest(image) for image in request.images],
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "seed": request.seed,
    }
    if request.schema is not None:
        content["schema"] = request.schema
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class ReplyCache:
    """Replies by key in a directory; values are JSON, never pickle. ``hits`` counts what was found."""

    def __init__(self, directory: str | Path) -> None:
        import diskcache

        self.hits = 0
        try:
            self._cache = diskcache.Cache(str(directory), disk=_json_disk())
        except Exception as error:  # sqlite and file system errors of many kinds
            raise BadInput(f"not a usable cache: {error}", path=directory) from None

    def get(self, key: str) -> ChatReply | None:
        """The reply kept under ``key``, marked as cached."""
        value: Any = self._cache.get(key)
        if value is None:
            return None
        self.hits += 1
        return ChatReply(value["text"], usage=value["usage"], cached=True)

    def put(self, key: str, reply: ChatReply) -> None:
        """Keep an answer; failures are not kept."""
        if reply.text is not None:
            self._cache.set(key, {"text": reply.text, "usage": dict(reply.usage)})

    def close(self) -> None:
        """Close the database of the calling thread."""
        self._cache.close()


def _json_disk() -> type[Any]:
    from diskcache import JSONDisk
    from diskcache.core import MODE_PICKLE

    class PickleFreeDisk(JSONDisk):  # type: ignore[misc]
        """JSON values; a row that claims to be a pickle is refused, whoever wrote it."""

        def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
            if mode == MODE_PICKLE:
                raise BadInput("the cache holds a pickle, which is never loaded")
            return super().fetch(mode, filename, value, read)

    return PickleFreeDisk
