"""Calls to a policy server: one version, one identity, limits of time, and patience while it is busy."""

from __future__ import annotations

import math
import os
import time
from typing import TypeVar, get_args
from urllib.parse import urlsplit

import httpx
import tenacity

from driveproof.errors import BadInput, Unreachable
from driveproof.policy.failures import is_outage
from driveproof.policy.registry import Carrier
from driveproof.policy.wire import messages as wire
from driveproof.policy.wire.codec import MAX_BODY, MSGPACK, Refused, decode, encode

TOKEN_VARIABLE = "DRIVEPROOF_WIRE_TOKEN"
"""Environment variable of a server's token, the only place it is read from."""

M = TypeVar("M", bound=wire.Closed)


class ServerFailed(Unreachable):
    """The server is gone, late, busy for too long, or does not speak the wire."""


class Withheld(Refused, ServerFailed):
    """A refusal that says nothing of what was asked: a session that is gone, another token, another version."""


class _BusyNow(Exception):
    """503; ``retry_s`` is when the server hopes for a place."""

    def __init__(self, problem: str, retry_s: float) -> None:
        super().__init__(problem)
        self.retry_s = retry_s


class Transport:
    """Speaks to one server; safe to use from several threads.

    Parameters
    ----------
    url
        ``http://host:port``.
    timeout_s
        Of a whole call, pauses and waiting for a busy server included.
    connect_s
        Of reaching the server.
    kind
        Content type: msgpack, or JSON to read along.
    http
        Instead of a client of its own; whoever gives it closes it.

    Raises
    ------
    BadInput
        If the URL is none or carries credentials.
    ServerFailed
        If the server cannot be reached, is no policy server, or speaks other versions only.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float = 120.0,
        connect_s: float = 5.0,
        kind: str = MSGPACK,
        http: httpx.Client | None = None,
    ) -> None:
        self.url = _checked(url)
        self._timeout_s, self._connect_s, self._kind = timeout_s, connect_s, kind
        self._http = http or httpx.Client(trust_env=False, limits=httpx.Limits(keepalive_expiry=60))
        self._headers = {"Accept": kind, "Accept-Encoding": "identity", "Content-Type": kind}
        token = os.environ.get(TOKEN_VARIABLE, "")
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._digest = ""
        versions = self.call("GET", "/health", wire.Health).versions
        common = [version for version in wire.VERSIONS if version in versions]
        if not common:
            ours, theirs = (", ".join(map(str, some)) for some in (wire.VERSIONS, versions))
            raise ServerFailed(
                f"{self.url} speaks version {theirs} of the wire, this program {ours}",
                hint="use the same release of driveproof on both sides",
            )
        self._headers[wire.VERSION_HEADER] = str(max(common))
        self.identity = self.call("GET", "/identity", wire.Identity)
        self._digest = self.identity.digest

    def call(
        self,
        method: str,
        path: str,
        answer: type[M],
        body: wire.Closed | None = None,
        within_s: float = math.inf,
    ) -> M:
        """One call; a busy server is asked again until the time is up.

        Raises
        ------
        ServerFailed
            See the class; also if the server now serves another model than in the beginning.
        Refused
            If the server found the request wrong; :class:`Withheld` if the fault is not the request's.
        """
        limit_s = min(self._timeout_s, within_s)
        end = time.monotonic() + limit_s
        data = b"" if body is None else encode(body, self._kind)
        retry = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_BusyNow),
            stop=lambda state: time.monotonic() + _pause(state) >= end,
            wait=_pause,
            reraise=True,
        )
        try:
            given: M = retry(self._twice, method, path, answer, data, end)
            return given
        except _BusyNow as busy:
            text = f"{self.url} was busy for {limit_s:g} s: {busy}"
            raise ServerFailed(text) from None
        except httpx.HTTPError as error:
            raise ServerFailed(f"{self.url}: {_line(error)}") from None

    def _twice(self, method: str, path: str, answer: type[M], data: bytes, end: float) -> M:
        """A second time over a new connection if the first broke: the server may just have closed an idle one."""
        try:
            return self._once(method, path, answer, data, end)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            return self._once(method, path, answer, data, end)

    def _once(self, method: str, path: str, answer: type[M], data: bytes, end: float) -> M:
        left = max(end - time.monotonic(), 0.01)
        limits = httpx.Timeout(left, connect=min(self._connect_s, left))
        request = self._http.build_request(
            method, self.url + path, content=data, headers=self._headers, timeout=limits
        )
        response = self._http.send(request, stream=True)
        try:
            body = _read(response, end, self._timeout_s)
        finally:
            response.close()
        kind = response.headers.get("content-type", "")
        if response.status_code == 200:
            self._same_model(response)
            return self._decoded(body, kind, answer)
        self._raise(response, self._decoded(body, kind, wire.Problem))
        raise AssertionError("a refusal is always raised")

    def _decoded(self, body: bytes, kind: str, answer: type[M]) -> M:
        try:
            return decode(body, kind, answer)
        except Refused as error:
            raise ServerFailed(f"{self.url} is no policy server: {error}") from None

    def _same_model(self, response: httpx.Response) -> None:
        digest = response.headers.get(wire.IDENTITY_HEADER, "")
        if self._digest and digest != self._digest:
            raise ServerFailed(f"{self.url} serves another model than in the beginning")

    def _raise(self, response: httpx.Response, problem: wire.Problem) -> None:
        status = response.status_code
        if status == 503 and problem.retry_s is not None:
            raise _BusyNow(problem.problem, problem.retry_s)
        if status >= 500:
            raise ServerFailed(f"{self.url}: {problem.problem}")
        hint = f": put it into {TOKEN_VARIABLE}" if problem.code == "token" else ""
        # whoever has no such carrier is sent bytes instead
        asked = problem.code in get_args(Carrier) or not is_outage(status)
        kind = Refused if asked and problem.code != "version" else Withheld
        raise kind(status, problem.code, problem.problem + hint)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


def described(error: Exception) -> str:
    """The error of a reply or decision that was lost this way."""
    text = " ".join(str(error).split())[:400]
    return f"{'model server' if isinstance(error, ServerFailed) else 'refused'}: {text}"


def _pause(state: tenacity.RetryCallState) -> float:
    """What the server hopes, longer from time to time: many that wait must not come at once."""
    outcome = state.outcome
    error = outcome.exception() if outcome is not None else None
    hoped = error.retry_s if isinstance(error, _BusyNow) else 0.0
    return float(min(max(hoped, 0.05 * 1.5 ** min(state.attempt_number, 20)), 30.0))


def _read(response: httpx.Response, end: float, limit_s: float) -> bytes:
    """The body, bounded in bytes and in time: the limits of httpx start anew with every byte."""
    parts: list[bytes] = []
    length = 0
    for part in response.iter_raw():
        length += len(part)
        if length > MAX_BODY:
            raise ServerFailed(f"the answer has more than {MAX_BODY} bytes")
        if time.monotonic() > end:
            raise httpx.ReadTimeout(f"the answer took longer than {limit_s:g} s")
        parts.append(part)
    return b"".join(parts)


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        secret = parts.username is not None or parts.password is not None
        good = good and parts.path in ("", "/") and not parts.query
    except ValueError:
        good = secret = False
    if secret:
        raise BadInput("the server's URL holds credentials", hint=f"use {TOKEN_VARIABLE}")
    if not good:
        raise BadInput(f"not a policy server's URL: {url}", hint="wire:http://127.0.0.1:7023")
    return url.rstrip("/")


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
