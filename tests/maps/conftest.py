"""The two small towns, derived once a session."""

from __future__ import annotations

import pytest

from driveproof.maps import TownMap, find_town, town_from_opendrive
from driveproof.maps.sources import package_directory


def _town(name: str) -> TownMap:
    if package_directory() is None:
        pytest.skip("the CARLA towns (py123d) are not installed")
    return town_from_opendrive(name, find_town(name))


@pytest.fixture(scope="session", params=["Town01", "Town10HD"])
def town(request: pytest.FixtureRequest) -> TownMap:
    return _town(request.param)


@pytest.fixture(scope="session")
def town10() -> TownMap:
    return _town("Town10HD")
