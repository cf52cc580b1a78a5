"""The same drivers through the real ``carla`` client, on the embedded server."""

from __future__ import annotations

import numpy as np
import pytest

from driveproof.sim.client import Session
from driveproof.sim.drivers import Drivers, ExpertDriver, Reason, Traffic
from driveproof.sim.drivers.engine_world import EngineWorld
from driveproof.sim.drivers.fleet import EGO


def drive(world: Session | EngineWorld, ticks: int) -> tuple[list[tuple[float, float]], int]:
    """Places of an expert's car, and how many others there were at the end."""
    drivers = Drivers(world)
    rng = np.random.default_rng(4)
    route = world.town.random_route(rng, 300.0)
    start = (*route.line.at(3.0).tolist(), float(route.line.heading(3.0)))
    ego = world.spawn_vehicle(EGO, start, float(route.z[0]))
    expert = ExpertDriver(drivers, ego, route)
    traffic = Traffic(world, drivers, ego.id, rng, count=4)
    state = world.tick()
    places = []
    for _ in range(ticks):
        traffic.step(state)
        world.apply(drivers.decide(state))
        state = world.tick()
        places.append((state.actors[ego.id].x, state.actors[ego.id].y))
    assert expert.decision.reason in Reason
    world.destroy([ego.id, *traffic.own])
    return places, len(traffic.own)


def test_an_expert_drives_through_a_server_as_it_does_on_the_bare_engine(session: Session) -> None:
    served, others = drive(session, 60)
    assert others >= 2
    assert np.hypot(*(np.array(served[-1]) - served[0])) > 5.0
    bare, _ = drive(EngineWorld.of(session.town, delta_s=session.delta_s), 60)
    # controls travel as single precision, and cars are put down 0.2 m above the ground
    assert served[-1] == pytest.approx(bare[-1], abs=0.5)
