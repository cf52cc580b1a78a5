"""How long a step of the world takes, and a whole clip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from driveproof.collect.recorder import ClipTask, record_clip, roads_of
from driveproof.collect.situations import SITUATIONS
from driveproof.collect.staging import Stage, seeded
from driveproof.config.collect import CollectParams


def test_step_with_fifteen_vehicles(benchmark: Any) -> None:
    """Target: at most 1.5 ms."""
    roads = roads_of("Town03")

    def fresh() -> tuple[tuple[Any, ...], dict[str, Any]]:
        world = SITUATIONS["FreeDrive"].setup(Stage(roads, seeded(0, "benchmark"), traffic=15))
        for _ in range(20):
            world.step(0.1)
        return (world,), {}

    def hundred_steps(world: Any) -> None:
        for _ in range(100):
            world.step(0.1)

    benchmark.pedantic(hundred_steps, setup=fresh, rounds=5)


def test_a_clip_of_ten_seconds(benchmark: Any, tmp_path: Path) -> None:
    params = CollectParams(towns=("Town01",), seconds=10.0)
    task = ClipTask(0, "TurnLeft", 0, params, tmp_path)
    assert benchmark.pedantic(record_clip, (task,), rounds=3, warmup_rounds=1).clip
