"""How long the world takes for a step of 50 moving vehicles, and for a town to become a world."""

from __future__ import annotations

import numpy as np

from driveproof.maps import load_town
from driveproof.sim.blueprints import library
from driveproof.sim.engine import Engine, Pose3, SpawnBlocked, VehicleControl


def busy_town(vehicles: int) -> Engine:
    """Town10HD with vehicles of all kinds that roll along their lanes."""
    town = load_town("Town10HD")
    engine = Engine(town, library())
    kinds = [name for name in library() if name.startswith("vehicle.")]
    rng = np.random.default_rng(0)
    driving = town.lanes.of_kind(1)
    while len(engine.vehicles) < vehicles:
        lane = int(rng.choice(driving))
        point = int(rng.integers(town.lanes.offset[lane], town.lanes.offset[lane + 1]))
        pose = Pose3(*town.lanes.centre[point].tolist(), yaw=float(town.lanes.heading[point]))
        try:
            vehicle = engine.spawn(kinds[len(engine.vehicles) % len(kinds)], {}, pose)
        except SpawnBlocked:
            continue
        vehicle.control = VehicleControl(throttle=0.4)  # type: ignore[attr-defined]
    for _ in range(20):
        engine.step(0.05)
    return engine


def test_step_of_50_vehicles(benchmark) -> None:  # type: ignore[no-untyped-def]
    engine = busy_town(50)
    benchmark.pedantic(engine.step, args=(0.05,), rounds=200, warmup_rounds=10)


def test_birth_of_a_world(benchmark) -> None:  # type: ignore[no-untyped-def]
    town = load_town("Town10HD")
    benchmark(lambda: Engine(town, library()))
