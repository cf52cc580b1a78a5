"""Signals, junctions, crosswalks, nearest lanes and the cache of the real towns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import shapely

from driveproof.geometry import points_to_local, wrap_angle
from driveproof.maps import LaneKind, SignalKind, TownMap, load_town
from driveproof.maps.cache import cache_path, fetch


def lights(town: TownMap) -> list:
    return [signal for signal in town.signals if signal.kind is SignalKind.TRAFFIC_LIGHT]


def test_stop_lines_lie_across_the_lanes_they_govern(town: TownMap) -> None:
    lanes = town.lanes
    assert len(lights(town)) > 10
    for signal in town.signals:
        assert signal.lanes
        for lane, line, arc in zip(signal.lanes, signal.stop_lines, signal.stop_arcs, strict=True):
            part = lanes.points(lane)
            x, y = (np.interp(arc, lanes.arc[part], lanes.centre[part, k]) for k in (0, 1))
            heading = np.interp(arc, lanes.arc[part], np.unwrap(lanes.heading[part]))
            left, right = points_to_local(line[:, :2], [x, y, heading])
            width = np.interp(arc, lanes.arc[part], lanes.width[part])
            assert left == pytest.approx([0.0, width / 2.0], abs=1e-6)
            assert right == pytest.approx([0.0, -width / 2.0], abs=1e-6)


def test_lights_face_the_traffic_that_enters_their_junction(town: TownMap) -> None:
    lanes = town.lanes
    for light in lights(town):
        for lane in light.lanes:
            end = lanes.points(lane).stop - 1
            assert abs(wrap_angle(lanes.heading[end] + np.pi - light.heading)) < 0.6
            assert light.junction in lanes.junction[lanes.successors(lane)]
            assert lane in town.junctions[light.junction].entries
        assert light.controller
        assert light.position[2] > 2.0


def test_lights_of_one_controller_guard_one_junction(town: TownMap) -> None:
    for controller in {light.controller for light in lights(town)}:
        assert len({s.junction for s in lights(town) if s.controller == controller}) == 1


def test_junction_contains_its_lanes(town: TownMap) -> None:
    for junction in town.junctions.values():
        outline = shapely.Polygon(junction.outline)
        assert outline.exterior.is_ccw
        for lane in junction.lanes:
            middle = town.lanes.polyline(lane).at(town.lanes.length[lane] / 2.0)
            assert outline.buffer(0.1).contains(shapely.Point(middle))


def test_crosswalks_are_those_of_carla(town10: TownMap) -> None:
    theirs = np.array([[p.x, -p.y] for p in town10.carla_map.get_crosswalks()])
    ours = np.concatenate(town10.crosswalks)[:, :2]
    distance = np.linalg.norm(theirs[:, None] - ours[None], axis=-1)
    assert distance.min(axis=1).max() < 0.05


def test_nearest_lane_finds_a_lane_at_its_own_points(town: TownMap) -> None:
    lanes = town.lanes
    rows = np.flatnonzero(
        (lanes.kind == LaneKind.DRIVING)[lanes.lane_of_point]
        & ~lanes.is_junction[lanes.lane_of_point]
    )
    match = town.nearest_lane(lanes.centre[rows, :2], lanes.heading[rows])
    assert np.abs(match.lateral).max() < 1e-6
    assert np.abs(match.heading_error).max() < 1e-6
    inner = (lanes.arc[rows] > 0) & (lanes.arc[rows] < lanes.length[lanes.lane_of_point[rows]])
    assert (match.lane == lanes.lane_of_point[rows])[inner].all()
    assert match.arc[inner] == pytest.approx(lanes.arc[rows][inner], abs=1e-6)


def test_nearest_lane_left_is_positive_and_heading_decides(town: TownMap) -> None:
    lanes = town.lanes
    opposite = lanes.kind[lanes.left] == LaneKind.DRIVING
    chosen = (lanes.kind == LaneKind.DRIVING) & (lanes.left >= 0) & opposite
    chosen &= ~lanes.left_same & ~lanes.is_junction & (lanes.length > 20)
    lane = int(np.flatnonzero(chosen)[0])
    middle = (lanes.points(lane).start + lanes.points(lane).stop) // 2
    heading = lanes.heading[middle]
    normal = np.array([-np.sin(heading), np.cos(heading)])
    point = lanes.centre[middle, :2] + 1.0 * normal
    match = town.nearest_lane(point, heading)
    assert (match.lane[0], match.lateral[0]) == (lane, pytest.approx(1.0, abs=0.02))
    # Just across the line, but still driving our way: an overtaker is on our lane's side of the road.
    across = lanes.centre[middle, :2] + (lanes.width[middle] / 2.0 + 0.5) * normal
    assert town.nearest_lane(across).lane[0] == lanes.left[lane]
    assert town.nearest_lane(across, heading).lane[0] == lane


def test_cache_gives_back_the_same_town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIVEPROOF_CACHE", str(tmp_path))
    first = load_town("Town01")
    path = cache_path(first.name, first.digest)
    written = path.read_bytes()
    second = load_town("Carla/Maps/Town01")
    for name, array in first.lanes.arrays().items():
        assert np.array_equal(array, second.lanes.arrays()[name], equal_nan=array.dtype.kind == "f")
        assert array.dtype == second.lanes.arrays()[name].dtype
    for a, b in zip(first.signals, second.signals, strict=True):
        assert (a.key, a.kind, a.lanes, a.controller, a.junction) == (
            (b.key, b.kind, b.lanes, b.controller, b.junction)
        )
        assert np.array_equal(a.stop_lines, b.stop_lines)
    assert first.junctions.keys() == second.junctions.keys()
    # A broken cache file is derived anew, with the same bytes; another town's is refused.
    path.write_bytes(written[:1000])
    assert fetch(path, first.digest) is None
    load_town("Town01")
    assert path.read_bytes() == written
    assert fetch(path, "0" * 64) is None


def test_no_place_for_a_cache_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DRIVEPROOF_CACHE", str(tmp_path / "file"))
    assert len(load_town("Town01").lanes) == 300


def test_signals_near_are_those_within_reach(town: TownMap) -> None:
    here = town.signals[3].position[:2]
    near = town.signals_near(here, 40.0)
    expected = [s for s in town.signals if np.hypot(*(s.position[:2] - here)) < 40.0]
    assert [signal.key for signal in near] == [signal.key for signal in expected]
    assert 1 <= len(near) < len(town.signals)
