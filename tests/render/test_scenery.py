"""The scenery of towns: roads lie open, crosswalks and marks on them, houses beside."""

from __future__ import annotations

import numpy as np
import pytest

from driveproof.maps import LaneKind, TownMap, load_town
from driveproof.render.buildings import SUNK_M, town_blocks
from driveproof.render.labels import Label
from driveproof.render.light import Numbers, light_of, named_light
from driveproof.render.mesh import Mesh, join
from driveproof.render.raster import Lens, Raster
from driveproof.render.scenery import Scenery, scenery_of
from driveproof.render.view import Weather


@pytest.fixture(scope="module", params=["Town03", "Town04"])
def hilly(request: pytest.FixtureRequest) -> TownMap:
    return load_town(request.param)


def seen_from_above(scenery: Scenery, x: float, y: float, z: float) -> tuple[Raster, Mesh]:
    """100 m by 100 m around a place at five pixels a metre, from 400 m above the road."""
    axes = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
    lens = Lens(np.array([x, y, z + 400.0]), axes, 2000.0, 500, 500)
    mesh = join(scenery.ground_around(x, y, 90.0, z))
    raster = Raster(lens)
    raster.draw(mesh)
    return raster, mesh


def test_no_grass_grows_over_roads(hilly: TownMap) -> None:
    """From above, the middle of every driving lane is road or paint, at the height of the lane."""
    lanes = hilly.lanes
    driving = (lanes.kind == LaneKind.DRIVING)[lanes.lane_of_point] & (lanes.width > 2.0)
    scenery = scenery_of(hilly)
    rng = np.random.default_rng(4)
    for row in rng.choice(np.flatnonzero(driving), 6, replace=False).tolist():
        x, y, z = lanes.centre[row].tolist()
        raster, mesh = seen_from_above(scenery, x, y, z)
        near = driving & (np.abs(lanes.centre[:, :2] - (x, y)) < 40.0).all(1)
        points = lanes.centre[near & (np.abs(lanes.centre[:, 2] - z) < 3.0)]
        pixels, depth = raster.lens.project(points)
        column, line = pixels.astype(int).T
        label = mesh.label[raster.ids[line, column]]
        covered = np.isin(label, [Label.ROAD, Label.ROAD_LINE])
        assert covered.mean() > 0.99
        gap = depth - 1.0 / raster.inverse[line, column]  # other lanes cross a little above
        assert np.median(np.abs(gap)) < 0.03
        assert gap.min() > -0.1  # between samples lanes bend


def test_crosswalks_are_painted_where_the_map_has_them() -> None:
    town = load_town("Town03")
    scenery = scenery_of(town)
    outline = town.crosswalks[0]
    middle = outline.mean(0)
    raster, mesh = seen_from_above(scenery, *middle.tolist())
    pixels, _ = raster.lens.project(outline)
    low, high = np.floor(pixels.min(0)).astype(int), np.ceil(pixels.max(0)).astype(int)
    patch = raster.ids[low[1] : high[1], low[0] : high[0]]
    share = (mesh.label[patch] == Label.ROAD_LINE).mean()
    assert 0.2 < share < 0.8


def test_blocks_stand_on_the_ground_of_their_street(hilly: TownMap) -> None:
    blocks = town_blocks(hilly)
    assert blocks is town_blocks(hilly)
    scenery = scenery_of(hilly)
    ground = scenery.road_heights(blocks.poses[:, :2])
    assert np.percentile(np.abs(ground - blocks.base), 95) < SUNK_M
    assert (blocks.sizes > 3.0).all()


def test_light_follows_sun_and_weather() -> None:
    noon, night = (named_light(weather, (0.5, 0.8)) for weather in (Weather.CLEAR, Weather.NIGHT))
    assert noon.night == 0.0
    assert night.night == 1.0
    assert sum(night.ambient) < 0.5 * sum(noon.ambient)
    assert noon.sun == pytest.approx(
        (np.cos(0.5) * np.cos(0.8), np.sin(0.5) * np.cos(0.8), np.sin(0.8))
    )
    assert named_light(Weather.FOG, (0.5, 0.8)).fog_m < 60.0 < noon.fog_m
    assert named_light(Weather.RAIN, (0.5, 0.8)).wet > 0.5
    up, away = np.array([[0.0, 0.0, 1.0]]), np.array([[0.0, 0.0, -1.0]])
    grey = np.full((1, 3), 100.0)
    assert (noon.lit(grey, up, [False]) > noon.lit(grey, away, [False])).all()
    assert noon.lit(grey, away, [True]).tolist() == grey.tolist()
    assert light_of(Numbers(fog_density=float("nan"), sun_azimuth_angle=float("inf"))) == light_of(
        Numbers()
    )
