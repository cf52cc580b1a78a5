"""Route files: reading, hostile input, names, writing, the dense way and the linter."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from driveproof.errors import BadInput
from driveproof.maps import load_town
from driveproof.scene import Command
from driveproof.sim.routes import (
    ABILITIES,
    FindingKind,
    Place,
    RouteSpec,
    ScenarioSpec,
    WeatherKey,
    canonical,
    dense_route,
    lint,
    lint_routes,
    match_positions,
    parse_routes,
    parse_text,
    write_routes,
)

ROUTE = """<routes><route id="7" town="Town01">
  <weathers><weather route_percentage="0" sun_altitude_angle="90"/>
            <weather route_percentage="100" sun_altitude_angle="-10" cloudiness="20"/></weathers>
  <waypoints><position x="1" y="2" z="3"/><position x="3" y="2" z="3"/></waypoints>
  <scenarios><scenario name="A_1" type="Accident">
    <trigger_point x="1" y="2" z="3" yaw="90"/><distance value="44"/><direction value="left"/>
    <frequency from="30" to="60"/><end_actor_flow x="5" y="6" z="7"/></scenario></scenarios>
</route></routes>"""


def kinds(found) -> Counter[str]:
    return Counter(finding.kind for finding in found)


def test_everything_of_a_route_is_read_right_handed() -> None:
    (route,) = parse_text(ROUTE)
    assert (route.key, route.town, route.findings) == ("7", "Town01", ())
    assert route.positions.tolist() == [[1.0, -2.0, 3.0], [3.0, -2.0, 3.0]]
    (scenario,) = route.scenarios
    assert scenario.trigger.heading == pytest.approx(-math.pi / 2)
    assert scenario.parameters == {
        "distance": 44.0,
        "direction": "left",
        "frequency": (30.0, 60.0),
        "end_actor_flow": Place(5.0, -6.0, 7.0),
    }
    assert route.weather(0.5) == {"sun_altitude_angle": 40.0, "cloudiness": 20.0}


def test_a_misspelled_tag_is_read_by_its_attributes_and_reported() -> None:
    (route,) = parse_text(
        ROUTE.replace('<weather route_percentage="0"', '<wether route_percentage="0"')
    )
    assert len(route.weathers) == 2
    assert kinds(route.findings) == {FindingKind.MISSPELLED_TAG: 1}
    (route,) = parse_text(ROUTE.replace("position", "posision"))
    assert len(route.positions) == 2
    assert kinds(route.findings) == {FindingKind.MISSPELLED_TAG: 2}


def test_names_without_meaning_are_reported_and_not_fatal() -> None:
    (route,) = parse_text(ROUTE.replace('type="Accident"', 'type="Acident"'))
    assert kinds(route.findings) == {FindingKind.UNKNOWN_SCENARIO: 1}
    (route,) = parse_text(ROUTE.replace('type="Accident"', 'type="TJunction"'))
    assert route.scenarios[0].type == "T_Junction"
    assert kinds(route.findings) == {FindingKind.ALIAS: 1}
    bare = ROUTE[: ROUTE.index("<weathers>")] + ROUTE[ROUTE.index("</weathers>") + 11 :]
    assert kinds(parse_text(bare)[0].findings) == {FindingKind.MISSING_WEATHER: 1}


BOMB = '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><routes>&b;</routes>'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BOMB, "hostile"),
        ('<!DOCTYPE r SYSTEM "file:///etc/passwd"><routes/>', "hostile"),
        (ROUTE[:200], "not XML"),
        ("", "not XML"),
        ("<roads/>", "no route file"),
        ("<routes/>", "holds no route"),
        (ROUTE.replace('x="1"', 'x="nan"'), "position 1.x"),
        (ROUTE.replace('x="3"', 'x="inf"'), "position 2.x"),
        (ROUTE.replace('y="2"', 'y="two"', 1), "position 1.y"),
        (ROUTE.replace('z="3"', "", 1), "position 1.z: is missing"),
        (ROUTE.replace('value="44"', 'value="nan"'), "distance.value"),
        (ROUTE.replace('value="44"', 'value="4,4"'), "distance.value"),
        (ROUTE.replace('from="30"', 'from="90"'), "from is larger"),
        (ROUTE.replace('cloudiness="20"', 'cloudiness="1e400"'), "weather 2.cloudiness"),
        (ROUTE.replace('id="7"', ""), "id: is missing"),
        (ROUTE.replace("waypoints", "points"), "no position"),
    ],
)
def test_bad_files_are_refused_by_file_and_field(text, says, tmp_path) -> None:
    path = tmp_path / "r.xml"
    path.write_text(text)
    with pytest.raises(BadInput, match=says) as caught:
        parse_routes(path)
    assert str(path) in str(caught.value)


def test_absent_and_huge_files_are_refused(tmp_path, monkeypatch) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        parse_routes(tmp_path / "none.xml")
    monkeypatch.setattr("driveproof.sim.routes.parse.MAX_BYTES", 100)
    path = tmp_path / "big.xml"
    path.write_text(ROUTE)
    with pytest.raises(BadInput, match="larger than"):
        parse_routes(path)
    monkeypatch.undo()
    monkeypatch.setattr("driveproof.sim.routes.parse.MAX_POSITIONS", 1)
    with pytest.raises(BadInput, match="more than 1 positions"):
        parse_routes(path)


numbers = st.integers(-9_000_000, 9_000_000).map(lambda n: n / 1000.0)
places = st.builds(Place, numbers, numbers, numbers, st.none() | st.floats(-3.1, 3.1))
parameters = st.dictionaries(
    st.sampled_from(["distance", "direction", "flow_speed", "end_actor_flow", "frequency"]),
    numbers
    | st.sampled_from(["left", "static.prop.chair"])
    | places
    | st.tuples(numbers, numbers).map(lambda pair: (min(pair), max(pair))),
    max_size=4,
)


@pytest.mark.slow
@given(
    st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=5),
    st.lists(st.tuples(st.sampled_from(sorted(ABILITIES)), places, parameters), max_size=3),
    st.lists(st.dictionaries(st.sampled_from(["cloudiness", "wetness"]), numbers), max_size=2),
)
def test_what_is_written_is_read_again(tmp_path_factory, positions, scenarios, weathers) -> None:
    specs = tuple(
        ScenarioSpec(f"s{i}", name, name, Place(p.x, p.y, p.z, p.heading or 0.0), values)
        for i, (name, p, values) in enumerate(scenarios)
    )
    keys = tuple(WeatherKey(float(i), values) for i, values in enumerate(weathers))
    route = RouteSpec("a b", "Town01", np.array(positions), specs, keys)
    path = tmp_path_factory.mktemp("routes") / "r.xml"
    write_routes([route], path)
    (again,) = parse_routes(path)
    assert again.positions == pytest.approx(route.positions, abs=1e-3)
    assert again.weathers == keys
    for one, other in zip(again.scenarios, specs, strict=True):
        assert (one.name, one.type) == (other.name, other.type)
        assert one.parameters.keys() == other.parameters.keys()
        for key, value in other.parameters.items():
            if isinstance(value, Place):
                assert one.parameters[key].pose == pytest.approx(value.pose, abs=1e-3)
                assert (one.parameters[key].heading is None) == (value.heading is None)
            else:
                assert one.parameters[key] == value


def test_spellings_lead_to_one_name() -> None:
    assert len(ABILITIES) == 44
    for spelling in ("TJunction", "T_Junction", "t junction", "tjunction"):
        assert canonical(spelling) == "T_Junction"
    assert canonical("LaneChange") == "SequentialLaneChange"
    assert canonical("") is None
    assert canonical("Breakfast") is None


def lane_line(town, lane: int, low: float, high: float, step: float = 2.0) -> np.ndarray:
    part = town.lanes.points(lane)
    arc = np.arange(low, high, step)
    return np.stack(
        [np.interp(arc, town.lanes.arc[part], town.lanes.centre[part, k]) for k in range(3)], axis=1
    )


def changing_lanes(town) -> tuple[int, int]:
    lanes = town.lanes
    for lane in lanes.of_kind(1).tolist():
        left = int(lanes.left[lane])
        straight = np.ptp(np.unwrap(lanes.heading[lanes.points(lane)])) < 0.02
        if (
            lanes.left_same[lane]
            and lanes.kind[left] == 1
            and lanes.length[lane] > 150
            and straight
        ):
            return lane, left
    raise AssertionError("no such lanes")


def test_a_lane_change_happens_where_the_positions_change_lanes() -> None:
    town = load_town("Town04")
    right, left = changing_lanes(town)
    ways = [lane_line(town, right, 10.0, 80.0), lane_line(town, left, 85.0, 140.0)]
    route = dense_route(np.concatenate(ways), town)
    assert np.abs(np.diff(route.line.arc) - 1.0).max() < 0.75
    turned = np.abs(np.diff(np.unwrap(route.line.heading(route.line.arc[:-1]))))
    assert turned.max() < np.radians(12.0), "the step aside is stretched"
    changing = route.line.arc[route.commands == Command.CHANGE_LEFT]
    assert set(route.commands) == {Command.CHANGE_LEFT, Command.FOLLOW}
    assert changing.min() == pytest.approx(71.5 - 12.5, abs=2.0)
    assert changing.max() == pytest.approx(71.5 + 12.5, abs=2.0)


def test_a_hop_over_a_junction_is_filled_with_its_turn() -> None:
    town = load_town("Town03")
    lanes = town.lanes
    entry, inner, after = next(
        (lane, inner, after)
        for junction in town.junctions.values()
        for lane in junction.entries
        for inner in lanes.successors(lane).tolist()
        for after in lanes.successors(inner).tolist()
        if lanes.length[lane] > 40 and lanes.length[after] > 25
    )
    length = float(lanes.length[entry])
    ways = [lane_line(town, entry, length - 30.0, length - 4.0)]
    ways.append(lane_line(town, after, 2.0, 20.0))
    route = dense_route(np.concatenate(ways), town)
    assert {entry, inner, after} <= set(route.lanes.tolist())
    inside = route.commands[route.lanes == inner]
    assert len(set(inside.tolist())) == 1
    assert inside[0] in (1, 2, 3)
    announced = route.line.arc[route.commands == inside[0]]
    start = route.line.arc[route.lanes == inner][0]
    assert start - announced.min() == pytest.approx(20.0, abs=1.5)


def test_positions_that_no_road_joins_are_refused() -> None:
    town = load_town("Town01")
    with pytest.raises(BadInput, match="two positions"):
        dense_route(np.zeros((1, 3)), town)
    with pytest.raises(BadInput, match="same place"):
        dense_route(np.tile(town.lanes.centre[:1], (3, 1)), town)


def test_the_linter_finds_what_was_broken() -> None:
    town = load_town("Town01")
    lane = int(np.argmax(np.where(town.lanes.kind == 1, town.lanes.length, 0.0)))
    good = lane_line(town, lane, 5.0, 105.0)
    trigger = Place(*good[3], 0.0)
    spec = ScenarioSpec("A_1", "Accident", "Accident", trigger, {})
    route = RouteSpec("1", "Town01", good, (spec,))
    assert lint(route, town) == []
    assert kinds(lint(route, town, written=())) == {FindingKind.NOT_WRITTEN: 1}
    off = good.copy()
    off[10, :2] += 30.0
    assert kinds(lint(RouteSpec("1", "Town01", off), town))[FindingKind.OFF_ROAD] == 1
    far = ScenarioSpec("A_1", "Accident", "Accident", Place(*(good[3] + 50.0), 0.0), {})
    assert kinds(lint(RouteSpec("1", "Town01", good, (far,)), town)) == {
        FindingKind.TRIGGER_OFF_ROUTE: 1
    }
    hop = np.delete(good, slice(10, 20), axis=0)
    assert kinds(lint(RouteSpec("1", "Town01", hop), town)) == {FindingKind.HOP: 1}
    nowhere = RouteSpec("1", "Atlantis", good)
    ((_, found),) = lint_routes([nowhere])
    assert kinds(found) == {FindingKind.UNKNOWN_TOWN: 1}


@pytest.mark.shared
def test_the_files_of_bench2drive_and_carla_parse(shared_dir: Path) -> None:
    folder = shared_dir / "data" / "fixtures"
    routes = parse_routes(folder / "bench2drive" / "bench2drive220.xml")
    assert len(routes) == 220
    assert sum(len(route.positions) for route in routes) == 9112
    types = Counter(scenario.type for route in routes for scenario in route.scenarios)
    assert types == dict.fromkeys(ABILITIES, 5)
    assert all(route.findings == () for route in routes)
    misspelled = 0
    files = sorted((folder / "carla").rglob("*.xml"))
    assert len(files) >= 30
    for path in files:
        found = kinds(f for route in parse_routes(path) for f in route.findings)
        misspelled += found[FindingKind.MISSPELLED_TAG]
        assert not found[FindingKind.UNKNOWN_SCENARIO], path
    assert misspelled == 24, "weathis_juncer, once a file of the garage"


@pytest.mark.slow
@pytest.mark.shared
def test_positions_of_the_small_towns_lie_on_their_lanes_and_jumps_are_listed(shared_dir) -> None:
    routes = parse_routes(shared_dir / "data/fixtures/bench2drive/bench2drive220.xml")
    small = [r for r in routes if r.town in ("Town01", "Town02", "Town03", "Town05", "Town10HD")]
    assert len(small) == 28 + 4
    for route, found in lint_routes(small):
        town = load_town(route.town)
        assert match_positions(route.positions, town).distance.max() < 2.0
        assert set(kinds(found)) <= {FindingKind.HOP}
        way = dense_route(route.positions, town)
        assert np.abs(way.line.project(route.positions[:, :2])[1]).max() < 2.5


@pytest.mark.shared
@pytest.mark.slow
def test_all_positions_lie_on_lanes_and_23658_jumps(shared_dir) -> None:
    routes = parse_routes(shared_dir / "data/fixtures/bench2drive/bench2drive220.xml")
    jumps = []
    for route, found in lint_routes(routes):
        assert set(kinds(found)) <= {FindingKind.HOP, FindingKind.SIDEWAYS_JUMP}
        jumps += [route.key for f in found if f.kind is FindingKind.SIDEWAYS_JUMP]
    assert jumps == ["23658"]


def test_the_command_lints_converts_and_shows(tmp_path) -> None:
    from driveproof.cli.routes import app

    town = load_town("Town01")
    lane = int(np.argmax(np.where(town.lanes.kind == 1, town.lanes.length, 0.0)))
    good = lane_line(town, lane, 5.0, 65.0)
    spec = ScenarioSpec("E_1", "CutIn", "CutIn", Place(*good[3], 0.0), {})
    off = good.copy()
    off[5, :2] += 40.0
    write_routes([RouteSpec("1", "Town01", good, (spec,))], tmp_path / "good.xml")
    write_routes([RouteSpec("2", "Town01", off)], tmp_path / "off.xml")
    runner = CliRunner()
    done = runner.invoke(app, ["lint", str(tmp_path / "good.xml"), "--json"])
    assert done.exit_code == 0
    (row,) = json.loads(done.stdout)
    assert [f["kind"] for f in row["findings"]] == ["missing_weather", "scenario_not_written"]
    assert runner.invoke(app, ["lint", str(tmp_path / "good.xml"), "--strict"]).exit_code == 1
    assert runner.invoke(app, ["lint", str(tmp_path / "off.xml")]).exit_code == 1
    both, out = [str(tmp_path / "good.xml"), str(tmp_path / "off.xml")], str(tmp_path / "out.xml")
    assert (
        runner.invoke(app, ["convert", *both, "--scenario", "cut in", "--out", out]).exit_code == 0
    )
    assert [route.key for route in parse_routes(out)] == ["1"]
    shown = json.loads(runner.invoke(app, ["show", *both, "--json"]).stdout)
    assert [row["positions"] for row in shown] == [30, 30]
