"""The stage: policies side by side, bytes that depend on parameters and seed only, and lost routes as errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from driveproof.config.drive import DriveParams
from driveproof.drive.compared import RoutesLost, drive_all, folder_name, without_clock
from driveproof.drive.suite import staged_routes
from driveproof.errors import BadInput
from driveproof.maps import load_town
from driveproof.sim.routes import dense_route, parse_routes, write_routes


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
def test_the_bytes_depend_on_parameters_and_seed_only(plain_suite, tmp_path) -> None:
    params = DriveParams(suite=str(plain_suite), policies=("expert", "random"), limit=2, workers=1)
    rows = drive_all(params, 3, tmp_path / "one")
    drive_all(params.model_copy(update={"workers": 2}), 3, tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    names = {path.name for path in (tmp_path / "one").iterdir()}
    assert names == {"expert", "random", "drive.json"}
    expert = rows["expert"]["scores"]["corrected"]
    assert expert["driving_score"]["mean"] == 100.0
    assert rows["random"]["answers"]["overall"]["answers"]["n"] == 2
    assert rows["expert"]["privileged"] == ["the expert drives"]


@pytest.mark.slow
def test_a_lost_route_is_an_error_and_nothing_is_written(plain_suite, tmp_path) -> None:
    policy = "told_policy:Told#die:"
    params = DriveParams(suite=str(plain_suite), policies=(policy,), limit=1, attempts=1, workers=1)
    with pytest.raises(RoutesLost, match="1 routes are lost"):
        drive_all(params, 0, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_two_policies_of_one_folder_are_refused(plain_suite, tmp_path) -> None:
    params = DriveParams(suite=str(plain_suite), policies=("wire:a", "wire_a"))
    with pytest.raises(BadInput, match="same folder"):
        drive_all(params, 0, tmp_path / "out")


@pytest.mark.parametrize(
    ("policy", "folder"),
    [
        ("expert", "expert"),
        ("constant_velocity:6", "constant_velocity_6"),
        ("transformers:models/vqa_sft/text", "vqa_sft_text"),
        ("../..", "policy"),
    ],
)
def test_folders_are_named_by_what_drives(policy, folder) -> None:
    assert folder_name(policy) == folder


def test_nothing_of_the_clock_is_kept() -> None:
    row = {"latency_s": 1.5, "trace": {"steps": [{"latency_s": 2.0, "text": "KEEP"}]}, "time": 3.0}
    clean = {
        "latency_s": 0.0,
        "trace": {"steps": [{"latency_s": 0.0, "text": "KEEP"}]},
        "time": 3.0,
    }
    assert without_clock(row) == clean


@pytest.mark.slow
def test_the_suite_of_the_repository_is_what_its_command_writes(root, tmp_path) -> None:
    routes = parse_routes(root / "suites" / "smoke.xml")
    names = [route.scenarios[0].type for route in routes]
    again = staged_routes(names, towns=("Town01", "Town02", "Town03", "Town05"))
    write_routes(again, tmp_path / "again.xml")
    assert (tmp_path / "again.xml").read_bytes() == (root / "suites" / "smoke.xml").read_bytes()


def test_staged_routes_are_short_and_lead_through_their_junctions(root) -> None:
    for route in parse_routes(root / "suites" / "smoke.xml"):
        way = dense_route(route.positions, load_town(route.town))
        straight = abs(way.line.points[-1] - way.line.points[0]).sum()
        assert way.length < 180.0, f"{route.key} goes round the town"
        assert way.length <= straight + 20.0
        trigger = route.scenarios[0].trigger
        _, beside = way.line.project([trigger.x, trigger.y])
        assert abs(float(beside)) < 1.0
