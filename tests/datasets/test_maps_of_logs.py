"""Maps that come with logs: what the readers take from them, derive, and refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from driveproof.datasets import av2_map, gpudrive_map, scenarionet_map, waymo_pb2, womd_map
from driveproof.datasets.map_shapes import (
    crossing,
    following,
    junctions_of,
    polyline,
    ribbon,
    rings_of,
    roadway,
)
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.scene import LightState
from driveproof.scene.log_map import LaneLights, MapLane

TIMES = np.arange(3) * 0.1


def along(*points: tuple[float, float]) -> Float:
    return np.array(points, np.float64)


def holds(rings: tuple[Float, ...], x: float, y: float) -> bool:
    return any(shapely.Polygon(ring).covers(shapely.Point(x, y)) for ring in rings)


# ---- shapes


def test_a_ribbon_is_as_wide_as_told() -> None:
    ring = ribbon(along((0, 0), (10, 0)), 2.0, 1.0)
    assert shapely.Polygon(ring).area == pytest.approx(30.0)
    assert shapely.Polygon(ring).bounds == pytest.approx((0.0, -1.0, 10.0, 2.0))


def test_areas_with_holes_become_rings_without_them() -> None:
    area = shapely.box(0, 0, 100, 40)
    for x in (20, 50, 80):
        area = shapely.difference(area, shapely.box(x, 10, x + 5, 20))
    rings = rings_of(area)
    shapes = [shapely.Polygon(ring) for ring in rings]
    assert all(shape.is_valid and not shape.interiors for shape in shapes)
    assert sum(shape.area for shape in shapes) == pytest.approx(area.area)
    assert not holds(rings, 52.5, 15.0)
    assert holds(rings, 52.5, 30.0)


def test_a_roadway_ends_at_its_edges_and_is_open_where_they_have_a_gap() -> None:
    lane = along((0, 0), (100, 0))
    kerb, far = along((0, -2), (100, -2)), along((0, 4), (60, 4))
    rings = roadway([lane], [kerb, far])
    assert holds(rings, 50.0, -1.9)
    assert not holds(rings, 50.0, -2.1)
    assert holds(rings, 30.0, 3.9)
    assert holds(rings, 80.0, 5.5)  # the edge has ended: nothing says that one may not
    assert not holds(rings, 80.0, 6.5)
    driveway = along((40, -8), (50, -8), (50, -2), (40, -2))
    assert holds(roadway([lane], [kerb], [driveway]), 45.0, -5.0)
    assert roadway([], [kerb]) == ()


def test_junctions_are_where_lanes_cross_as_far_as_one_may_drive() -> None:
    east, north = along((0, 0), (40, 0)), along((20, -20), (20, 20))
    merging = along((0, 10), (40, 0))
    assert crossing([east, north]) == {0, 1}
    assert crossing([east, merging]) == set()  # they touch at the end
    lanes = [MapLane(str(n), c, ribbon(c), True) for n, c in enumerate((east, north))]
    drivable = (along((-5, -30), (45, -30), (45, 5), (-5, 5)),)
    hull = junctions_of(lanes, drivable)
    assert holds(hull, 10.0, 3.0)
    assert not holds(hull, 18.5, 15.0)
    assert junctions_of([MapLane("2", east, ribbon(east))], ()) == ()


def test_a_lane_follows_where_another_ends_and_goes_on_its_way() -> None:
    lines = [
        along((0, 0), (10, 0)),
        along((10.2, 0), (20, 0)),
        along((10, 0), (10, 9)),
        along((10, 0), (0, 0)),
    ]
    assert following(lines) == [(1,), (), (), ()]


@pytest.mark.parametrize("bad", [[(0, 0)], [(0, 0), (0, 0)], [(0, 0), (np.nan, 1)]])
def test_a_line_needs_two_distinct_finite_points(bad: list[tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match=r"point|finite"):
        polyline(bad)


# ---- Argoverse 2


def points(*rows: tuple[float, float]) -> list[dict[str, float]]:
    return [{"x": x, "y": y, "z": 0.0} for x, y in rows]


def av2_document() -> dict[str, Any]:
    lane = {
        "id": 1,
        "is_intersection": False,
        "lane_type": "VEHICLE",
        "left_lane_boundary": points((0, 4), (20, 4), (40, 4)),
        "right_lane_boundary": points((0, 0), (40, 0)),
        "successors": [2],
    }
    inside = {**lane, "id": 2, "is_intersection": True, "successors": []}
    inside |= {
        "left_lane_boundary": points((40, 4), (60, 4)),
        "right_lane_boundary": points((40, 0), (60, 0)),
    }
    bike = {**lane, "id": 3, "lane_type": "BIKE"}
    return {
        "drivable_areas": {
            "7": {"id": 7, "area_boundary": points((-5, -1), (70, -1), (70, 5), (-5, 5))}
        },
        "lane_segments": {"1": lane, "2": inside, "3": bike},
        "pedestrian_crossings": {
            "5": {"id": 5, "edge1": points((30, 0), (30, 4)), "edge2": points((33, 0), (33, 4))}
        },
    }


def av2_file(folder: Path, document: Any) -> Path:
    path = folder / "log_map_archive_x.json"
    path.write_text(json.dumps(document))
    return path


def test_an_argoverse_archive(tmp_path: Path) -> None:
    path = av2_file(tmp_path, av2_document())
    assert av2_map.find_map(tmp_path) == path
    found = av2_map.read_map(path)
    assert [lane.id for lane in found.lanes] == ["1", "2"]
    first, inside = found.lanes
    assert first.successors == ("2",)
    assert (first.in_junction, inside.in_junction) == (False, True)
    np.testing.assert_allclose(first.centre[[0, -1]], [[0, 2], [40, 2]])
    assert shapely.Polygon(first.outline).area == pytest.approx(160.0)
    assert shapely.Polygon(found.crosswalks[0]).area == pytest.approx(12.0)
    assert holds(found.junctions, 50.0, 2.0)
    assert found.lights is None
    assert any("no traffic lights" in note for note in found.notes)


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda d: d.pop("lane_segments"), "lane_segments"),
        (lambda d: d["lane_segments"]["1"].pop("successors"), "lane_segments.1.*successors"),
        (lambda d: d["lane_segments"]["2"].update(left_lane_boundary=points((0, 0))), "lane_segments.2"),
        (lambda d: d["drivable_areas"]["7"].update(area_boundary=points((0, 0), (float("nan"), 1))), "7.area_boundary.*not finite"),
        (lambda d: d.update(drivable_areas=[]), "malformed"),
        (lambda d: d["drivable_areas"]["7"].update(area_boundary=points((0, 0), (9, 0), (5, 0))), "7.area_boundary.*encloses no area"),
        (lambda d: d["lane_segments"]["1"].update(right_lane_boundary=points((0, 4), (40, 4))), "lane_segments.1.*encloses no area"),
    ],
)  # fmt: skip
def test_a_spoiled_archive_is_named(tmp_path: Path, spoil: Any, problem: str) -> None:
    document = av2_document()
    spoil(document)
    with pytest.raises(BadInput, match=problem):
        av2_map.read_map(av2_file(tmp_path, document))


def test_a_truncated_archive_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log_map_archive_x.json"
    path.write_text(json.dumps(av2_document())[:-200])
    with pytest.raises(BadInput, match="not JSON"):
        av2_map.read_map(path)


# ---- Waymo motion


def womd_scenario() -> waymo_pb2.Scenario:
    scenario = waymo_pb2.Scenario(scenario_id="s")

    def line(target: Any, *rows: tuple[float, float]) -> None:
        for x, y in rows:
            target.add(x=x, y=y)

    lane = scenario.map_features.add(id=1)
    line(lane.lane.polyline, (0, 0), (20, 0), (40, 0))
    lane.lane.type, lane.lane.speed_limit_mph = 2, 25.0
    lane.lane.exit_lanes.append(2)
    lane.lane.left_boundaries.add(lane_start_index=0, lane_end_index=1, boundary_feature_id=4)
    onward = scenario.map_features.add(id=2)
    line(onward.lane.polyline, (40, 0), (60, 0))
    bike = scenario.map_features.add(id=3)
    line(bike.lane.polyline, (0, -3), (40, -3))
    bike.lane.type = womd_map.BIKE_LANE
    border = scenario.map_features.add(id=4)
    line(border.road_line.polyline, (0, 2), (60, 2))
    edge = scenario.map_features.add(id=5)
    line(edge.road_edge.polyline, (-5, -4), (70, -4))
    for state in (4, 7, 6):
        scenario.dynamic_map_states.add().lane_states.add(lane=2, state=state)
    return scenario


def test_a_waymo_scenario() -> None:
    found = womd_map.read_map(womd_scenario(), TIMES, Path("f"), "record 0")
    assert [lane.id for lane in found.lanes] == ["1", "2"]
    first, onward = found.lanes
    assert first.speed_limit == pytest.approx(11.176)
    assert np.isnan(onward.speed_limit)
    assert first.successors == ("2",)
    assert (first.in_junction, onward.in_junction) == (False, True)  # it has a light
    left = first.outline[:3, 1]
    np.testing.assert_allclose(
        left, [2.0, 2.0, 1.75]
    )  # the border is named for the first two points
    assert holds(found.drivable, 30.0, -3.9)
    assert not holds(found.drivable, 30.0, -4.1)
    assert found.lights is not None
    # a flashing red light is a stop sign
    assert found.lights.states == {"2": (LightState.RED, LightState.OFF, LightState.GREEN)}
    assert any("no drivable area in the source" in note for note in found.notes)


def test_a_waymo_feature_with_a_nan_is_named() -> None:
    scenario = womd_scenario()
    scenario.map_features[0].lane.polyline[1].x = float("nan")
    with pytest.raises(BadInput, match="map_features 1: malformed: a coordinate is not finite"):
        womd_map.read_map(scenario, TIMES, Path("f"), "record 0")


def test_lights_are_looked_up_by_time() -> None:
    lights = LaneLights(TIMES, {"a": (LightState.RED, LightState.GREEN, LightState.GREEN)})
    assert lights.at("a", 0.04) is LightState.RED
    assert lights.at("a", 9.0) is LightState.GREEN
    assert lights.at("b", 0.0) is LightState.UNKNOWN
    assert LaneLights(np.zeros(0), {"a": ()}).at("a", 0.0) is LightState.UNKNOWN


# ---- ScenarioNet


def scenarionet_scenario() -> dict[str, Any]:
    surface = [[0, -2], [40, -2], [40, 2], [0, 2]]
    ring = [[-5, -3], [70, -3], [70, 9], [-5, 9], [-5, -3]]
    hole = [[10, 4], [20, 4], [20, 6], [10, 6], [10, 4]]
    return {
        "map_features": {
            "a": {"type": "LANE_SURFACE_STREET", "polyline": [(0, 0, 0), (40, 0, 0)], "polygon": surface},
            "b": {"type": "LANE_SURFACE_STREET", "polyline": [(40.1, 0, 0), (60, 0, 0)]},
            "boundary_0": {"type": "ROAD_LINE_SOLID_SINGLE_WHITE", "polyline": ring},
            "boundary_1": {"type": "ROAD_LINE_SOLID_SINGLE_WHITE", "polyline": hole},
        },
        "dynamic_map_states": {},
    }  # fmt: skip


def test_a_scenarionet_scenario_of_nuscenes() -> None:
    found = scenarionet_map.read_map(scenarionet_scenario(), TIMES, Path("f"))
    lane, connector = found.lanes
    assert (lane.in_junction, connector.in_junction) == (False, True)
    assert lane.successors == ("b",)
    assert holds(found.drivable, 30.0, 5.0)
    assert not holds(found.drivable, 15.0, 5.0)  # a ring inside a ring is a hole
    assert found.lights is None


def test_a_scenarionet_scenario_with_lights_and_edges() -> None:
    scenario = scenarionet_scenario()
    features = scenario["map_features"]
    features["a"]["exit_lanes"] = ["z"]
    features["boundary_0"] = {"type": "ROAD_EDGE_BOUNDARY", "polyline": [[0, -3], [70, -3]]}
    del features["boundary_1"]
    scenario["dynamic_map_states"] = {
        "b": {"lane": "b", "state": {"object_state": ["TRAFFIC_LIGHT_RED", "LANE_STATE_GO"]}}
    }
    found = scenarionet_map.read_map(scenario, TIMES, Path("f"))
    assert found.lanes[0].successors == ("z",)
    assert not holds(found.drivable, 30.0, -3.1)
    assert found.lights is not None
    assert found.lights.states["b"] == (LightState.RED, LightState.GREEN, LightState.UNKNOWN)
    features["b"]["polyline"] = [(0, 0), (np.inf, 1)]
    with pytest.raises(BadInput, match=r"map_features\[b\]"):
        scenarionet_map.read_map(scenario, TIMES, Path("f"))
    features["b"] = {"polyline": [(0, 0), (1, 1)]}
    with pytest.raises(BadInput, match="f: lacks 'type'"):
        scenarionet_map.read_map(scenario, TIMES, Path("f"))


# ---- GPUDrive


def test_a_gpudrive_scenario() -> None:
    roads = [
        {"type": "lane", "id": 1, "map_element_id": 2, "geometry": points((0, 0), (40, 0))},
        {"type": "lane", "id": 2, "map_element_id": 2, "geometry": points((40, 0), (60, 0))},
        {"type": "lane", "id": 3, "map_element_id": 3, "geometry": points((0, -3), (40, -3))},
        {"type": "road_edge", "id": 4, "geometry": points((-5, -4), (70, -4))},
        {"type": "driveway", "id": 5, "geometry": points((5, -9), (9, -9), (9, -4), (5, -4))},
        {"type": "stop_sign", "id": 6, "geometry": points((1, 1))},
    ]
    found = gpudrive_map.read_map({"roads": roads}, Path("f"))
    assert [(lane.id, lane.successors) for lane in found.lanes] == [("1", ("2",)), ("2", ())]
    assert holds(found.drivable, 30.0, -3.9)
    assert not holds(found.drivable, 30.0, -4.1)
    assert holds(found.drivable, 7.0, -6.0)
    assert found.lights is None
    roads[1]["geometry"] = points((40, 0), (float("inf"), 0))
    with pytest.raises(BadInput, match=r"roads\[1\]: malformed: a coordinate is not finite"):
        gpudrive_map.read_map({"roads": roads}, Path("f"))
    with pytest.raises(BadInput, match="roads: lacks 'type'"):
        gpudrive_map.read_map({"roads": [{}]}, Path("f"))
