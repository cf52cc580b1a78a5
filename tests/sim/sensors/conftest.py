"""Worlds in a flat and in a hilly town."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sensor_world import FLAT, HILLY, World, build_world

from driveproof.maps import TownMap, load_town


@pytest.fixture(scope="session")
def towns() -> dict[str, TownMap]:
    return {name: load_town(name) for name in (FLAT, HILLY)}


@pytest.fixture
def build(towns: dict[str, TownMap]) -> Callable[[str], World]:
    """Builds a world in a town."""
    return lambda name: build_world(towns[name], hilly=name == HILLY)


@pytest.fixture
def world(build: Callable[[str], World]) -> World:
    """A world in the flat town."""
    return build(FLAT)
