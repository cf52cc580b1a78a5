"""Episodes on an embedded server: when a policy is asked, what it sees, what is written, and that it repeats."""

from __future__ import annotations

import itertools
import json
import tarfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from driveproof.drive.attempt import attempt
from driveproof.drive.begin import begin_run
from driveproof.drive.episode import EpisodeTask
from driveproof.drive.plan import DriveSettings, Record
from driveproof.drive.rundir import RunDirectory
from driveproof.drive.states import Ending
from driveproof.evaluation.driving.motion import read_motion
from driveproof.evaluation.driving.records import RouteState, read_record
from driveproof.policy.driving import DriveObservation
from driveproof.sim.criteria import InfractionKind
from driveproof.sim.routes import Place, ScenarioSpec, write_routes


def drive_one(embedded, run: RunDirectory, route: str = "1", patience_s: float = 300.0):
    """One attempt at a route; its outcome and folder."""
    episode = next(one for one in run.plan.episodes if one.route == route)
    folder = run.folder(episode) / "attempt"
    folder.mkdir(parents=True, exist_ok=True)
    task = EpisodeTask(run.plan, episode, run.spec(route), folder)
    return attempt(embedded, task, threading.Event(), patience_s), folder


def told(words: str, folder: Path | None = None) -> str:
    return f"told_policy:Told#{words}:{folder or ''}"


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.slow
def test_a_policy_is_asked_at_fixed_moments_and_sees_what_it_may(
    embedded, plain_suite, tmp_path
) -> None:
    settings = DriveSettings(seed=4)
    run = begin_run(tmp_path / "run", plain_suite, told("camera+history", tmp_path), settings)
    outcome, folder = drive_one(embedded, run)
    assert outcome.ending is Ending.COMPLETED, outcome
    seen = lines(tmp_path / "seen.jsonl")
    assert [row["frame"] for row in seen] == [1 + 10 * n for n in range(len(seen))]
    assert [row["time"] for row in seen] == pytest.approx(
        [0.05 + 0.5 * n for n in range(len(seen))]
    )
    assert {row["episode"] for row in seen} == {"1_rep0"}
    assert {row["seed"] for row in seen} == {run.plan.episodes[0].seed}
    assert all(row["shapes"] == {"CAM_FRONT": [[128, 224, 3]] * 2} for row in seen)
    bright = [row["brightness"]["CAM_FRONT"] for row in seen]
    assert bright[0][0] == bright[0][1], "the first picture stands for the one before it"
    assert all(now[0] == before[1] for before, now in itertools.pairwise(bright))
    assert all(row["fields"] == sorted(DriveObservation.__dataclass_fields__) for row in seen)
    assert seen[0]["speed"] == pytest.approx(0.0, abs=0.01)
    record = read_record(folder / "record.json")
    assert record.state is RouteState.COMPLETED
    assert record.success
    decisions = lines(folder / "decisions.jsonl")
    assert [row["frame"] for row in decisions] == [row["frame"] for row in seen]
    assert {row["keys"] for row in decisions} == {"FOLLOW_LANE, ACCELERATE"}
    motion = read_motion(folder / "motion.parquet")
    assert motion.time[0] == 0.0
    assert motion.completion[-1] == 1.0
    assert len(motion) == round(motion.time[-1] / 0.05) + 1


@pytest.mark.slow
def test_an_episode_repeats_to_the_bit_whatever_the_server_did_before(
    embedded, plain_suite, tmp_path
) -> None:
    files = ("record.json", "motion.parquet", "decisions.jsonl")
    contents = []
    for name in ("first", "second"):
        run = begin_run(tmp_path / name, plain_suite, "random", DriveSettings(truth=True))
        drive_one(embedded, run, "2")
        outcome, folder = drive_one(embedded, run, "3" if name == "first" else "2")
        outcome, folder = drive_one(embedded, run, "1")
        assert outcome.ending is Ending.COMPLETED, outcome
        found = {file: (folder / file).read_bytes() for file in files}
        record = json.loads(found.pop("record.json"))
        record.pop("system_s")
        contents.append((record, found))
    assert contents[0] == contents[1]


@pytest.mark.slow
def test_the_expert_drives_and_says_why(embedded, plain_suite, tmp_path) -> None:
    run = begin_run(tmp_path / "run", plain_suite, "expert", DriveSettings())
    outcome, folder = drive_one(embedded, run)
    assert outcome.ending is Ending.COMPLETED, outcome
    assert read_record(folder / "record.json").success
    assert lines(folder / "decisions.jsonl")[0]["trace"] == {"brake": "none", "move": "none"}


@pytest.mark.slow
def test_the_truth_stands_beside_the_decisions_and_is_never_seen(
    embedded, plain_suite, tmp_path
) -> None:
    settings = DriveSettings(truth=True)
    run = begin_run(tmp_path / "run", plain_suite, told("camera", tmp_path), settings)
    outcome, folder = drive_one(embedded, run)
    assert outcome.ending is Ending.COMPLETED, outcome
    rows = lines(folder / "decisions.jsonl")
    assert all(row["truth"]["keys"] == "FOLLOW_LANE, ACCELERATE" for row in rows[:2])
    assert {item["number"] for row in rows for item in row["truth"]["answers"]} == {50}
    without = begin_run(
        tmp_path / "without", plain_suite, told("camera", tmp_path), DriveSettings()
    )
    _, other = drive_one(embedded, without)
    assert all(row["truth"] is None for row in lines(other / "decisions.jsonl"))
    assert (folder / "motion.parquet").read_bytes() == (other / "motion.parquet").read_bytes()


@pytest.mark.slow
def test_without_a_decision_the_last_one_holds(embedded, plain_suite, tmp_path) -> None:
    run = begin_run(tmp_path / "run", plain_suite, told("err"), DriveSettings())
    outcome, folder = drive_one(embedded, run)
    assert outcome.ending is Ending.COMPLETED, outcome
    rows = lines(folder / "decisions.jsonl")
    assert [row["error"] for row in rows[:4]] == ["", "no idea", "", "no idea"]
    assert read_record(folder / "record.json").success


@pytest.mark.slow
def test_the_world_goes_on_while_a_policy_thinks(embedded, plain_suite, tmp_path) -> None:
    late = DriveSettings(latency="fixed:0.7")
    run = begin_run(tmp_path / "run", plain_suite, told("go"), late)
    outcome, folder = drive_one(embedded, run)
    assert outcome.ending is Ending.COMPLETED, outcome
    rows = lines(folder / "decisions.jsonl")
    assert [row["time"] for row in rows[:3]] == pytest.approx([0.05, 1.05, 2.05]), "busy in between"
    assert rows[0]["applied"] == pytest.approx(0.75)
    motion = read_motion(folder / "motion.parquet")
    assert abs(motion.speed[motion.time < 0.7]).max() < 0.01, "nothing was decided yet"
    assert motion.speed[-1] > 2.0


@pytest.mark.slow
def test_a_policy_that_no_longer_decides_has_failed_and_keeps_what_it_drove(
    embedded, plain_suite, tmp_path
) -> None:
    settings = DriveSettings(rate_hz=10.0)
    run = begin_run(tmp_path / "run", plain_suite, told("raise"), settings)
    outcome, folder = drive_one(embedded, run)
    assert outcome.ending is Ending.POLICY
    assert "20 decisions in a row failed" in outcome.reason
    assert "the wheel" in outcome.reason
    assert len(lines(folder / "decisions.jsonl")) == 21, "the last one ended it"
    record = read_record(folder / "record.json")
    assert record.state is RouteState.FAILED_BY_POLICY
    assert record.status == "Failed - Agent crashed"
    assert 0.0 < record.completion < 1.0


@pytest.mark.slow
def test_a_policy_that_does_not_come_back_is_given_up(embedded, plain_suite, tmp_path) -> None:
    run = begin_run(tmp_path / "run", plain_suite, told("hang"), DriveSettings())
    outcome, folder = drive_one(embedded, run, patience_s=20.0)
    assert outcome.ending is Ending.POLICY
    assert "no decision within 20 s" in outcome.reason
    assert len(lines(folder / "decisions.jsonl")) == 2
    record = read_record(folder / "record.json")
    assert (record.state, record.reason) == (RouteState.FAILED_BY_POLICY, outcome.reason)
    assert record.game_s == pytest.approx(1.05), "as of the third decision"
    assert 0.0 < record.completion < 1.0
    assert record.motion is None


def test_a_policy_that_cannot_be_made_any_more_has_failed(embedded, plain_suite, tmp_path) -> None:
    run = begin_run(tmp_path / "run", plain_suite, told("gone", tmp_path), DriveSettings())
    (tmp_path / "gone").touch()
    outcome, folder = drive_one(embedded, run)
    assert outcome.ending is Ending.POLICY, outcome
    assert "weights" in outcome.reason
    record = read_record(folder / "record.json")
    assert (record.state, record.completion) == (RouteState.FAILED_BY_POLICY, 0.0)
    assert record.length_m == pytest.approx(22.0, abs=0.5)


@pytest.mark.slow
def test_what_a_policy_thinks_wrongly_costs_it_a_decision(embedded, plain_suite, tmp_path) -> None:
    run = begin_run(tmp_path / "run", plain_suite, told("notes", tmp_path), DriveSettings())
    outcome, folder = drive_one(embedded, run)
    assert outcome.ending is Ending.COMPLETED, outcome
    rows = lines(folder / "decisions.jsonl")
    assert rows[0]["trace"] == {"steps": ["look", 7]}
    assert "float32" in rows[2]["error"]
    assert (tmp_path / "ended").read_text() == "1_rep0", "it is told that the episode is over"


@pytest.mark.parametrize(("rate", "ticks"), [(20 / 3, 3), (20 / 7, 7)])
@pytest.mark.slow
def test_any_whole_number_of_ticks_lies_between_two_decisions(
    embedded, plain_suite, tmp_path, rate, ticks
) -> None:
    settings = DriveSettings(rate_hz=rate)
    run = begin_run(tmp_path / "run", plain_suite, told("camera", tmp_path), settings)
    outcome, _ = drive_one(embedded, run)
    assert outcome.ending is Ending.COMPLETED, outcome
    seen = lines(tmp_path / "seen.jsonl")
    assert [row["frame"] for row in seen] == [1 + ticks * n for n in range(len(seen))]


@pytest.mark.slow
def test_a_slow_policy_has_the_peers_time_and_a_scenario_not_reached_is_not_late(
    embedded, straight_road, tmp_path
) -> None:
    spec = straight_road("7", 112.0)
    far = ScenarioSpec("Far_1", "ControlLoss", "ControlLoss", Place(*spec.positions[-3], 0.0), {})
    write_routes([replace(spec, scenarios=(far,))], tmp_path / "slow.xml")
    settings = DriveSettings(record=Record.NONE)
    run = begin_run(tmp_path / "run", tmp_path / "slow.xml", "constant_velocity:0.3", settings)
    outcome, folder = drive_one(embedded, run, "7")
    assert outcome.ending is Ending.COMPLETED, outcome
    record = read_record(folder / "record.json")
    assert [one.kind for one in record.failures] == [InfractionKind.ROUTE_TIMEOUT]
    assert record.game_s == pytest.approx(200.0, abs=0.1), "4000 ticks"
    assert record.status == "Failed - Agent timed out"
    assert (record.performed, record.skipped) == ((), {}), "neither performed nor impossible"


@pytest.mark.slow
def test_an_empty_road_in_place_of_a_scenario_says_nothing_about_a_policy(
    embedded, straight_road, tmp_path
) -> None:
    spec = straight_road("7")
    here = Place(*spec.positions[3], 0.0)
    unwritten = ScenarioSpec("CutIn_1", "CutIn", "CutIn", here, {})
    brake = ScenarioSpec("ControlLoss_1", "ControlLoss", "ControlLoss", here, {})
    write_routes(
        [
            replace(spec, scenarios=(unwritten,)),
            replace(spec, key="8", scenarios=(unwritten, brake)),
        ],
        tmp_path / "empty.xml",
    )
    run = begin_run(tmp_path / "run", tmp_path / "empty.xml", "random", DriveSettings())
    outcome, folder = drive_one(embedded, run, "7")
    assert outcome.ending is Ending.ROUTE, outcome
    assert "CutIn_1: CutIn is not written" in outcome.reason
    assert not (folder / "record.json").exists()
    outcome, folder = drive_one(embedded, run, "8")
    assert outcome.ending in (Ending.COMPLETED, Ending.POLICY), outcome
    record = read_record(folder / "record.json")
    assert record.skipped == {"CutIn_1": "CutIn is not written"}


@pytest.mark.slow
def test_a_policy_that_takes_its_process_along_is_a_crash(embedded, plain_suite, tmp_path) -> None:
    run = begin_run(tmp_path / "run", plain_suite, told("die"), DriveSettings())
    outcome, folder = drive_one(embedded, run)
    assert outcome.ending is Ending.SIMULATOR
    assert not (folder / "record.json").exists()


@pytest.mark.slow
def test_a_town_that_the_simulator_has_not_is_the_routes_fault(
    embedded, plain_suite, tmp_path
) -> None:
    text = plain_suite.read_text().replace("Town02", "Town77")
    (tmp_path / "far.xml").write_text(text)
    run = begin_run(tmp_path / "run", tmp_path / "far.xml", "random", DriveSettings())
    outcome, _ = drive_one(embedded, run)
    assert outcome.ending is Ending.ROUTE
    assert "Town77" in outcome.reason


@pytest.mark.slow
def test_clips_are_kept_as_the_run_says(embedded, plain_suite, tmp_path) -> None:
    every = begin_run(tmp_path / "a", plain_suite, told("go"), DriveSettings(record=Record.ALL))
    outcome, folder = drive_one(embedded, every)
    assert outcome.ending is Ending.COMPLETED, outcome
    with tarfile.open(folder / "clip.tar") as clip:
        names = clip.getnames()
    frames = [name for name in names if "/anno/" in name]
    fronts = [name for name in names if "rgb_front/" in name]
    game_s = read_record(folder / "record.json").game_s
    assert len(frames) == pytest.approx(10.0 * game_s, abs=2)
    assert len(fronts) == pytest.approx(2.0 * game_s, abs=2)
    failures = DriveSettings(record=Record.FAILURES)
    some = begin_run(tmp_path / "b", plain_suite, told("go"), failures)
    assert not (drive_one(embedded, some)[1] / "clip.tar").exists()
    broken = begin_run(
        tmp_path / "c", plain_suite, told("raise"), failures.model_copy(update={"rate_hz": 10.0})
    )
    assert (drive_one(embedded, broken)[1] / "clip.tar").exists()
    none = begin_run(tmp_path / "d", plain_suite, told("go"), DriveSettings(record=Record.NONE))
    names = {path.name for path in drive_one(embedded, none)[1].iterdir()}
    assert names == {"record.json", "motion.parquet", "heartbeat.json", "log.txt"}
