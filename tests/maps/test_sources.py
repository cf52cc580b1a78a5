"""Where towns come from, and what happens when they are not what they should be."""

from __future__ import annotations

import contextlib
import gzip
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from driveproof.cli.maps import app
from driveproof.errors import BadInput, MissingMap
from driveproof.maps import LaneKind, MarkKind, TownMap, find_town, list_towns, town_from_opendrive

STRAIGHT = """<OpenDRIVE><header/>
<road id="7" length="50" junction="-1"><type s="0"><speed max="50" unit="km/h"/></type>
<planView><geometry s="0" x="0" y="0" hdg="0" length="50"><line/></geometry></planView>
<lanes><laneSection s="0">
<left><lane id="1" type="driving"><width sOffset="0" a="3" b="0" c="0" d="0"/></lane></left>
<center><lane id="0" type="none"><roadMark sOffset="0" type="broken" color="yellow"/></lane></center>
<right><lane id="-1" type="driving"><width sOffset="0" a="4" b="0" c="0" d="0"/></lane></right>
</laneSection></lanes>
<signals><signal id="9" s="30" t="-5" type="206" zOffset="0"/></signals></road></OpenDRIVE>"""


def test_straight_road_in_closed_form() -> None:
    town = town_from_opendrive("Own", STRAIGHT)
    lanes = town.lanes
    east, west = lanes.index(7, 0, -1), lanes.index(7, 0, 1)
    assert lanes.centre[lanes.points(east).start] == pytest.approx([0.0, -2.0, 0.0])
    assert lanes.centre[lanes.points(west).start] == pytest.approx([50.0, 1.5, 0.0], abs=1e-5)
    assert lanes.heading[lanes.points(east)] == pytest.approx(0.0)
    assert lanes.length == pytest.approx(50.0, abs=1e-5)
    assert lanes.speed_limit == pytest.approx(50.0 / 3.6)
    assert (lanes.left[east], lanes.left_same[east]) == (west, False)
    assert (lanes.left_mark == MarkKind.BROKEN).all()
    (stop,) = town.signals
    assert (stop.lanes, stop.stop_arcs.tolist()) == ((east,), [pytest.approx(30.0)])
    assert stop.stop_lines[0, :, :2] == pytest.approx(np.array([[30.0, 0.0], [30.0, -4.0]]))


def test_left_hand_traffic_keeps_left() -> None:
    town = town_from_opendrive("Own", STRAIGHT.replace('junction="-1"', 'junction="-1" rule="LHT"'))
    lanes = town.lanes
    east, west = lanes.index(7, 0, 1), lanes.index(7, 0, -1)
    assert lanes.heading[lanes.points(east)] == pytest.approx(0.0)
    assert lanes.centre[lanes.points(east).start, 1] == pytest.approx(1.5)
    assert (lanes.right[east], lanes.right_same[east]) == (west, False)
    assert (lanes.right_mark == MarkKind.BROKEN).all()


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><OpenDRIVE>&b;</OpenDRIVE>'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (STRAIGHT[:400], "not well-formed"),
        (BOMB, "entities"),
        ("<kml/>", "<kml>"),
        ("", "not well-formed"),
        ("<OpenDRIVE/>", "no roads"),
        (STRAIGHT.replace('x="0"', 'x="nan"'), "finite number"),
        (STRAIGHT.replace('a="3"', 'a="wide"'), "'wide'"),
        (STRAIGHT.replace('length="50" junction', 'length="1e300" junction'), "1e+300 m"),
        (STRAIGHT.replace('length="50" junction', 'length="1e7" junction'), "1e+07 m"),
        (STRAIGHT.replace('id="7"', ""), "finite number"),
        (STRAIGHT.replace('id="7"', 'id="1e99"'), "whole number"),
        (STRAIGHT.replace("km/h", "parsec"), "parsec"),
        (STRAIGHT.replace("lanes>", "lains>"), "no lanes"),
    ],
)
def test_hostile_opendrive_is_one_clear_error(text: str, words: str) -> None:
    with pytest.raises(BadInput) as caught:
        town_from_opendrive("Own", text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.integers(0, len(STRAIGHT)), st.sampled_from(["", '"', "<", "9e99", "-", "nan", "\x00"]))
def test_damaged_text_never_crashes(cut: int, junk: str) -> None:
    with contextlib.suppress(BadInput):
        town_from_opendrive("Own", STRAIGHT[:cut] + junk + STRAIGHT[cut:])


def test_missing_map_says_where_it_looked(tmp_path: Path) -> None:
    simulator = SimpleNamespace(name="Carla/Maps/Town04", to_opendrive=lambda: STRAIGHT)
    client = SimpleNamespace(get_world=lambda: SimpleNamespace(get_map=lambda: simulator))
    with pytest.raises(MissingMap) as caught:
        find_town("Town99", tmp_path, client)
    for place in (str(tmp_path), "py123d", "Town04"):
        assert place in str(caught.value)
    simulator.name = "Carla/Maps/Town99_Opt"
    assert find_town("Town99", tmp_path, client) == STRAIGHT


def test_own_files_win(tmp_path: Path) -> None:
    (tmp_path / "Town01.xodr").write_text(STRAIGHT)
    (tmp_path / "Mine.xodr.gz").write_bytes(gzip.compress(STRAIGHT.encode()))
    assert find_town("Town01", tmp_path) == STRAIGHT
    assert find_town("Mine", tmp_path) == STRAIGHT
    assert {"Town01", "Mine"} <= list_towns(tmp_path).keys()


@pytest.mark.parametrize("name", ["../../etc/passwd/..", "", "Town 1", "a" * 3 + "\n"])
def test_no_path_is_a_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        find_town(name, tmp_path)


@pytest.mark.parametrize(
    "data",
    [gzip.compress(STRAIGHT.encode())[:60], b"plain", b"\x1f\x8b"],
    ids=["truncated", "plain", "magic only"],
)
def test_broken_gzip(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "Mine.xodr.gz").write_bytes(data)
    with pytest.raises(BadInput, match="gzip"):
        find_town("Mine", tmp_path)


def test_commands_print_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, town10: TownMap
) -> None:
    monkeypatch.setenv("DRIVEPROOF_CACHE", str(tmp_path))
    runner = CliRunner()
    names = json.loads(runner.invoke(app, ["list", "--json"]).stdout)
    assert "Town10HD" in names
    facts = json.loads(runner.invoke(app, ["show", "Town10HD", "--json"]).stdout)
    assert facts["signals"]["traffic_light"] == 17
    assert facts["digest"] == town10.digest
    rows = json.loads(runner.invoke(app, ["lanes", "Town10HD", "--json"]).stdout)
    assert len(rows) == len(town10.lanes.of_kind(LaneKind.DRIVING))
