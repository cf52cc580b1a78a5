"""A tiny random model, and servers that speak the OpenAI protocol."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from driveproof.policy import ChatRequest
from driveproof.policy.tiny import build_tiny_vlm

WORDS = "You drive. Look at the pictures. HIGH_LEVEL_DECISION: direction=left; speed=keep FINAL_CHOICE: A"


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an untrained model of the Qwen3-VL family."""
    folder = tmp_path_factory.mktemp("models") / "tiny"
    build_tiny_vlm(folder, [WORDS], hidden=32, layers=2, heads=2, vision_hidden=32, seed=3)
    _stir(folder / "model.safetensors")
    return folder


def _stir(weights: Path) -> None:
    """Make the layers speak louder than the token before: else an untrained model repeats a line break."""
    tensors = load_file(weights)
    for name, tensor in tensors.items():
        if "language_model" in name and name.endswith(("o_proj.weight", "down_proj.weight")):
            tensors[name] = 40.0 * tensor
    save_file(tensors, weights, metadata={"format": "pt"})


def ask_for(
    text: str = "Look at the pictures.", pictures: int = 1, **sampling: float
) -> ChatRequest:
    """A request with random pictures."""
    rng = np.random.default_rng(len(text) + pictures)
    images = [rng.integers(0, 255, (48, 64, 3)).astype(np.uint8) for _ in range(pictures)]
    content = [*({"type": "image"} for _ in images), {"type": "text", "text": text}]
    values = {"max_tokens": 12, "temperature": 1.0, "seed": 1, **sampling}
    return ChatRequest([{"role": "user", "content": content}], images, **values)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def request_for():
    """:func:`ask_for`."""
    return ask_for


def free_port() -> int:
    """A port nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def served_model(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of ``transformers serve`` with the tiny model: the real server."""
    port = free_port()
    log = tmp_path_factory.mktemp("serve") / "log.txt"
    launcher = Path(__file__).with_name("serve_model.py")
    command = [sys.executable, str(launcher), "serve", str(tiny_model)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    with log.open("w") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT)
    try:
        for _ in range(240):
            if process.poll() is not None:
                pytest.fail(f"transformers serve ended: {log.read_text()[-2000:]}")
            try:
                if httpx.get(f"http://127.0.0.1:{port}/health", timeout=2).is_success:
                    break
            except httpx.HTTPError:
                time.sleep(0.5)
        else:
            pytest.fail(f"transformers serve is not up: {log.read_text()[-2000:]}")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
