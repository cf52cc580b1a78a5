"""Worlds on roads of which everything is known."""

from __future__ import annotations

import pytest
from engine_roads import CROSSWALK, SIGNALS, straight_road, town_of

from driveproof.maps import TownMap, load_town
from driveproof.sim.blueprints import BlueprintLibrary, library
from driveproof.sim.engine import Engine, FlatGround


@pytest.fixture(scope="session")
def street() -> TownMap:
    """600 m along x: a crosswalk at 100, a light at 200, a stop sign at 300, a speed sign at 400."""
    return town_of(straight_road(extra=CROSSWALK + SIGNALS))


@pytest.fixture(scope="session")
def town10() -> TownMap:
    return load_town("Town10HD")


@pytest.fixture(scope="session")
def catalogue() -> BlueprintLibrary:
    return library()


@pytest.fixture
def plain(street: TownMap, catalogue: BlueprintLibrary) -> Engine:
    """The street's world on flat ground."""
    return Engine(street, catalogue, ground=FlatGround())
