"""How long a clip takes, and a tick with fifty vehicles, client and server together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from driveproof.collect.campaign import Simulator
from driveproof.collect.clips import ClipTask
from driveproof.config.collect import CollectParams
from driveproof.sim.client import Session


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as opened:
        yield opened


@pytest.fixture
def fifty(simulator: Simulator) -> Session:
    session = simulator.session
    session.load_town("Town03")
    for point in session.carla_map.get_spawn_points()[:50]:
        pose = point.location.x, -point.location.y, -math.radians(point.rotation.yaw)
        session.spawn_vehicle("vehicle.lincoln.mkz_2020", pose, speed=5.0)
    session.tick()
    return session


def test_tick_with_fifty_vehicles(benchmark: Any, fifty: Session) -> None:
    """Target: at most 1.25 ms."""
    benchmark(fifty.tick)


def test_reading_the_state_of_fifty_vehicles(benchmark: Any, fifty: Session) -> None:
    """Target: at most 0.3 ms of the tick."""
    snapshot = fifty.world.get_snapshot()
    assert len(benchmark(fifty._reader.actors, snapshot)) == 50


def test_a_clip_of_ten_seconds(benchmark: Any, simulator: Simulator, tmp_path: Path) -> None:
    params = CollectParams(towns=("Town01",), seconds=10.0)
    task = ClipTask(0, "TurnLeft", 0, params, tmp_path)
    assert benchmark.pedantic(simulator.record, (task,), rounds=3, warmup_rounds=1).clip
