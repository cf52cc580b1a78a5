"""What attempts mean, who may drive a route, and what a kill leaves behind."""

from __future__ import annotations

import multiprocessing
import os
import signal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.drive.begin import begin_run
from driveproof.drive.plan import DriveSettings
from driveproof.drive.rundir import RunDirectory
from driveproof.drive.states import Ending, RouteStatus, read_status, verdict
from driveproof.drive.status import RouteReport, look_at, lost, scores_of, totals
from driveproof.errors import BadInput, UserError
from driveproof.evaluation.driving.motion import UNITS, Motion, write_motion
from driveproof.evaluation.driving.records import RouteRecord, RouteState, Status, write_record
from driveproof.evaluation.driving.runs import read_run

ENDED = {
    RouteState.COMPLETED: {Ending.COMPLETED},
    RouteState.FAILED_BY_POLICY: {Ending.POLICY},
    RouteState.FAILED_BY_SIMULATOR: {Ending.ROUTE},
    RouteState.FAILED_BY_MODEL_SERVER: {Ending.MODEL_SERVER},
    RouteState.QUARANTINED: {Ending.SIMULATOR},
}


def after(endings: list[Ending], budget: int) -> tuple[RouteStatus, int]:
    """Attempts until the route ends; how many it took."""
    status = RouteStatus()
    for count, ending in enumerate(endings, start=1):
        status = verdict(status.begun(0.0, "me").ended(1.0, ending, f"why {count}"), budget)
        if status.state.ended:
            return status, count
    return status, len(endings)


@given(st.lists(st.sampled_from(Ending), max_size=12), st.integers(1, 4))
def test_a_route_ends_for_a_reason_that_its_last_attempt_gives(endings, budget) -> None:
    status, count = after(endings, budget)
    last = endings[count - 1] if count else None
    if status.state.ended:
        assert last in ENDED[status.state]
        assert status.state is RouteState.COMPLETED or status.reason
    else:
        assert status.state is RouteState.QUEUED
        for kind in (Ending.SIMULATOR, Ending.MODEL_SERVER):
            assert endings.count(kind) < budget


def test_crashes_of_the_simulator_quarantine_and_those_of_the_model_server_do_not_count() -> None:
    mixed = [Ending.SIMULATOR, Ending.MODEL_SERVER, Ending.INTERRUPTED, Ending.SIMULATOR]
    status, count = after([*mixed, Ending.SIMULATOR], 3)
    assert count == 5
    assert status.state is RouteState.QUARANTINED
    assert status.reason == "3 crashes, the last: why 5"


def test_interruptions_cost_nothing() -> None:
    status, _ = after([Ending.INTERRUPTED] * 9, 1)
    assert status.state is RouteState.QUEUED


def test_trying_again_has_the_whole_budget() -> None:
    status, _ = after([Ending.SIMULATOR] * 2, 2)
    assert status.state is RouteState.QUARANTINED
    again = status.queued_again()
    assert again.state is RouteState.QUEUED
    once = verdict(again.begun(2.0, "me").ended(3.0, Ending.SIMULATOR, "x"), 2)
    assert once.state is RouteState.QUEUED
    assert len(once.attempts) == 3


def test_a_broken_state_names_its_file(tmp_path) -> None:
    (tmp_path / "state.json").write_text('{"state": "flying"}')
    with pytest.raises(BadInput, match=r"state\.json"):
        read_status(tmp_path)


def test_one_broken_state_is_one_routes_problem(run) -> None:
    folder = run.folder(run.plan.episodes[0])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "state.json").write_text("")
    first, *others = look_at(run)
    assert first.state is RouteState.QUEUED
    assert "state.json" in first.reason
    assert [one.reason for one in others] == ["", ""]
    claim = run.claim_next()
    assert claim.episode.route == "1"
    assert claim.write(claim.status.begun(0.0, "me")).reason == ""


def test_a_record_that_is_gone_is_said_and_can_be_driven_again(run) -> None:
    with run.claim_next() as claim:
        ended = claim.status.begun(0.0, "me").ended(1.0, Ending.POLICY, "no decision")
        claim.write(verdict(ended, 3))
    first = look_at(run)[0]
    assert first.state is RouteState.FAILED_BY_POLICY
    assert first.record is None
    assert "record.json: no such file" in first.reason
    assert first.to_json()["reason"] == first.reason
    assert lost(look_at(run)) == [first]
    assert scores_of(run) is None
    (loss, *_) = read_run(run.path).losses
    assert loss.reason == "no record.json: no decision"
    assert run.requeue() == 1
    assert look_at(run)[0].state is RouteState.QUEUED


def finished(run: RunDirectory, motion: str | None = None) -> RouteReport:
    """The next route of the queue, driven to its end."""
    with run.claim_next() as claim:
        ended = claim.status.begun(0.0, "me").ended(1.0, Ending.COMPLETED, "")
        claim.write(verdict(ended, 3))
        episode, folder = claim.episode, claim.folder
    record = RouteRecord(
        *(episode.route, 0, episode.index, (), "Town02", ""),
        *(RouteState.COMPLETED, Status.PERFECT, 1.0, (), 22.0, 5.0, 1.0, ()),
        motion=motion,
    )
    if motion is not None:
        write_motion(folder / motion, Motion(*np.zeros((len(UNITS), 0))))
    write_record(folder / "record.json", record)
    return look_at(run)[episode.index]


@pytest.mark.parametrize(
    ("broken", "content"),
    [
        ("record.json", '{"route_id": "1", "rep'),
        ("record.json", "[]"),
        ("record.json", None),
        ("motion.parquet", "PAR1"),
        ("motion.parquet", None),
    ],
)
def test_a_broken_result_is_one_routes_problem_and_is_driven_again(run, broken, content) -> None:
    first, second = finished(run, "motion.parquet"), finished(run)
    assert first.record is not None
    path = run.folder(first.episode) / broken
    path.unlink()
    if content is None:
        path.mkdir()
    else:
        path.write_text(content)
    reports = look_at(run)
    assert lost(reports) == [reports[0]]
    assert broken in reports[0].reason
    assert "--retry" in reports[0].reason
    assert reports[1].record == second.record
    scores = scores_of(run)
    assert scores is not None
    assert scores["corrected"]["driving_score"]["n"] == 1
    assert run.requeue() == 1
    assert [one.state for one in look_at(run)[:2]] == [RouteState.QUEUED, RouteState.COMPLETED]
    assert len(read_run(run.path).records) == 1


def test_a_record_of_another_route_is_none(run) -> None:
    first, second = finished(run), finished(run)
    theirs = (run.folder(second.episode) / "record.json").read_text()
    (run.folder(first.episode) / "record.json").write_text(theirs)
    assert "is of route 2" in look_at(run)[0].reason
    assert run.requeue() == 1


def test_what_could_not_be_staged_is_said_with_the_route(run) -> None:
    with run.claim_next() as claim:
        ended = claim.status.begun(0.0, "me").ended(1.0, Ending.COMPLETED, "")
        claim.write(verdict(ended, 3))
        folder = claim.folder
        episode = claim.episode
    done = RouteRecord(
        *(episode.route, 0, 0, ("CutIn", "ControlLoss"), "Town02", ""),
        *(RouteState.COMPLETED, Status.PERFECT, 1.0, (), 22.0, 5.0, 1.0, ()),
        performed=("B_1",),
        skipped={"A_1": "no room"},
    )
    write_record(folder / "record.json", done)
    first = look_at(run)[0]
    assert first.reason == "not staged: A_1: no room"
    row = first.to_json()
    assert (row["performed"], row["skipped"]) == (["B_1"], {"A_1": "no room"})


def test_a_kill_at_the_begin_of_a_run_does_not_refuse_its_directory(plain_suite, tmp_path) -> None:
    out = tmp_path / "run"
    (out / "routes").mkdir(parents=True)
    for name in (".run.json.a1b2.json", ".suite.xml.c3.xml"):
        (out / name).touch()
    begin_run(out, plain_suite, "random", DriveSettings())
    assert sorted(item.name for item in out.iterdir()) == ["routes", "run.json", "suite.xml"]


@pytest.mark.parametrize("name", [".hidden", ".run.json", ".run.json.a1b2.txt", "run.json.a.json"])
def test_what_is_not_ours_is_left_alone(plain_suite, tmp_path, name) -> None:
    (tmp_path / ".suite.xml.c3.xml").touch()
    (tmp_path / name).touch()
    with pytest.raises(UserError, match="something else"):
        begin_run(tmp_path, plain_suite, "random", DriveSettings())
    assert {item.name for item in tmp_path.iterdir()} == {".suite.xml.c3.xml", name}


def test_a_suite_that_was_changed_is_refused_and_a_route_without_it(run) -> None:
    with pytest.raises(UserError, match="has no route 99"):
        run.spec("99")
    path = run.path / "suite.xml"
    path.write_text(path.read_text().replace('id="2"', 'id="22"'))
    with pytest.raises(UserError, match="not the suite that the run was begun with"):
        RunDirectory(run.path).spec("1")
    path.unlink()
    with pytest.raises(UserError, match=r"suite\.xml"):
        RunDirectory(run.path).spec("1")


@pytest.fixture
def run(plain_suite, tmp_path) -> RunDirectory:
    return begin_run(tmp_path / "run", plain_suite, "random", DriveSettings())


def test_one_route_has_one_driver(run) -> None:
    claims = [run.claim_next() for _ in range(4)]
    assert [claim and claim.episode.route for claim in claims] == ["1", "2", "3", None]
    claims[1].release()
    again = run.claim_next()
    assert again is not None
    assert again.episode.route == "2"


def hold(path: str, ready) -> None:
    run = RunDirectory(path)
    claim = run.claim_next()
    claim.write(claim.status.begun(0.0, "other"))
    ready.set()
    signal.pause()


@pytest.mark.slow
def test_a_claim_ends_with_its_process_however_that_ends(run) -> None:
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    other = context.Process(target=hold, args=(run.path, ready), daemon=True)
    other.start()
    assert ready.wait(60.0)
    assert run.claimed(run.plan.episodes[0])
    assert look_at(run)[0].state is RouteState.RUNNING
    assert run.claim_next().episode.route == "2"
    os.kill(other.pid, signal.SIGKILL)
    other.join()
    assert not run.claimed(run.plan.episodes[0])
    assert look_at(run)[0].state is RouteState.QUEUED, "left behind"
    claim = run.claim_next()
    assert claim.episode.route == "1"
    assert claim.status.state is RouteState.RUNNING


def test_what_an_attempt_made_appears_whole_in_place_of_what_was_there(run) -> None:
    with run.claim_next() as claim:
        (claim.folder / "record.json").write_text("old")
        (claim.folder / "clip.tar").write_text("old")
        (claim.folder / "crash-1.txt").write_text("kept")
        folder = claim.fresh()
        (folder / "record.json").write_text("new")
        (folder / "heartbeat.json").write_text("{}")
        claim.publish()
        names = sorted(path.name for path in claim.folder.iterdir())
        assert names == ["crash-1.txt", "lock", "record.json"]
        assert (claim.folder / "record.json").read_text() == "new"


def test_lost_routes_are_named_and_can_be_queued_again(run) -> None:
    with run.claim_next() as claim:
        status = claim.status.begun(0.0, "me").ended(1.0, Ending.SIMULATOR, "signal 11")
        claim.write(verdict(status, 1))
    reports = look_at(run)
    assert totals(reports)["quarantined"] == 1
    assert totals(reports)["queued"] == 2
    assert [report.episode.route for report in lost(reports)] == ["1"]
    assert "signal 11" in reports[0].status.reason
    assert run.requeue() == 1
    assert totals(look_at(run))["queued"] == 3
