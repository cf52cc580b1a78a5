"""Every scenario with both drivers: who ignores everybody fails as declared, the expert passes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from driveproof.sim.client import ServerHandle, Session
from driveproof.sim.scenarios import SCENARIOS, Moments, as_declared, run_scenario

pytestmark = pytest.mark.slow

BY_TOWN = sorted(SCENARIOS, key=lambda name: (SCENARIOS[name].towns[0], name))


@pytest.fixture
def world(carla_server: ServerHandle) -> Iterator[Session]:
    """A session in whatever town the test before left: scenarios load their own."""
    with Session.open(carla_server.host, carla_server.port) as session:
        yield session


@pytest.mark.parametrize("name", BY_TOWN)
def test_the_oblivious_driver_fails_as_declared_and_the_expert_passes(name, world) -> None:
    town = SCENARIOS[name].towns[0]
    moments = Moments()
    oblivious = run_scenario(world, name, "oblivious", 0, town, moments)
    assert oblivious.kinds == (SCENARIOS[name].fails.value,), oblivious.infractions
    assert as_declared(oblivious)
    published = [number for ids in oblivious.roles.values() for number in ids]
    assert len(set(published)) == len(published)
    seen = {number for state in moments.states for number in state.actors}
    assert set(published) <= seen, "every role actor was in the world"
    others = {
        actor.id
        for state in moments.states
        for actor in state.actors.values()
        if actor.id != moments.ego_id
    }
    assert others == set(published), "and nobody else"
    expert = run_scenario(world, name, "expert", 0, town)
    assert expert.infractions == ()
    assert expert.completion == 1.0
    assert expert.passed
    assert as_declared(expert)
    assert not world.tick().of_kind("vehicle"), "the stage is cleared"


def test_the_same_seed_gives_the_same_performance(world) -> None:
    runs = [run_scenario(world, "StaticCutIn", "expert", 4, "Town03") for _ in range(2)]
    assert runs[0].seconds == runs[1].seconds
    assert runs[0].place == runs[1].place
    other = run_scenario(world, "StaticCutIn", "expert", 5, "Town03")
    assert other.place != runs[0].place
