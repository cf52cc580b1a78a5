"""What attempts mean, who may drive a route, and what a kill leaves behind."""

from __future__ import annotations

import multiprocessing
import os
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.drive.begin import begin_run
from driveproof.drive.plan import DriveSettings
from driveproof.drive.rundir import RunDirectory
from driveproof.drive.states import Ending, RouteStatus, read_status, verdict
from driveproof.drive.status import look_at, lost, totals
from driveproof.errors import BadInput
from driveproof.evaluation.driving.records import RouteState

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
