"""Hostile requests over a socket: a clear 4xx in one line, and the server lives on."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgpack
import pytest
from wire_helpers import Echo, serving  # type: ignore[import-not-found]

from driveproof.policy.wire.codec import JSON, MAX_BODY, MSGPACK
from driveproof.policy.wire.service import Limits


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, Echo]]:
    """A client of a server that all hostile requests are sent to, one after another."""
    policy = Echo()
    with serving() as start:
        url = start(policy, Limits(image_root=str(tmp_path_factory.mktemp("images"))))
        with httpx.Client(base_url=url) as client:
            yield client, policy


TURN = {"role": "user", "content": [{"type": "image"}]}


def chat(**values: Any) -> bytes:
    packed: bytes = msgpack.packb({"requests": [{"messages": [TURN], **values}]})
    return packed


@pytest.mark.parametrize(
    ("data", "kind", "status", "code"),
    [
        (b"", MSGPACK, 400, "malformed"),
        (chat()[:9], MSGPACK, 400, "malformed"),
        (b"\x91" * 2_000_000, MSGPACK, 400, "malformed"),
        (b"[" * 2_000_000, JSON, 400, "malformed"),
        (b"\xff" * 10_000, MSGPACK, 400, "malformed"),
        (chat(), "text/html", 415, "content_type"),
        (chat(), MSGPACK, 422, "message"),  # a place without a picture
        (chat(gt="keep left"), MSGPACK, 422, "message"),
        (chat(temperature=float("nan")), MSGPACK, 422, "message"),
        (chat(max_tokens=10**30 % 2**64), MSGPACK, 422, "message"),
        (chat(images=[{"kind": "file", "path": "../../etc/passwd"}]), MSGPACK, 403, "file"),
        (chat(images=[{"kind": "file", "path": "/etc/passwd"}]), MSGPACK, 403, "file"),
        (chat(images=[{"kind": "shared", "name": "../../etc/passwd", "offset": 0, "height": 1, "width": 1}]), MSGPACK, 422, "message"),
        (chat(images=[{"kind": "pickle", "data": b"x"}]), MSGPACK, 422, "message"),
    ],
)  # fmt: skip
def test_a_bad_body_is_refused_and_the_server_lives_on(
    served: tuple[httpx.Client, Echo], data: bytes, kind: str, status: int, code: str
) -> None:
    client, policy = served
    headers = {"content-type": kind, "accept": JSON}
    answer = client.post("/v1/chat", content=data, headers=headers)
    assert answer.status_code == status
    told = msgpack.unpackb(answer.content) if kind == MSGPACK else answer.json()
    assert told["code"] == code
    assert "Traceback" not in told["problem"]
    assert "\n" not in told["problem"]
    assert not policy.seen
    assert client.get("/health").json()["running"] == 0


def test_a_broken_picture_loses_its_own_answer(served: tuple[httpx.Client, Echo]) -> None:
    client, _ = served
    good = {
        "kind": "shared",
        "name": "driveproof-wire-1-" + "0" * 32,
        "offset": 0,
        "height": 1,
        "width": 1,
    }
    broken = chat(images=[{"kind": "encoded", "data": b"GIF89a"}])
    answer = client.post("/v1/chat", content=broken, headers={"content-type": MSGPACK})
    assert answer.status_code == 200
    assert msgpack.unpackb(answer.content)["replies"][0]["error"] == "image: not a picture"
    missing = client.post(
        "/v1/chat", content=chat(images=[good]), headers={"content-type": MSGPACK}
    )
    assert (missing.status_code, msgpack.unpackb(missing.content)["code"]) == (422, "shared")


def test_bodies_are_bounded_whatever_they_claim(served: tuple[httpx.Client, Echo]) -> None:
    client, _ = served
    parts = urlsplit(str(client.base_url))

    def raw(head: str, body: bytes = b"") -> bytes:
        with socket.create_connection((parts.hostname, parts.port), timeout=10) as stream:
            stream.sendall(f"POST /v1/chat HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n".encode() + body)
            return stream.recv(4096)

    assert b" 413 " in raw(f"Content-Type: {MSGPACK}\r\nContent-Length: {MAX_BODY + 1}")
    assert b" 413 " in raw(f"Content-Type: {MSGPACK}\r\nContent-Length: 99999999999999999999")
    assert b" 400 " in raw("Content-Length: -5")
    assert b" 400 " in raw("Content-Length: abc")
    chunks = (b"x" * 2**20 for _ in range(MAX_BODY // 2**20 + 2))
    try:
        answer = client.post("/v1/chat", content=chunks, headers={"content-type": JSON})
        assert answer.status_code == 413
    except httpx.WriteError:  # it hangs up on a body that goes on
        pass
    assert client.get("/health").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/v1/chat", 405),
        ("GET", "/docs", 404),
        ("GET", "/openapi.json", 404),
        ("DELETE", "/v1/sessions/..%2f..%2fetc", 404),
        ("DELETE", "/v1/sessions/abc", 404),
        ("POST", "/v1/sessions", 404),  # a server that talks has none
    ],
)
def test_other_places_do_not_exist(
    served: tuple[httpx.Client, Echo], method: str, path: str, status: int
) -> None:
    body = b'{"episode": "1_rep0", "seed": 0}' if method == "POST" else None
    answer = served[0].request(method, path, content=body, headers={"content-type": JSON})
    assert answer.status_code == status


def test_connections_that_break_off_do_no_harm(served: tuple[httpx.Client, Echo]) -> None:
    client, _ = served
    parts = urlsplit(str(client.base_url))
    for sent in (
        b"",
        b"\x16\x03\x01",
        b"POST /v1/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n{",
    ):
        for _ in range(5):
            with socket.create_connection((parts.hostname, parts.port)) as stream:
                stream.sendall(sent)
    assert client.get("/health").status_code == 200
