"""A decision across the wire: what six cameras cost by each way, and what remains without pictures."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import uvicorn

from driveproof.policy import DriveObservation, PolicySettings, open_driver
from driveproof.policy.drivers import RandomKeys
from driveproof.policy.wire.serve import bind
from driveproof.policy.wire.server import build_app
from driveproof.policy.wire.service import Service
from driveproof.prompts.inputs import ALL_CAMERAS


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    listener = bind("127.0.0.1", 0, "")
    app = build_app(Service(RandomKeys(), None, RandomKeys))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


@pytest.mark.parametrize("carrier", ["shared", "bytes", "none"])
def test_a_decision(benchmark: Any, url: str, carrier: Any) -> None:
    views = () if carrier == "none" else ALL_CAMERAS
    settings = PolicySettings(carrier=None if carrier == "none" else carrier)
    driver: Any = open_driver(f"wire:{url}", settings)
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(0.0, 2.0, (900, 1600, 3)), axis=1) + 128.0
    picture = np.clip(walk, 0, 255).astype(np.uint8)
    driver.begin("1_rep0", 0)
    frames = iter(range(10**6))

    def decide() -> None:
        frame = next(frames)
        seen = DriveObservation(frame, 0.5 * frame, {view: [picture] for view in views}, 5.0)
        assert not driver.decide(seen).error

    benchmark.pedantic(decide, rounds=10 if views else 100, warmup_rounds=2)
    driver.close()
