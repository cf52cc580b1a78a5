"""The OpenAI-compatible client against a server that speaks the protocol and can misbehave.

The server is a real one (FastAPI on loopback); the real ``transformers serve`` is in test_served_policy.py.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, StreamingResponse

from driveproof.errors import BadInput
from driveproof.policy import ChatRequest
from driveproof.policy.pictures import Pictures
from driveproof.policy.remote import OpenAIPolicy
from driveproof.scene import ImageRef


class Behaviour:
    """What the server does next and what it has seen."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.faults: list[str] = []
        self.always = ""
        self.seen: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.now = self.most = 0


def completion(text: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


def build_app(state: Behaviour) -> FastAPI:
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def complete(request: Request) -> Any:
        body = await request.json()
        state.seen.append(body)
        state.keys.append(request.headers.get("authorization"))
        state.now += 1
        state.most = max(state.most, state.now)
        try:
            await asyncio.sleep(0.02)
            fault = state.always or (state.faults.pop(0) if state.faults else "")
            if fault == "slow":
                await asyncio.sleep(1.5)
            return answer(fault, body, request)
        finally:
            state.now -= 1

    return app


def answer(fault: str, body: dict[str, Any], request: Request) -> Any:
    if fault.isdigit():
        key = request.headers.get("authorization")
        return JSONResponse({"error": {"message": f"fault {key}"}}, int(fault))
    if fault == "drip":
        return StreamingResponse(drips(), media_type="application/json")
    if fault == "html":
        return PlainTextResponse("<html>gateway</html>", media_type="text/html")
    if fault == "broken_json":
        return PlainTextResponse('{"choices": [', media_type="application/json")
    if fault == "no_choices":
        return {**completion("x"), "choices": []}
    if fault == "null_choices":
        return {**completion("x"), "choices": None}
    if fault == "other_json":
        return ["surprise"]
    if fault == "null_text":
        return completion(None)
    if fault == "number_text":
        return completion(3)
    content = body["messages"][-1]["content"]
    text = content if isinstance(content, str) else content[-1]["text"]
    return completion(f"echo {text} {body['seed']}")


async def drips() -> AsyncIterator[bytes]:
    """A body that never stands still as long as a read may take, and never ends in useful time."""
    for _ in range(100):
        yield b" "
        await asyncio.sleep(0.05)


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, Behaviour]]:
    state = Behaviour()
    config = uvicorn.Config(build_app(state), host="127.0.0.1", port=0, log_level="error")
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    port = running.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}/v1", state
    running.should_exit = True
    thread.join(10)


@pytest.fixture
def state(server: tuple[str, Behaviour]) -> Behaviour:
    server[1].reset()
    return server[1]


@pytest.fixture
def client(server: tuple[str, Behaviour], state: Behaviour):
    def make(**settings: Any) -> OpenAIPolicy:
        return OpenAIPolicy(server[0], "m", pause_s=0.01, **{"timeout_s": 5.0, **settings})

    return make


def test_answers_come_in_order_within_the_limit(client, state, request_for) -> None:
    asked = [request_for(f"q{n}", pictures=0, seed=n) for n in range(12)]
    replies = client(concurrency=3).reply(asked)
    assert [reply.text for reply in replies] == [f"echo q{n} {n}" for n in range(12)]
    assert 2 <= state.most <= 3
    assert replies[0].usage == {"prompt_tokens": 7, "completion_tokens": 3}
    sent = next(body for body in state.seen if body["seed"] == 4)
    assert (sent["model"], sent["temperature"], sent["max_tokens"]) == ("m", 1.0, 12)


def test_pictures_travel_as_data_urls(client, state, tmp_path: Path) -> None:
    pixels = np.full((4, 6, 3), (200, 10, 60), np.uint8)
    cv2.imwrite(str(tmp_path / "a.jpg"), pixels)
    cv2.imwrite(str(tmp_path / "b.bmp"), pixels)
    content = [{"type": "image"}] * 3 + [{"type": "text", "text": "?"}]
    images = [ImageRef("a.jpg"), ImageRef("b.bmp"), pixels]
    client(pictures=Pictures(tmp_path)).reply(
        [ChatRequest([{"role": "user", "content": content}], images)]
    )
    urls = [part["image_url"]["url"] for part in state.seen[0]["messages"][0]["content"][:3]]
    assert [url.split(",")[0] for url in urls] == [
        "data:image/jpeg;base64",
        "data:image/png;base64",
        "data:image/png;base64",
    ]


@pytest.mark.parametrize("fault", ["500", "503", "429", "408"])
def test_passing_faults_are_retried(client, state, request_for, fault: str) -> None:
    state.faults = [fault, fault]
    reply = client(attempts=3).reply([request_for(pictures=0)])[0]
    assert reply.text is not None
    assert len(state.seen) == 3


def test_retries_are_bounded(client, state, request_for) -> None:
    state.always = "500"
    reply = client(attempts=3).reply([request_for(pictures=0)])[0]
    assert reply.text is None
    assert "InternalServerError" in reply.error
    assert len(state.seen) == 3


@pytest.mark.parametrize("fault", ["400", "401", "404", "422"])
def test_what_will_not_pass_is_not_retried(client, state, request_for, fault: str) -> None:
    state.always = fault
    reply = client(attempts=3).reply([request_for(pictures=0)])[0]
    assert reply.text is None
    assert len(state.seen) == 1


@pytest.mark.parametrize(
    ("fault", "outage"),
    [
        ("401", True),
        ("402", True),
        ("403", True),
        ("404", True),
        ("429", True),
        ("503", True),
        ("html", True),
        ("broken_json", True),
        ("400", False),
        ("413", False),
        ("422", False),
        ("null_text", False),
    ],
)
def test_a_server_that_gives_nothing_is_no_failure_of_the_model(
    client, state, request_for, fault: str, outage: bool
) -> None:
    """No quota, no key, no such model: scored, every route after it would be the policy's failure."""
    state.always = fault
    reply = client(attempts=1).reply([request_for(pictures=0)])[0]
    assert reply.error
    assert reply.outage is outage


@pytest.mark.parametrize(
    "fault",
    [
        "html",
        "broken_json",
        "no_choices",
        "null_choices",
        "other_json",
        "null_text",
        "number_text",
    ],
)
def test_garbage_is_an_error_and_never_a_text(client, state, request_for, fault: str) -> None:
    state.always = fault
    reply = client(attempts=2).reply([request_for(pictures=0)])[0]
    assert reply.text is None
    assert reply.error
    assert "\n" not in reply.error


@pytest.mark.slow
def test_a_slow_server_times_out(client, state, request_for) -> None:
    state.always = "slow"
    start = time.monotonic()
    reply = client(attempts=2, timeout_s=0.2).reply([request_for(pictures=0)])[0]
    assert "APITimeoutError" in reply.error
    assert time.monotonic() - start < 1.4


def test_a_server_that_drips_times_out(client, state, request_for) -> None:
    state.always = "drip"
    start = time.monotonic()
    reply = client(attempts=1, timeout_s=0.3).reply([request_for(pictures=0)])[0]
    assert "Timeout" in reply.error
    assert time.monotonic() - start < 2.5


def test_nobody_listens(request_for) -> None:
    policy = OpenAIPolicy("http://127.0.0.1:9/v1", "m", attempts=2, pause_s=0.01)
    reply = policy.reply([request_for(pictures=0)])[0]
    assert "APIConnectionError" in reply.error
    assert reply.outage


def test_one_lost_answer_costs_one_answer(client, state, request_for) -> None:
    state.faults = ["400"]
    asked = [request_for(f"q{n}", pictures=0) for n in range(4)]
    replies = client(concurrency=1).reply(asked)
    assert [reply.text is None for reply in replies] == [True, False, False, False]


def test_the_key_comes_from_the_environment_and_stays_secret(
    client, state, request_for, monkeypatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    state.always = "401"
    policy = client()
    reply = policy.reply([request_for(pictures=0)])[0]
    assert state.keys == ["Bearer sk-very-secret"]
    assert "very-secret" not in reply.error
    assert "very-secret" not in str(policy.identity())


def test_the_cache_answers_what_it_knows(client, state, request_for, tmp_path: Path) -> None:
    asked = [request_for("q", seed=1), request_for("q", seed=2)]
    first = client(cache_dir=tmp_path / "c").reply(asked)
    policy = client(cache_dir=tmp_path / "c")
    second = policy.reply([*asked, request_for("q", seed=3), request_for("q", pictures=2)])
    assert [reply.text for reply in second[:2]] == [reply.text for reply in first]
    assert [reply.cached for reply in second] == [True, True, False, False]
    assert policy.cache is not None
    assert policy.cache.hits == 2
    assert len(state.seen) == 4


def test_failures_are_not_cached(client, state, request_for, tmp_path: Path) -> None:
    state.faults = ["400"]
    policy = client(cache_dir=tmp_path)
    assert policy.reply([request_for(pictures=0)])[0].text is None
    assert policy.reply([request_for(pictures=0)])[0].text is not None


def test_a_pickle_in_the_cache_is_refused(client, request_for, tmp_path: Path) -> None:
    client(cache_dir=tmp_path).reply([request_for(pictures=0)])
    with sqlite3.connect(tmp_path / "cache.db") as database:
        database.execute("UPDATE Cache SET mode = 4, value = ?", (b"cos\nsystem\n(S'false'\ntR.",))
    reply = client(cache_dir=tmp_path).reply([request_for(pictures=0)])[0]
    assert "pickle" in reply.error


def test_a_cache_that_is_a_file_is_refused(client, tmp_path: Path) -> None:
    (tmp_path / "c").write_text("no directory")
    with pytest.raises(BadInput, match="not a usable cache"):
        client(cache_dir=tmp_path / "c")


@pytest.mark.parametrize(
    ("details", "prefilled"),
    [
        ({"cached_tokens": 5}, 2),
        ({"cached_tokens": 8}, None),
        ({"cached_tokens": -1}, None),
        ({}, None),
    ],
)
def test_what_a_server_reused_was_not_prefilled(details: dict, prefilled: int | None) -> None:
    from openai.types import CompletionUsage

    from driveproof.policy.remote import _usage

    content = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": details}
    used = CompletionUsage.construct(None, **content)
    assert _usage(used).get("prefilled_tokens") == prefilled
