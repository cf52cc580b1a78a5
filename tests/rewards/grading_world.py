"""Rubrics and rollouts of a closed-form scene, and servers that speak the OpenAI protocol."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from driveproof.evaluation.facts import SceneFacts, SignalFact, UserFact
from driveproof.rewards import Rollout

RED = SignalFact("red", 20.0, True)
CAR = UserFact("vehicle", 10.0, 0.2, 3.0, "slower", True)
GOOD = "signal red 20 ahead vehicle 10 slower\nmiddle 10,0 end 14,0"
DECISION = "HIGH_LEVEL_DECISION: direction=straight; speed=decelerate"


def facts(
    key: str = "r", signal: SignalFact | None = RED, ahead: UserFact | None = CAR
) -> SceneFacts:
    """A red light and a slower car, at 8 m/s."""
    signals, users = tuple(s for s in (signal,) if s), tuple(u for u in (ahead,) if u)
    known = frozenset({"agents", "signals"})
    return SceneFacts(key, 8.0, 0.0, "follow", signal, ahead, signals, users, known)


def rollout(
    turn1: str = f"{GOOD}\n{DECISION}",
    *,
    key: str = "r",
    choice: int | None = 2,
    correct: bool = True,
) -> Rollout:
    """A rollout about six options."""
    return Rollout(key, "", turn1, "FINAL_CHOICE: C", choice, correct, 6)


class Protocol:
    """What a scripted server has seen, and how it answers."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.dead_after: int | None = None
        self.answer: Callable[[str], str] = all_met


def all_met(prompt: str) -> str:
    """Every asked field is true."""
    fields = re.search(r"object of the fields ([\w, ]+), each", prompt)
    return json.dumps(dict.fromkeys(fields[1].split(", ") if fields else [], True))


@contextmanager
def scripted_server() -> Iterator[tuple[str, Protocol]]:
    """A server on loopback; once ``dead_after`` requests are answered it cuts every connection, as a killed one does."""
    state, lock = Protocol(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = json.dumps(body["messages"], ensure_ascii=False)
            with lock:
                state.prompts.append(prompt)
                dead = state.dead_after is not None and len(state.prompts) > state.dead_after
            if dead:
                self.close_connection = True
                return
            content = body["messages"][-1]["content"]
            text = content if isinstance(content, str) else content[-1]["text"]
            self._send(completion(state.answer(text)))

        def _send(self, payload: dict[str, Any]) -> None:
            data = json.dumps(payload).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", state
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def completion(text: str) -> dict[str, Any]:
    """A body of the protocol."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


@contextmanager
def served(model: Path, log: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """``transformers serve`` with a model folder: base URL and process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    launcher = Path(__file__).parents[1] / "policy" / "serve_model.py"
    command = [sys.executable, str(launcher), "serve", str(model), "--host", "127.0.0.1"]
    command += ["--port", str(port), "--device", "cpu"]
    with log.open("w") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT)
    try:
        for _ in range(240):
            assert process.poll() is None, log.read_text()[-2000:]
            try:
                if httpx.get(f"http://127.0.0.1:{port}/health", timeout=2).is_success:
                    break
            except httpx.HTTPError:
                time.sleep(0.5)
        else:
            raise AssertionError(f"not up: {log.read_text()[-2000:]}")
        yield f"http://127.0.0.1:{port}/v1", process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
