"""Bench2Drive's own suite, and where its routes meet their first junction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_records import Kind, record

from driveproof.evaluation.driving.junctions import with_junctions
from driveproof.evaluation.driving.route_score import Variant
from driveproof.evaluation.driving.scores import driving_scores
from driveproof.evaluation.driving.suite import expected_of, unknown_types
from driveproof.maps import TownMap, load_town
from driveproof.sim.routes import RouteSpec, parse_routes


@pytest.mark.slow
@pytest.mark.shared
def test_218_of_220_routes_as_the_published_files_have_them(shared_dir: Path) -> None:
    suite = expected_of(parse_routes(shared_dir / "data/fixtures/bench2drive/bench2drive220.xml"))
    assert len(suite) == 220
    assert unknown_types(suite) == ()
    missing = {suite[0].route_id, suite[7].route_id}
    there = [
        record(one.route_id, scenarios=one.scenarios, town=one.town)
        for one in suite
        if one.route_id not in missing
    ]
    peer = driving_scores(there, suite, Variant.BENCH2DRIVE)
    assert peer.driving_score.mean == pytest.approx(100.0 * 218 / 220)
    assert peer.ability_mean.mean == 100.0  # the missing ones are left out
    ours = driving_scores(there, suite)
    assert ours.driving_score.mean == 100.0
    assert {one.route_id for one in ours.lost} == missing
    tested = sum(found.n + found.lost for found in ours.abilities.values())
    assert tested == sum(len(one.abilities) for one in suite)


@pytest.fixture(scope="module")
def town() -> TownMap:
    return load_town("Town05")


def test_the_first_junction_comes_from_the_route_file_and_the_map(town: TownMap) -> None:
    route = town.random_route(np.random.default_rng(2), 300.0)
    inside = np.flatnonzero(town.lanes.is_junction[route.lanes])
    begin = float(route.line.arc[inside[0]])
    points = np.column_stack([route.line.points, route.z])
    apart = ~town.lanes.is_junction[route.lanes]
    apart[0] = True
    spec = RouteSpec("1", "Town05", points[apart][::2])
    asked: list[str] = []

    def towns(name: str) -> TownMap:
        asked.append(name)
        return town

    signs = ("BlockedIntersection",)
    hit = record("1", Kind.COLLISION_VEHICLE, scenarios=signs)
    (found,) = with_junctions([hit], [spec], towns)
    assert found.first_junction is not None
    assert found.first_junction[0] == pytest.approx(begin, abs=3.0)
    assert found.first_junction[1] > found.first_junction[0]
    for other in (record("1", scenarios=signs), record("1", Kind.RED_LIGHT, scenarios=signs)):
        assert with_junctions([other], [spec], towns) == (other,)  # it changes nothing there
    assert asked == ["Town05"]
