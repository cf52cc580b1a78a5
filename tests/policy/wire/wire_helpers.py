"""A policy server in a thread of the test, and policies that can misbehave."""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import uvicorn

from driveproof.policy import ChatReply, ChatRequest, DriveDecision, DriveObservation, Pedals
from driveproof.policy.wire.serve import bind
from driveproof.policy.wire.server import build_app
from driveproof.policy.wire.service import Limits, Service


class Echo:
    """A model that says what it was asked and what it saw; it can be slow, fail, or count."""

    name = "echo"

    def __init__(self) -> None:
        self.slow_s = 0.0
        self.fails = False
        self.seen: list[ChatRequest] = []

    def identity(self) -> dict[str, Any]:
        return {"kind": "echo", "revision": "1"}

    def reply(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        time.sleep(self.slow_s)
        self.seen += requests
        if self.fails:
            raise RuntimeError("the model fell over")
        return [said(request) for request in requests]


def said(request: ChatRequest) -> ChatReply:
    """Everything that an answer may depend on, in one text."""
    digests = [hashlib.sha256(np.asarray(image).tobytes()).hexdigest() for image in request.images]
    text = [request.messages, digests, request.max_tokens, request.temperature, request.top_p]
    return ChatReply(repr([*text, request.seed, request.schema]), usage={"prompt_tokens": 3})


class Counter:
    """A driver whose throttle counts its decisions of the episode, in hundredths."""

    name, views, history = "counter", ("CAM_FRONT", "CAM_BACK"), 2
    slow_s = 0.0

    def __init__(self) -> None:
        self.count = 0
        self.seen: list[DriveObservation] = []

    def identity(self) -> dict[str, Any]:
        return {"kind": "counter"}

    def begin(self, episode: str, seed: int) -> None:
        self.count = 0
        self.episode = episode

    def decide(self, observation: DriveObservation) -> DriveDecision:
        time.sleep(self.slow_s)
        self.seen.append(observation)
        self.count += 1
        pedals = Pedals(self.count / 100, 0.0, 0.0)
        return DriveDecision(controls=pedals, trace={"episode": self.episode}, usage={"n": 1})


Server = Callable[..., str]


@contextlib.contextmanager
def serving() -> Iterator[Server]:
    """Serve policies: ``start(policy, limits, again, token)`` gives the URL."""
    running: list[tuple[uvicorn.Server, threading.Thread, Service]] = []

    def start(policy: Any, limits: Limits | None = None, again: Any = None, token: str = "") -> str:
        service = Service(policy, limits, again)
        listener = bind("127.0.0.1", 0, "")
        config = uvicorn.Config(build_app(service, token), log_level="error", lifespan="off")
        config.timeout_graceful_shutdown = 1
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        running.append((server, thread, service))
        while not server.started:
            time.sleep(0.01)
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for server, _, _ in running:
        server.should_exit = True
    for _, thread, service in running:
        thread.join(10)
        service.desk.close()


def pixels(number: int, height: int = 24, width: int = 32) -> Any:
    rng = np.random.default_rng(number)
    return rng.integers(0, 255, (height, width, 3)).astype(np.uint8)


def asked(text: str = "what now?", pictures: int = 1, **values: Any) -> ChatRequest:
    """A request with random pictures."""
    content = [*({"type": "image"} for _ in range(pictures)), {"type": "text", "text": text}]
    messages = [{"role": "user", "content": content}]
    return ChatRequest(messages, [pixels(n) for n in range(pictures)], **values)


@contextlib.contextmanager
def closing(policy: Any) -> Iterator[Any]:
    """Close a client at the end."""
    try:
        yield policy
    finally:
        policy.close()
