"""The policy server's HTTP: who may ask, how long a body may be, and what a refusal looks like."""

from __future__ import annotations

import asyncio
import hmac
import logging
import math
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from fastapi import FastAPI, Request, Response
from starlette.requests import ClientDisconnect

from driveproof.policy.wire import messages as wire
from driveproof.policy.wire.codec import JSON, MAX_BODY, MSGPACK, Refused, decode, encode
from driveproof.policy.wire.desk import Busy, Place
from driveproof.policy.wire.service import Service

BODY_S = 60.0
"""A body must be here after so long."""

M = TypeVar("M", bound=wire.Closed)
_log = logging.getLogger(__name__)


def build_app(service: Service, token: str = "") -> FastAPI:
    """The application. With a ``token`` every route but ``/health`` wants it as a bearer."""
    app = FastAPI(title="driveproof policy", docs_url=None, redoc_url=None, openapi_url=None)
    door = _Door(service, token)

    @app.get("/health")
    async def health(request: Request) -> Response:
        return await door.answer(request, _ready(service.health), public=True)

    @app.get("/identity")
    async def identity(request: Request) -> Response:
        return await door.answer(request, _ready(lambda: service.identity))

    @app.post("/v1/chat")
    async def chat(request: Request) -> Response:
        return await door.read(request, wire.ChatBatch, service.chat)

    @app.post("/v1/sessions")
    async def begin(request: Request) -> Response:
        return await door.read(request, wire.Begin, service.begin)

    @app.post("/v1/sessions/{session}/decide")
    async def decide(request: Request, session: str) -> Response:
        return await door.read(request, wire.Decide, partial(service.decide, session))

    @app.delete("/v1/sessions/{session}")
    async def end(request: Request, session: str) -> Response:
        def gone() -> wire.Health:
            service.end(session)
            return service.health()

        return await door.answer(request, _ready(gone))

    return app


class _Door:
    """Checks requests and turns answers and refusals into responses."""

    def __init__(self, service: Service, token: str) -> None:
        self._service, self._token = service, token.encode()

    async def read(
        self,
        request: Request,
        kind: type[M],
        work: Callable[[M, Place], Awaitable[wire.Closed]],
    ) -> Response:
        async def body_and_work() -> wire.Closed:
            # before the body is read: what waits takes memory, so it is counted and bounded
            with self._service.desk.place() as place:
                data = await _body(request)
                call = decode(data, request.headers.get("content-type", ""), kind)
                return await work(call, place)

        return await self.answer(request, body_and_work)

    async def answer(
        self, request: Request, work: Callable[[], Awaitable[wire.Closed]], public: bool = False
    ) -> Response:
        try:
            if not public:
                self._authorize(request)
                _negotiate(request)
            return self._response(request, 200, await work())
        except Refused as refusal:
            return self._refusal(request, refusal)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception:
            _log.exception("a call failed")
            return self._refusal(request, Refused(500, "internal", "the server made a mistake"))

    def _authorize(self, request: Request) -> None:
        given = request.headers.get("authorization", "").removeprefix("Bearer ").encode()
        if self._token and not hmac.compare_digest(given, self._token):
            raise Refused(401, "token", "this server wants its token")

    def _refusal(self, request: Request, refusal: Refused) -> Response:
        retry_s = refusal.retry_s if isinstance(refusal, Busy) else None
        problem = wire.Problem(
            code=refusal.code,
            problem=str(refusal),
            supported=list(wire.VERSIONS) if refusal.code == "version" else [],
            retry_s=retry_s,
        )
        response = self._response(request, refusal.status, problem)
        if retry_s is not None:
            response.headers["Retry-After"] = str(math.ceil(retry_s))
        return response

    def _response(self, request: Request, status: int, message: wire.Closed) -> Response:
        """Msgpack for those who send or want it, JSON for everyone else."""
        asked = request.headers.get("accept", "") + request.headers.get("content-type", "")
        kind = MSGPACK if MSGPACK in asked else JSON
        headers = {wire.IDENTITY_HEADER: self._service.identity.digest}
        return Response(encode(message, kind), status, headers, media_type=kind)


def _ready(value: Callable[[], wire.Closed]) -> Callable[[], Awaitable[wire.Closed]]:
    async def give() -> wire.Closed:
        return value()

    return give


def _negotiate(request: Request) -> None:
    asked = request.headers.get(wire.VERSION_HEADER, "1")
    if asked not in map(str, wire.VERSIONS):
        known = ", ".join(map(str, wire.VERSIONS))
        problem = f"version {asked[:20]!r} of the wire is not spoken here, but {known}"
        raise Refused(400, "version", problem)


async def _body(request: Request) -> bytes:
    """The whole body; 413 beyond ``MAX_BODY`` whatever its header claims, 408 if it drips."""
    too_large = Refused(413, "body", f"more than {MAX_BODY} bytes")
    claimed = request.headers.get("content-length", "0")
    if not claimed.isdecimal() or len(claimed) > 15 or int(claimed) > MAX_BODY:
        raise too_large
    parts, length = [], 0
    try:
        async with asyncio.timeout(BODY_S):
            async for part in request.stream():
                length += len(part)
                if length > MAX_BODY:
                    raise too_large
                parts.append(part)
    except TimeoutError:
        raise Refused(408, "body", f"the body took longer than {BODY_S:g} s") from None
    return b"".join(parts)
