"""Two policies on the same routes, and the commands around drives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_records import Kind, record
from made_runs import decision, make_run
from typer.testing import CliRunner

from driveproof.cli.evaluate import app
from driveproof.errors import BadInput
from driveproof.evaluation.driving.bench2drive import Checkpoint, Merged, read_file
from driveproof.evaluation.driving.compare import compare, compare_runs
from driveproof.evaluation.driving.records import RouteState, Status
from driveproof.evaluation.driving.runs import read_run
from driveproof.evaluation.driving.scores import scores_of
from driveproof.evaluation.unit_scores import drive_unit_scores


def test_differences_are_paired() -> None:
    # Hard and easy routes: 100 and 36 against 60 and 21.6; each pair differs by 40 % of itself.
    first = [record("easy"), record("hard", Kind.COLLISION_VEHICLE, Kind.COLLISION_VEHICLE)]
    second = [
        record("easy", Kind.COLLISION_VEHICLE),
        record("hard", *([Kind.COLLISION_VEHICLE] * 3)),
    ]
    found = compare(first, second)
    assert found.driving_score.mean == pytest.approx((40.0 + 14.4) / 2)
    assert (found.driving_score.low, found.driving_score.high) == pytest.approx((14.4, 40.0))
    assert found.differs
    assert found.success_rate.mean == pytest.approx(50.0)  # one of two more
    assert (found.better, found.equal, found.worse) == (2, 0, 0)
    back = compare(second, first)
    assert back.driving_score.mean == pytest.approx(-27.2)
    assert not compare(first, first).differs


def test_repeats_of_a_route_are_drawn_together() -> None:
    first = [record("1", repeat=n) for n in range(4)]
    second = [record("1", *([Kind.STOP_SIGN] * (n % 2)), repeat=n) for n in range(4)]
    both = compare(first, second)
    found = both.driving_score
    assert (found.mean, found.n) == (pytest.approx(10.0), 4)
    # one route four times is one route: nothing is known of others
    assert (found.low, found.high, both.routes, both.differs) == (None, None, 1, False)
    again = compare([*first, record("2")], [*second, record("2", Kind.STOP_SIGN)])
    assert again.driving_score.low is not None


def test_lost_halves_and_other_seeds_are_named() -> None:
    crashed = record("2", state=RouteState.FAILED_BY_SIMULATOR, status=Status.SIMULATION)
    first = [record("1", seed=1), record("2"), record("3")]
    second = [record("1", seed=2), crashed]
    found = compare(first, second)
    assert (found.driving_score.n, found.driving_score.lost) == (1, 2)
    assert "1 drives are in one of the runs only" in found.notes
    assert any("another seed" in note for note in found.notes)


def test_runs_of_other_suites_cannot_be_compared() -> None:
    with pytest.raises(BadInput, match="no drive was finished by both"):
        compare([record("1")], [record("2")])
    with pytest.raises(BadInput, match="route 1: is in Town12 with Accident in one run, in Town05"):
        compare([record("1")], [record("1", town="Town05")])


def test_drives_without_a_record_are_pairs_too(tmp_path: Path) -> None:
    hung = ("failed_by_policy", "no answer in 300 s")
    crashed = ("quarantined", "3 crashes")
    first: Any = {str(n): (record(str(n), index=n - 1), []) for n in range(1, 5)}
    second: Any = {**first, "2": hung, "3": crashed}
    first |= {"3": crashed, "4": crashed}
    runs = [
        read_run(make_run(tmp_path / name, drives, name=name))
        for name, drives in (("steady", first), ("hangs", second))
    ]
    found = compare_runs(*runs)
    # the drive that one policy hung in counts 0 for it; whoever looks at records alone sees two equals
    assert found.driving_score.mean == pytest.approx(50.0)
    assert found.success_rate.mean == pytest.approx(50.0)
    assert (found.better, found.equal, found.worse) == (1, 1, 0)
    assert (found.driving_score.n, found.driving_score.lost) == (2, 2)
    assert (found.first_lost, found.second_lost, len(found.pairs)) == (2, 1, 4)
    scores = {s.unit: s.value for s in drive_unit_scores(runs[1].records, runs[1].losses)}
    assert scores["2_rep0"] == 0.0
    assert np.isnan(scores["3_rep0"])


def whole_run(folder: Path, name: str = "tiny", *kinds: Kind) -> Path:
    drives: Any = {
        "1": (record("1", speed_shares=(0.5,)), [decision(0.0, "FOLLOW_LANE, KEEP")]),
        "2": (record("2", *kinds, index=1), []),
        "3": ("quarantined", "3 crashes"),
    }
    return make_run(folder, drives, name=name)


def test_a_run_is_read_whatever_its_state(tmp_path: Path) -> None:
    run = read_run(whole_run(tmp_path, "tiny", Kind.RED_LIGHT))
    scores = scores_of(run)
    assert scores.driving_score.mean == pytest.approx(85.0)  # 100 and 70
    assert (scores.driving_score.n, scores.driving_score.lost) == (2, 1)
    assert scores.lost[0].lost == "quarantined: 3 crashes"
    assert run.name == "tiny"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("run.json", "{}", "not the plan of a run"),
        ("run.json", '{"routes": ["77"]}', "the suite has no route 77"),
    ],
)
def test_a_broken_run_is_refused(tmp_path: Path, name: str, content: str, said: str) -> None:
    whole_run(tmp_path)
    (tmp_path / name).write_text(content)
    with pytest.raises(BadInput, match=said):
        read_run(tmp_path)


@pytest.mark.parametrize("content", ["", '{"state": "happy"}'])
def test_a_broken_state_is_one_lost_drive(tmp_path: Path, content: str) -> None:
    whole_run(tmp_path)
    before = read_run(tmp_path)
    (tmp_path / "routes/1_rep0/state.json").write_text(content)
    run = read_run(tmp_path)
    assert len(run.records) == len(before.records) - 1
    (loss,) = [loss for loss in run.losses if loss.route_id == "1"]
    assert "state.json" in loss.reason


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "record.json: not JSON"),
        ("{}", "record.json"),
        (json.dumps(record("2").to_json()), "is the record of route 2"),
        (
            json.dumps(record("1", motion="../../../x.parquet").to_json()),
            "motion: lies outside its folder",
        ),
    ],
)
def test_a_broken_record_is_one_lost_drive(tmp_path: Path, content: str, said: str) -> None:
    whole_run(tmp_path)
    before = read_run(tmp_path)
    (tmp_path / "routes/1_rep0/record.json").write_text(content)
    run = read_run(tmp_path)
    assert len(run.records) == len(before.records) - 1
    (loss,) = [loss for loss in run.losses if loss.route_id == "1"]
    assert said in loss.reason


def test_the_commands_agree_with_the_library(tmp_path: Path) -> None:
    runner = CliRunner()
    first = whole_run(tmp_path / "a", "new")
    second = whole_run(tmp_path / "b", "old", Kind.RED_LIGHT)
    files = ["--checkpoint", str(tmp_path / "c.json"), "--merged", str(tmp_path / "m.json")]
    done = runner.invoke(app, ["drive", str(second), "--json", *files], catch_exceptions=False)
    found = json.loads(done.stdout)
    assert found["driving_score"]["mean"] == pytest.approx(85.0)
    assert found["failure_counts"] == {"quarantined": 1, "ran_red_light": 1}
    checkpoint, merged = read_file(tmp_path / "c.json"), read_file(tmp_path / "m.json")
    assert isinstance(checkpoint, Checkpoint)
    assert isinstance(merged, Merged)
    assert checkpoint.checkpoint.progress == [2, 3]
    assert merged.driving_score == pytest.approx(170.0 / 3.0)

    args = ["bench2drive", str(tmp_path / "m.json"), "--suite", str(second / "suite.xml"), "--json"]
    theirs = json.loads(runner.invoke(app, args, catch_exceptions=False).stdout)
    assert theirs["driving_score"]["mean"] == pytest.approx(170.0 / 3.0)
    assert [one["route_id"] for one in theirs["routes"] if one["lost"]] == ["3"]

    args = ["drive-compare", str(first), str(second), "--json"]
    compared = json.loads(runner.invoke(app, args, catch_exceptions=False).stdout)
    assert compared["driving_score"]["mean"] == pytest.approx(15.0)  # (0 + 30) / 2

    one = make_run(tmp_path / "one", {"1": (record("1"), [])})
    other = make_run(tmp_path / "other", {"1": (record("1", Kind.RED_LIGHT), [])})
    args = ["drive-compare", str(one), str(other)]
    assert "no verdict" in runner.invoke(app, args, catch_exceptions=False).stdout

    for args in (
        ["drive", str(first), str(second)],
        ["drive-compare", str(first), str(second)],
        ["bench2drive", str(tmp_path / "c.json")],
    ):
        shown = runner.invoke(app, args, catch_exceptions=False)
        assert shown.exit_code == 0
        assert "driving score" in shown.stdout
    assert (
        "ran_red_light" in runner.invoke(app, ["drive", str(second)], env={"COLUMNS": "200"}).stdout
    )
    both = runner.invoke(app, ["drive", str(first), str(second), "--merged", "x.json"])
    assert isinstance(both.exception, BadInput)
