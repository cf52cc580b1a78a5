"""The expert drives by its own keys on the embedded server; ``benchmarks/expert_routes.py`` drives thirty routes."""

from __future__ import annotations

import pytest

from driveproof.commenter.astray import come_back
from driveproof.commenter.live import ExpertKeys
from driveproof.scene import LightState
from driveproof.sim.client import Session
from driveproof.sim.drivers import Roads
from driveproof.sim.scenarios import run_scenario


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["Accident", "ParkingExit", "VehicleTurningRoute", "VanillaNonSignalizedTurnEncounterStopsign"],
)
def test_a_route_without_infraction(session: Session, name: str) -> None:
    result = run_scenario(session, name, ExpertKeys(), seed=5, town="Town03")
    assert (result.driver, result.kinds, result.completion) == ("keys", (), 1.0)


@pytest.mark.slow
def test_put_astray_it_comes_back(session: Session) -> None:
    session.freeze_lights()
    session.set_lights(dict.fromkeys(session.state.lights, LightState.GREEN))
    roads = Roads(session.town)
    results = [come_back(session, roads, seed) for seed in range(4)]
    assert all(result.good for result in results), results
    assert max(abs(result.turned) for result in results) > 1.0
