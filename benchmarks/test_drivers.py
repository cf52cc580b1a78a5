"""What a decision of all drivers costs: an expert among traffic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from driveproof.maps import load_town
from driveproof.sim.drivers import Drivers, ExpertDriver, Roads, Traffic
from driveproof.sim.drivers.engine_world import EngineWorld
from driveproof.sim.drivers.fleet import EGO


@pytest.mark.parametrize("count", [13, 50])
def test_decisions_of_an_expert_among_traffic(benchmark: Any, count: int) -> None:
    """Target: at most 1.2 ms a driver; extra_info holds how many drove in the end."""
    town = load_town("Town03")
    roads = Roads(town)
    world = EngineWorld.of(town, delta_s=0.1)
    drivers = Drivers(world, roads)
    rng = np.random.default_rng(1)
    route = town.random_route(rng, 600.0)
    start = (*route.line.at(3.0).tolist(), float(route.line.heading(3.0)))
    ego = world.spawn_vehicle(EGO, start, float(route.z[0]))
    ExpertDriver(drivers, ego, route)
    traffic = Traffic(world, drivers, ego.id, rng, count=count - 1)

    def advance() -> None:
        traffic.step(world.state)
        world.apply(drivers.decide(world.state))
        world.tick()

    world.tick()
    for _ in range(20):
        advance()
    benchmark.pedantic(lambda: drivers.decide(world.state), setup=advance, rounds=100)
    benchmark.extra_info["drivers"] = len(drivers.driven)
