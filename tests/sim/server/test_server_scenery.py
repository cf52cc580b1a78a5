"""Standing things of a town, rays among them, and cars that run into them."""

from __future__ import annotations

import numpy as np
import pytest

from driveproof.maps import LaneKind, SignalKind, TownMap, load_town
from driveproof.render.labels import Label
from driveproof.sim.blueprints import library
from driveproof.sim.engine import Engine, Pose3
from driveproof.sim.server.scenery import Scenery, building_boxes


@pytest.fixture(scope="module")
def town() -> TownMap:
    return load_town("Town10HD")


@pytest.fixture
def engine(town: TownMap) -> Engine:
    return Engine(town, library(), statics=building_boxes(town))


@pytest.fixture
def scenery(engine: Engine) -> Scenery:
    return Scenery(engine, engine.ground)


def test_things_are_numbered_and_of_their_labels(town: TownMap, scenery: Scenery) -> None:
    assert [thing.key for thing in scenery.things] == list(range(1, len(scenery.things) + 1))
    assert len(scenery.of_label(Label.BUILDING)) == len(building_boxes(town))
    lights = [s for s in town.signals if s.kind is SignalKind.TRAFFIC_LIGHT]
    assert len(scenery.of_label(Label.TRAFFIC_LIGHT)) == len(lights)
    assert len(scenery.of_label(255)) == len(scenery.things)
    for signal in lights:
        (head,) = scenery.heads(signal.key)
        assert np.allclose([head.pose.x, head.pose.y, head.pose.z], signal.position)


def test_a_ray_meets_a_wall_where_it_stands(town: TownMap, scenery: Scenery) -> None:
    box = building_boxes(town)[0]
    ahead = np.array([np.cos(box.heading), np.sin(box.heading), 0.0])
    centre = np.array([box.x, box.y, box.z])
    start = centre - (box.half_x + 2.0) * ahead
    hit = scenery.project(start, 5.0 * ahead, 50.0)
    assert hit is not None
    assert hit.label == Label.BUILDING
    assert hit.distance == pytest.approx(2.0, abs=1e-6)
    assert scenery.project(start, ahead, 1.9) is None


def test_a_falling_ray_meets_the_road_or_the_car_on_it(engine: Engine, scenery: Scenery) -> None:
    lanes = engine.town.lanes
    place = lanes.centre[lanes.points(int(lanes.of_kind(LaneKind.DRIVING)[0]))][5]
    up = np.array([0.0, 0.0, 20.0])
    hit = scenery.project(place + up, np.array([0.0, 0.0, -1.0]), 40.0)
    assert hit is not None
    assert hit.label == Label.ROAD
    assert hit.distance == pytest.approx(20.0, abs=0.05)
    x, y, z = place.tolist()
    engine.spawn("vehicle.tesla.model3", pose=Pose3(x, y, z))
    labels = [h.label for h in scenery.cast(place + up, place - (0.0, 0.0, 1.0))]
    assert labels == [Label.CAR, Label.ROAD]


@pytest.mark.parametrize(
    ("start", "way", "reach"),
    [((np.nan, 0, 0), (0, 0, -1), 10), ((0, 0, 9), (0, 0, 0), 10), ((0, 0, 9), (0, 0, 1), 10)],
)
def test_rays_without_sense_or_into_the_sky_meet_nothing(
    scenery: Scenery, start: tuple[float, ...], way: tuple[float, ...], reach: float
) -> None:
    assert scenery.project(np.array(start), np.array(way), reach) is None


def test_cars_run_into_buildings(engine: Engine, town: TownMap) -> None:
    box = building_boxes(town)[3]
    side = np.array([-np.sin(box.heading), np.cos(box.heading)])
    x, y = np.array([box.x, box.y]) + (box.half_y + 6.0) * side
    toward = float(np.arctan2(-side[1], -side[0]))
    z = engine.ground_height(x, y)
    car = engine.spawn("vehicle.audi.tt", pose=Pose3(x, y, z, yaw=toward))
    car.velocity = (-10.0 * side[0], -10.0 * side[1], 0.0)
    hits = []
    for _ in range(40):
        engine.step(0.05)
        hits += [c for c in engine.collisions if c.actor_id == car.id]
    assert hits
    assert hits[0].other_id == 0
    assert abs(car.speed) < 5.0
