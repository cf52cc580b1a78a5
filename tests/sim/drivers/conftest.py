"""Fixtures of the drivers' tests."""

from __future__ import annotations

import pytest
from driving_plain import Plain

from driveproof.maps import TownMap, load_town


@pytest.fixture(scope="session")
def town01() -> TownMap:
    """A town, for what needs one."""
    return load_town("Town01")


@pytest.fixture
def plain(town01: TownMap) -> Plain:
    """An empty plain."""
    return Plain(town01)
