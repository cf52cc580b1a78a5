"""Messages as bytes and back: msgpack or JSON, by content type. Never pickle."""

from __future__ import annotations

from typing import Any, TypeVar

import msgpack
from pydantic import ValidationError

from driveproof.errors import BadInput
from driveproof.policy.wire.messages import Closed

MSGPACK, JSON = "application/msgpack", "application/json"
MAX_BODY = 64 * 2**20
"""Bytes of the longest body."""

M = TypeVar("M", bound=Closed)


class Refused(BadInput):
    """A request or answer that is not one: ``status`` of HTTP, and a ``code`` for programs."""

    def __init__(self, status: int, code: str, problem: str, *, field: str | None = None) -> None:
        super().__init__(problem, field=field)
        self.status, self.code = status, code


def encode(message: Closed, kind: str = MSGPACK) -> bytes:
    """The bytes of a message; equal messages have equal bytes."""
    if kind == JSON:
        return message.model_dump_json().encode()
    packed: bytes = msgpack.packb(message.model_dump(), use_bin_type=True)
    return packed


def decode(data: bytes, kind: str, message: type[M]) -> M:
    """The message in ``data``.

    Raises
    ------
    Refused
        415 for another content type, 400 for what is not msgpack or JSON, 422 for another message: a missing, unknown or
        mistyped field, a number that is none or out of range.
    """
    kind = kind.partition(";")[0].strip().lower()
    if kind not in (MSGPACK, JSON):
        raise Refused(415, "content_type", f"not {MSGPACK} or {JSON}: {kind[:60]!r}")
    try:
        if kind == JSON:
            return message.model_validate_json(data)
        return message.model_validate(_unpacked(data))
    except ValidationError as error:
        raise _refusal(error) from None
    except RecursionError:
        raise Refused(400, "malformed", "nested too deeply") from None


def _unpacked(data: bytes) -> Any:
    try:
        return msgpack.unpackb(data, raw=False, strict_map_key=True, max_ext_len=0)
    except (ValueError, TypeError, OverflowError, MemoryError) as error:
        # of msgpack's own errors each is a ValueError; some have no text
        problem = f"not msgpack: {str(error) or type(error).__name__}"
        raise Refused(400, "malformed", problem[:200]) from None


def _refusal(error: ValidationError) -> Refused:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    if first["type"] == "json_invalid":
        return Refused(400, "malformed", first["msg"][:200])
    place = ".".join(str(step)[:40] for step in first["loc"])[:200]
    return Refused(422, "message", first["msg"][:200], field=place or None)
