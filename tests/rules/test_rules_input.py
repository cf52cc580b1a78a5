"""Broken input gets one clear line or a stated validity, never a silent 1.0."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rules_examples import Doc, car, cruise, score, street, with_plans
from typer.testing import CliRunner

from driveproof.cli.score import app
from driveproof.errors import BadInput
from driveproof.rules import aggregate_file, case_of, read_case

NAN = float("nan")


@pytest.fixture
def doc() -> Doc:
    doc = with_plans(street(), p=cruise(8.0))
    doc["agents"] = [car("a", 60.0, 0.0)]
    return doc


def _set(*path: str | int, value: object) -> Callable[[Doc], None]:
    def change(doc: Doc) -> None:
        part: object = doc
        for key in path[:-1]:
            part = part[key]  # type: ignore[index]
        part[path[-1]] = value  # type: ignore[index]

    return change


BROKEN = {
    "nan pose": (_set("proposals", 0, "poses", 3, value=[1.0, NAN, 0.0]), "not finite"),
    "short plan": (_set("proposals", 0, "poses", value=[[1.0, 0.0, 0.0]] * 7), "end before"),
    "no pose": (_set("proposals", 0, "poses", value=[]), "end before"),
    "zero dt": (_set("proposals", 0, "dt", value=0.0), "positive"),
    "world frame": (_set("proposals", 0, "frame", value="world"), "proposals.0.frame"),
    "no plan": (_set("proposals", value=[]), "no proposal"),
    "flat agent": (_set("agents", 0, "width", value=0.0), "width must be positive"),
    "nan agent": (_set("agents", 0, "states", 5, value=[NAN] * 5), r"states\[5\]"),
    "short track": (_set("agents", 0, "states", value=[[1.0] * 5] * 20), "20 states"),
    "unknown agent": (_set("agents", 0, "type", value="ufo"), "unknown type"),
    "flat polygon": (
        _set("map", "polygons", 0, "exterior", value=[[0, 0], [1, 1], [2, 2], [3, 3]]),
        "without area",
    ),
    "two corners": (
        _set("map", "polygons", 0, "exterior", value=[[0, 0], [9, 0]]),
        "three corners",
    ),
    "nan polygon": (
        _set("map", "polygons", 0, "exterior", 1, value=[NAN, 0.0]),
        "not finite",
    ),
    "unknown polygon": (_set("map", "polygons", 0, "type", value="SEA"), "map.polygons.0.type"),
    "one-point centreline": (_set("map", "centerline", value=[[0, 0, 0]]), "two distinct"),
    "nan ego": (_set("ego", "vx", value=NAN), "ego"),
    "no wheel base": (_set("vehicle", "wheel_base", value=0.0), "wheel_base"),
    "short past": (_set("ego_history", 0, "t", value=-1.2), "-1.5"),
    "unordered past": (_set("ego_history", 2, "t", value=-1.2), "ascend"),
    "other schema": (_set("schema", value="golden/9"), "schema"),
    "other rate": (_set("num_poses", value=50), "expected 40"),
    "short light": (
        _set("traffic_lights", value=[{"lane_connector_id": "here", "red": [True] * 9}]),
        "9 states",
    ),
    "early frame": (
        _set("previous_frame", value={"t": -1.0, "ego": street()["ego"], "proposals": {}}),
        "0.55",
    ),
    "no earlier plan": (
        _set("previous_frame", value={"t": -0.5, "ego": street()["ego"], "proposals": {}}),
        "default",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_cases_are_refused(doc: Doc, name: str) -> None:
    change, message = BROKEN[name]
    change(doc)
    with pytest.raises(BadInput, match=message):
        case_of(json.dumps(doc))


def test_a_light_needs_a_lane_only_if_it_is_on_the_route(doc: Doc) -> None:
    doc["traffic_lights"] = [{"lane_connector_id": "x", "red": [True] * 41}]
    assert score(doc).row(0)["TLC"] == 1.0
    doc["map"]["route_lane_ids"].append("x")
    with pytest.raises(BadInput, match="no lane"):
        case_of(json.dumps(doc))


def test_two_plans_of_one_name_and_two_agents_of_one_token(doc: Doc) -> None:
    twice = copy.deepcopy(doc)
    twice["proposals"].append(twice["proposals"][0])
    with pytest.raises(BadInput, match="same name"):
        case_of(json.dumps(twice))
    doc["agents"].append(doc["agents"][0])
    with pytest.raises(BadInput, match="twice"):
        case_of(json.dumps(doc))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": 3}', "\x00", '{"schema": "x"', "null"])
def test_what_is_no_case_is_refused_with_its_path(tmp_path: Path, text: str) -> None:
    path = tmp_path / "case.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"case\.json"):
        read_case(path)
    with pytest.raises(BadInput, match=r"case\.json"):
        aggregate_file(path)
    with pytest.raises(BadInput, match="missing"):
        read_case(tmp_path / "missing.json")


def test_without_a_map_nothing_is_claimed(doc: Doc) -> None:
    doc["map"] = {"polygons": [], "route_lane_ids": [], "centerline": []}
    scores = score(doc)
    verdicts = scores.verdicts(0)
    for code in ("DAC", "DDC", "LK", "EP"):
        assert verdicts[code].value is None, code
        assert not verdicts[code].valid
        assert verdicts[code].reason
    assert verdicts["NC"].value == 1.0
    assert scores.row(0)["EPDMS_raw"] is None
    assert json.loads(json.dumps(scores.row(0), allow_nan=False))["DAC"] is None


def test_without_a_map_a_side_contact_stays_unjudged(doc: Doc) -> None:
    doc["agents"] = [car("slider", 1.0, 4.0, vx=8.0, vy=-1.0, heading=0.0)]
    doc["map"] = {"polygons": [], "route_lane_ids": [], "centerline": []}
    assert score(doc).verdicts(0)["NC"].value is None
    assert score(doc, variant="corrected").verdicts(0)["TTC"].value is None
    doc["agents"] = [car("parked", 20.0, 0.0)]
    assert score(doc).row(0)["NC"] == score(doc).row(0)["TTC"] == 0.0


def test_a_ring_that_crosses_itself_is_read_by_the_even_odd_rule_and_named(doc: Doc) -> None:
    doc["map"]["polygons"][0]["exterior"] = [[-60, -1.75], [160, 8.75], [160, -1.75], [-60, 8.75]]
    case = case_of(json.dumps(doc))
    assert case.world.roads.flawed == ("block",)
    verdict = case.score().verdicts(0)["DAC"]
    assert verdict.value == 0.0
    assert "block" in verdict.reason


@pytest.mark.slow
def test_ten_thousand_agents(doc: Doc) -> None:
    rng = np.random.default_rng(0)
    doc["agents"] += [car(f"n{n}", *rng.uniform(200.0, 900.0, 2), vx=1.0) for n in range(10_000)]
    assert score(doc).row(0) == score({**doc, "agents": doc["agents"][:1]}).row(0)


def test_a_plan_longer_than_the_horizon_is_cut(doc: Doc) -> None:
    want = score(doc).row(0)
    doc["proposals"][0]["poses"] += [[99.0, 50.0, 1.0]] * 4
    assert score(doc).row(0) == want


def test_command_prints_the_scores_of_every_proposal(doc: Doc, tmp_path: Path) -> None:
    doc["proposals"].append({**doc["proposals"][0], "name": "q"})
    path, out = tmp_path / "case.json", tmp_path / "out.json"
    path.write_text(json.dumps(doc))
    done = CliRunner().invoke(app, ["epdms", str(path), "--json", "--output", str(out)])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert json.loads(out.read_text()) == result
    assert set(result["street"]) == {"p", "q"}
    row = result["street"]["p"]
    assert row["EC"] is None
    assert [row[code] for code in ("NC", "DAC", "DDC", "TLC", "EP", "TTC", "LK", "HC")] == [1.0] * 8
    detailed = CliRunner().invoke(app, ["epdms", str(path), "--json", "--details"])
    details = json.loads(detailed.stdout)["street"]["p"]["details"]
    assert details["EC"]["reason"] == "there is no previous frame"
    table = CliRunner().invoke(app, ["epdms", str(path)])
    assert "street" in table.stdout


def test_command_writes_nothing_when_a_case_is_broken(doc: Doc, tmp_path: Path) -> None:
    good, bad, out = tmp_path / "good.json", tmp_path / "bad.json", tmp_path / "out.json"
    good.write_text(json.dumps(doc))
    doc["proposals"][0]["poses"][0][0] = NAN
    bad.write_text(json.dumps(doc))
    done = CliRunner().invoke(app, ["epdms", str(good), str(bad), "--output", str(out)])
    assert done.exit_code != 0
    assert isinstance(done.exception, BadInput)
    assert "bad.json: proposals[0]: poses: not finite" in str(done.exception)
    assert not out.exists()
    again = CliRunner().invoke(app, ["epdms", str(good), str(good)])
    assert "was read before" in str(again.exception)


def test_commands_for_v1_and_two_stages(doc: Doc, tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text(json.dumps(doc))
    done = CliRunner().invoke(app, ["pdms", str(path), "--json"])
    assert "reference_trajectory" in str(done.exception)
    path.write_text(json.dumps({**doc, "reference_trajectory": cruise(8.0)}))
    done = CliRunner().invoke(app, ["pdms", str(path), "--json"])
    assert json.loads(done.stdout)["street"]["p"]["PDMS"] == 1.0
    place = {"endpoint": [0.0, 0.0], "start": [0.0, 0.0]}
    rows = {token: {**place, "score": 0.5} for token in "abcd"}
    stages = {"mapping": [["a", "b", [["c", "d"]]]], "rows": rows}
    path.write_text(json.dumps({"schema": "navsim-twostage-golden/1", "cases": [stages]}))
    done = CliRunner().invoke(app, ["two-stage", str(path)])
    assert json.loads(done.stdout)[0]["combined"] == 0.25
    del rows["d"]
    path.write_text(json.dumps({"schema": "navsim-twostage-golden/1", "cases": [stages]}))
    assert "no such frame" in str(CliRunner().invoke(app, ["two-stage", str(path)]).exception)
