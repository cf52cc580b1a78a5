"""How long a town takes. Required: Town10HD under 2 s, Town12 under 30 s and 2 GB, under 1 s from the cache."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driveproof.maps import find_town, load_town
from driveproof.maps.town import derive


@pytest.mark.parametrize("name", ["Town10HD", "Town12"])
def test_derive(benchmark: Any, name: str) -> None:
    text = find_town(name)
    benchmark.pedantic(derive, (name, text), rounds=1)
    benchmark.extra_info["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


@pytest.mark.parametrize("name", ["Town10HD", "Town12"])
def test_from_cache(
    benchmark: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIVEPROOF_CACHE", str(tmp_path))
    load_town(name)
    benchmark.pedantic(load_town, (name,), rounds=3)


def test_nearest_lane(benchmark: Any) -> None:
    town = load_town("Town10HD")
    points, heading = town.lanes.centre[:1000, :2], town.lanes.heading[:1000]
    town.nearest_lane(points, heading)
    benchmark(town.nearest_lane, points, heading)


def test_random_route(benchmark: Any) -> None:
    town = load_town("Town10HD")
    town.random_route(np.random.default_rng(0), 400.0)
    benchmark(lambda: town.random_route(np.random.default_rng(0), 400.0))
