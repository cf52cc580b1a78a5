"""Logged drivers under the rules: rates with their losses, and drawings of the worst moments."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from log_map_examples import crossroads, drive
from typer.testing import CliRunner

from driveproof.cli.score import app
from driveproof.errors import BadInput
from driveproof.evaluation.humans import HumanReport, Moment, Worst, score_humans
from driveproof.rules import SubScore, score_plans
from driveproof.rules.drawing import draw_moment
from driveproof.rules.scenes import world_of
from driveproof.scene import AgentKind, AgentTracks, Scene, WindowReport


def moment(scene: Scene, **values: float | None) -> Moment:
    made = world_of(scene, log_map=crossroads(lights=False))
    scores = score_plans(made.world, made.human[None])
    verdicts = scores.verdicts(0)
    for code, value in values.items():
        verdicts[code] = SubScore(value, value is not None, "made", 3)
    judged = min(v.value for v in verdicts.values() if v.value is not None)
    return Moment(scene, made.world, scores.states[0], verdicts, None, judged, made.notes)


def at(time: float, drive_name: str = "a") -> Scene:
    key = f"{drive_name}/{time}"
    return replace(drive(0.0), timestamp_s=time, scene_key=drive_name, record_key=key)


def test_rates_are_shares_of_the_judged_moments() -> None:
    report = HumanReport.empty()
    for n, value in enumerate((0.0, 1.0, 0.5, None)):
        report.add(moment(at(float(n), f"drive{n}"), NC=value))
    got = report.to_json(WindowReport())
    assert got["moments"] == 4
    assert got["broken_rate"]["NC"]["mean"] == pytest.approx(2 / 3)
    assert (got["broken_rate"]["NC"]["n"], got["broken_rate"]["NC"]["lost"]) == (3, 1)
    assert got["mean"]["NC"]["mean"] == pytest.approx(0.5)
    assert got["broken_rate"]["TLC"] == {"mean": None, "low": None, "high": None, "n": 0, "lost": 4}
    assert got["unjudged"]["TLC: what the traffic lights show is unknown"] == 4
    assert got["unjudged"]["NC: made"] == 1
    assert "EP" not in got["broken_rate"]


def test_the_worst_moments_are_not_one_moment_seen_often() -> None:
    worst = Worst(2)
    for time, value in ((0.0, 0.5), (0.5, 0.25), (1.0, 0.5), (9.0, 0.75), (12.0, 1.0)):
        worst.add(moment(at(time), NC=value))
    assert [each.scene.timestamp_s for each in worst.moments()] == [0.5, 9.0]
    nothing = Worst(0)
    nothing.add(moment(at(0.0), NC=0.0))
    assert nothing.moments() == []


def crash() -> Scene:
    """A parked car stands 20 m ahead in the lane."""
    times = np.linspace(0.0, 5.0, 11)
    states = np.tile([20.0, 0.0, 0.0, 0.0, 0.0], (1, 11, 1))
    parked = AgentTracks(
        ("parked",), (AgentKind.VEHICLE,), times, np.array([[4.5, 1.9, 1.6]]), states,
        np.ones((1, 11), bool),
    )  # fmt: skip
    return replace(drive(0.0), agents=parked)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_drawing_names_what_is_broken_and_is_the_same_twice(tmp_path: Path, suffix: str) -> None:
    made = world_of(crash(), log_map=crossroads())
    scores = score_plans(made.world, made.human[None])
    verdicts = scores.verdicts(0)
    assert (verdicts["NC"].value, verdicts["NC"].agent) == (0.0, "parked")
    files = [tmp_path / f"{n}.{suffix}" for n in range(2)]
    for file in files:
        draw_moment(made.world, scores.states[0], verdicts, file, "a crash")
    assert files[0].read_bytes() == files[1].read_bytes()
    if suffix == "svg":
        text = files[0].read_text()
        assert "NC = 0" in text or "#d62728" in text
        assert "#d62728" in text  # the parked car is blamed
        assert sorted(tmp_path.iterdir()) == files


def test_a_world_without_a_map_can_be_drawn(tmp_path: Path) -> None:
    made = world_of(drive(0.0))
    scores = score_plans(made.world, made.human[None])
    draw_moment(made.world, scores.states[0], scores.verdicts(0), tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_drawings_need_a_folder(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["humans", str(tmp_path), "--format", "womd", "--draw", "2"])
    assert isinstance(result.exception, BadInput)
    assert "--draw needs --out" in str(result.exception)


@pytest.mark.slow
@pytest.mark.shared
def test_humans_of_a_real_log(shared_dir: Path, tmp_path: Path) -> None:
    logs = shared_dir / "data/fixtures/av2/motion_forecasting"
    arguments = ["humans", str(logs), "--format", "av2_forecasting", "--json", "--draw", "2"]
    result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    written = json.loads((tmp_path / "out/summary.json").read_text())
    assert printed.pop("by_moment")[0]["EPDMS"] is None
    assert printed == written
    assert written["moments"] == 9
    assert written["mean"]["DAC"]["mean"] == 1.0
    assert written["mean"]["EPDMS"]["n"] == 0
    assert written["mean"]["EPDMS_judged"]["n"] == 9
    assert written["mean"]["EC"]["n"] == 8  # the first moment has no previous one
    table = pq.read_table(tmp_path / "out/moments.parquet")
    assert table.num_rows == 9
    for drawn in written["drawings"]:
        assert (tmp_path / "out" / drawn["file"]).is_file()
        assert drawn["broken"]


@pytest.mark.shared
def test_a_log_whose_map_is_spoiled_is_an_error(shared_dir: Path, tmp_path: Path) -> None:
    source = shared_dir / "data/fixtures/av2/motion_forecasting"
    folder = next(source.iterdir())
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (archive,) = tmp_path.glob("log_map_archive_*.json")
    archive.write_text(archive.read_text()[:1000])
    with pytest.raises(BadInput, match="not JSON"):
        list(score_humans("av2_forecasting", [tmp_path], WindowReport()))
    archive.unlink()
    found = list(score_humans("av2_forecasting", [tmp_path], WindowReport(), stride=3.0))
    assert all("no map" in each.notes[0] for each in found)
    assert all(each.verdicts["DAC"].value is None for each in found)
