"""A time limit for a whole answer: a body that drips in byte by byte is late, not alive."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import httpx2


class _Deadline(httpx2.SyncByteStream):
    """A body that must be complete ``limit_s`` seconds after its headers."""

    def __init__(
        self, body: httpx2.SyncByteStream, limit_s: float, request: httpx2.Request
    ) -> None:
        self._body, self._limit_s, self._request = body, limit_s, request

    def __iter__(self) -> Iterator[bytes]:
        end = time.monotonic() + self._limit_s
        for chunk in self._body:
            if time.monotonic() > end:
                text = f"the answer took longer than {self._limit_s:g} s"
                raise httpx2.ReadTimeout(text, request=self._request)
            yield chunk

    def close(self) -> None:
        self._body.close()


def body_deadline(limit_s: float) -> Callable[[httpx2.Response], None]:
    """A response hook of ``httpx2`` (OpenAI's client uses it), whose own read limit starts anew with every byte."""

    def limit(response: httpx2.Response) -> None:
        if isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = _Deadline(response.stream, limit_s, response.request)

    return limit
