"""Spawn points: on driving lanes, apart, along the road, the same every time."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely

from driveproof.maps import LaneKind, TownMap, load_town, town_from_opendrive
from driveproof.sim.blueprints import library
from driveproof.sim.server.spawn_points import MAX_POINTS, spawn_points


@pytest.fixture(scope="module", params=["Town01", "Town04", "Town10HD"])
def town(request: pytest.FixtureRequest) -> TownMap:
    return load_town(request.param)


def test_points_lie_along_driving_lanes_outside_junctions(town: TownMap) -> None:
    points = spawn_points(town)
    places = np.array([[p.x, p.y] for p in points])
    match = town.nearest_lane(places, np.array([p.yaw for p in points]))
    assert (match.distance < 0.05).all()
    assert np.abs(match.heading_error).max() < 0.12  # of a bend within two metres
    assert (town.lanes.junction[match.lane] < 0).all()
    assert (town.lanes.kind[match.lane] == LaneKind.DRIVING).all()
    assert all(abs(p.yaw) <= math.pi and abs(p.pitch) < 0.3 and p.roll == 0.0 for p in points)


@pytest.mark.slow
def test_the_largest_vehicles_fit_on_all_points_at_once(town: TownMap) -> None:
    for blueprint in library().filter("vehicle.*"):
        spec = blueprint.spec
        (x, y, _), (cx, cy, _) = spec.half_extent, spec.box_offset
        corners = np.array(
            [[cx + a * x, cy + b * y] for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))]
        )
        points = spawn_points(town)
        yaw = np.array([p.yaw for p in points])[:, None]
        world = (
            np.stack(
                [
                    corners[:, 0] * np.cos(yaw) - corners[:, 1] * np.sin(yaw),
                    corners[:, 0] * np.sin(yaw) + corners[:, 1] * np.cos(yaw),
                ],
                axis=-1,
            )
            + np.array([[p.x, p.y] for p in points])[:, None]
        )
        boxes = shapely.polygons(world)
        first, second = shapely.STRtree(boxes).query(boxes, predicate="intersects")
        storeys = np.array([p.z for p in points])
        clash = (first < second) & (np.abs(storeys[first] - storeys[second]) < 3.5)
        assert not clash.any(), blueprint.id


def test_points_are_many_and_the_same_every_time(town: TownMap) -> None:
    points = spawn_points(town)
    assert 50 < len(points) <= MAX_POINTS
    assert points == spawn_points(load_town(town.name))


def test_a_town_of_one_short_lane_has_a_point() -> None:
    text = """<OpenDRIVE><header revMajor="1" revMinor="4"/><road name="" length="9" id="1" junction="-1">
    <planView><geometry s="0" x="0" y="0" hdg="0" length="9"><line/></geometry></planView>
    <lanes><laneSection s="0"><center><lane id="0" type="none" level="false"/></center><right>
    <lane id="-1" type="driving" level="false"><width sOffset="0" a="3.5" b="0" c="0" d="0"/></lane>
    </right></laneSection></lanes></road></OpenDRIVE>"""
    (point,) = spawn_points(town_from_opendrive("Tiny", text))
    assert (point.x, point.y) == pytest.approx((4.5, -1.75))
