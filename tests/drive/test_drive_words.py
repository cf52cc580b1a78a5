"""What ``driveproof drive`` and ``status`` say and end with, without a simulator."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from driveproof.cli import status as status_module
from driveproof.cli.drive import app
from driveproof.drive import attempt as attempts
from driveproof.drive import models, openers, runner
from driveproof.drive.begin import begin_run, model_server
from driveproof.drive.episode import Outcome
from driveproof.drive.kinds import check_kind, forms
from driveproof.drive.models import ModelServer
from driveproof.drive.plan import DriveSettings
from driveproof.drive.rundir import OtherRun, RunDirectory
from driveproof.drive.runner import Care, Worker
from driveproof.drive.states import Attempt, Ending, RouteStatus, verdict
from driveproof.drive.status import look_at
from driveproof.errors import BadInput, Unreachable, UserError
from driveproof.evaluation.driving.records import RouteRecord, RouteState, Status, write_record
from driveproof.policy import DRIVERS

OK, POLICY, LOST = Ending.COMPLETED, Ending.POLICY, Ending.ROUTE


def ended(run: RunDirectory, *endings: Ending) -> None:
    """The next routes of the queue come to these ends."""
    for ending in endings:
        claim = run.claim_next()
        if claim is None:
            return
        with claim:
            why = "" if ending is OK else f"why {ending}"
            claim.write(verdict(claim.status.begun(0.0, "me").ended(1.0, ending, why), 3))
            good = ending is OK
            record = RouteRecord(
                *(claim.episode.route, 0, claim.episode.index, (), "Town02", ""),
                RouteState.COMPLETED if good else RouteState.FAILED_BY_POLICY,
                Status.PERFECT if good else Status.AGENT,
                *(1.0 if good else 0.1, (), 22.0, 5.0, 1.0, ()),
                reason=why,
            )
            if ending in (OK, POLICY):
                write_record(claim.folder / "record.json", record)


@pytest.fixture
def drives(plain_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs ``drive`` with words; the routes of the queue come to the given ends."""
    out = tmp_path / "run"

    def call(*words: str, ends: tuple[Ending, ...] = ()) -> Result:
        monkeypatch.setattr(runner, "drive", lambda run, *_: ended(run, *ends))
        given = ["--policy", "random", "--suite", str(plain_suite), "--out", str(out)]
        return CliRunner().invoke(app, [*given, *words])

    call.run = lambda: RunDirectory(out)  # type: ignore[attr-defined]
    return call


@pytest.mark.parametrize(
    ("ends", "code", "said"),
    [
        ((OK, OK, OK), 0, ""),
        ((OK, POLICY, OK), 1, "1 failed_by_policy: they are scored and stay"),
        ((OK, LOST, OK), 1, "1 lost: --retry drives them again"),
    ],
)
def test_the_exit_code_says_whether_all_is_well(
    drives: Any, ends: Any, code: int, said: str
) -> None:
    done = drives(ends=ends)
    assert done.exit_code == code
    assert said in done.output
    assert bool(said) == ("again" in done.output)


def test_retry_leaves_what_is_scored_and_redo_does_not(drives: Any) -> None:
    drives(ends=(POLICY, LOST, OK))
    done = drives("--retry", ends=(OK,))
    assert done.exit_code == 1
    assert "stay, also with --retry; --redo failed_by_policy" in done.output
    states = [status.state.value for _, status in drives.run().statuses()]
    assert states == ["failed_by_policy", "completed", "completed"]
    done = drives("--redo", "failed_by_policy", ends=(OK,))
    assert done.exit_code == 0
    assert {status.state.value for _, status in drives.run().statuses()} == {"completed"}


def test_redo_knows_states(drives: Any) -> None:
    done = drives("--redo", "failed_by_me")
    assert isinstance(done.exception, BadInput)
    assert "--redo: failed_by_me is none (completed, failed_by_policy" in str(done.exception)


def test_an_interrupt_says_how_to_go_on(drives: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    drives()
    monkeypatch.setattr(runner, "drive", interrupted)
    run = drives.run()
    done = CliRunner().invoke(app, ["worker", str(run.path)])
    assert done.exit_code == 130
    assert "the same words again go on with it" in done.output


# --- tables ------------------------------------------------------------------------------------------


def shown(run: RunDirectory, capsys: pytest.CaptureFixture[str]) -> str:
    status_module.show(run, look_at(run), False)
    return capsys.readouterr().out


def lost_run(plain_suite: Path, tmp_path: Path) -> RunDirectory:
    run = begin_run(tmp_path / "run", plain_suite, "random", DriveSettings())
    with run.claim_next() as claim:  # type: ignore[union-attr]
        status = claim.status
        for ending in (Ending.INTERRUPTED, Ending.MODEL_SERVER, Ending.MODEL_SERVER):
            status = status.begun(0.0, "me").ended(1.0, ending, "the words " * 30)
        claim.write(verdict(status, 2))
    ended(run, OK)
    return run


def test_a_table_in_a_terminal_keeps_states_whole(
    plain_suite: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "80")
    text = shown(lost_run(plain_suite, tmp_path), capsys)
    assert "failed_by_model_server" in text
    rows = [line for line in text.splitlines() if "the words" not in line]
    assert max(map(len, rows)) <= 90, "with signs for colours"


def test_a_table_in_a_pipe_is_never_folded(
    plain_suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = shown(lost_run(plain_suite, tmp_path), capsys).splitlines()
    (row,) = [line for line in lines if "failed_by_model_server" in line and line[:2] == " 1"]
    assert row.split()[-1] == "2", "what counts: the interruption does not"
    (reason,) = [line for line in lines if line.startswith("1_rep0: ")]
    assert reason.count("the words") == 30


def test_only_what_counts_is_a_try() -> None:
    attempts = [Attempt(began=0.0, ending=ending) for ending in Ending]
    assert RouteStatus(attempts=tuple(attempts)).tries == len(Ending) - 3
    again = RouteStatus(attempts=tuple(attempts)).queued_again()
    assert again.tries == 0
    assert again.begun(1.0, "me").tries == 1


# --- before anything is driven -----------------------------------------------------------------------


def test_every_kind_is_named_and_the_nearest_meant() -> None:
    with pytest.raises(BadInput, match="did you mean expert") as caught:
        check_kind("exprt")
    for form in ("expert", "transformers:FOLDER", "openai:URL#MODEL", "module:Class"):
        assert form in str(caught.value)
    assert all(kind.form in forms().values() for kind in DRIVERS.values())
    with pytest.raises(BadInput, match="did you mean transformers:FOLDER"):
        check_kind("transformer:models/sft")
    for spec in (*forms(), "json:Class", "a.b:C", "oracle"):
        check_kind(spec)


@pytest.mark.parametrize("spec", ["transformers:models/nope", "baseline:qwen3-vl-4b#nope"])
@pytest.mark.parametrize("option", ["--policy", "--serve"])
def test_a_missing_model_folder_is_said_before_anything_starts(
    plain_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, option: str
) -> None:
    def start(**_: Any) -> None:
        raise AssertionError("something was started")

    monkeypatch.setattr(models, "start_server", start)
    words = [option, spec, "--suite", str(plain_suite), "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, BadInput), done.exception
    assert "no such model folder" in str(done.exception)
    with pytest.raises(BadInput, match="no such model folder"), model_server(spec):
        raise AssertionError


def test_a_server_that_does_not_come_up_is_no_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(**_: Any) -> None:
        raise Unreachable("the simulator ended while starting: error: no such module: mine")

    monkeypatch.setattr(models, "start_server", start)
    with (
        ModelServer("mine:Class", lambda url: False) as server,
        pytest.raises(Unreachable) as found,
    ):
        server.address()
    assert str(found.value) == "the policy's server does not come up: no such module: mine"


class Strange:
    """A plug-in whose description of itself is set from outside."""

    name, history = "strange", 1
    views: tuple[str, ...] = ()
    known: Any = {}  # noqa: RUF012

    def identity(self) -> Any:
        return self.known

    def begin(self, episode: str, seed: int) -> None:
        """Nothing to forget."""

    def decide(self, seen: Any) -> Any:
        raise AssertionError


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("views", ("CAM_NOSE",), "views: no such camera: CAM_NOSE"),
        ("views", None, "views, history: cannot be had"),
        ("history", 0, "history: is 0"),
        ("known", {"rate": float("nan")}, "identity: must be JSON"),
        ("known", {"made": object()}, "identity: must be JSON"),
        ("known", [1], "identity: must be a JSON object"),
    ],
)
def test_what_a_policy_says_of_itself_is_checked_first(
    plain_suite: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    field: str,
    value: Any,
    problem: str,
) -> None:
    monkeypatch.setattr(Strange, field, value)
    with pytest.raises(BadInput) as caught:
        begin_run(tmp_path / "run", plain_suite, f"{__name__}:Strange", DriveSettings())
    assert problem in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_a_dead_openai_server_is_found_at_the_start(plain_suite: Path, tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="does not answer"):
        begin_run(tmp_path / "r", plain_suite, "openai:http://127.0.0.1:9/v1#m", DriveSettings())


def test_the_directory_must_be_one_and_a_run_keeps_its_routes(
    plain_suite: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"file: --out: is a file"):
        begin_run(tmp_path / "file", plain_suite, "random", DriveSettings())
    begin_run(tmp_path / "run", plain_suite, "random", DriveSettings(), limit=1)
    with pytest.raises(OtherRun, match="another --limit or --only choose a new directory"):
        begin_run(tmp_path / "run", plain_suite, "random", DriveSettings(), limit=2)


# --- a model's server that others run ----------------------------------------------------------------


@pytest.fixture
def served(plain_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDirectory:
    """A run by a model of somebody else's server, without pauses."""
    monkeypatch.setattr(openers, "answers", lambda spec: True)
    monkeypatch.setattr(runner, "PAUSE_S", 0.001)
    monkeypatch.setattr(runner, "LONGEST_PAUSE_S", 0.001)
    spec = "openai:http://127.0.0.1:9/v1#m"
    return begin_run(tmp_path / "run", plain_suite, spec, DriveSettings(), limit=1)


def worker_of(run: RunDirectory, care: Care) -> Worker:
    simulator: Any = SimpleNamespace()
    return Worker(run, simulator, None, threading.Event(), care, lambda key, status: None)


def test_a_model_that_comes_back_costs_one_try(
    served: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([False, False, False, True])
    ends = iter([Outcome(Ending.MODEL_SERVER, "gone"), Outcome(Ending.ROUTE, "over")])
    monkeypatch.setattr(runner, "answers", lambda spec: next(looks))
    monkeypatch.setattr(runner, "attempt", lambda *_: next(ends))
    worker_of(served, Care(model_wait_s=60.0)).work()
    ((_, status),) = served.statuses()
    assert [one.ending for one in status.attempts] == [Ending.MODEL_SERVER, Ending.ROUTE]
    assert next(looks, None) is None


def test_a_model_that_stays_away_ends_the_run_and_loses_nothing(
    served: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "answers", lambda spec: False)
    monkeypatch.setattr(runner, "attempt", lambda *_: Outcome(Ending.MODEL_SERVER, "gone"))
    with pytest.raises(
        Unreachable, match=r"did not come back within 0.05 s.*stay queued"
    ) as caught:
        worker_of(served, Care(model_wait_s=0.05)).work()
    assert caught.value.exit_code == 4
    ((_, status),) = served.statuses()
    assert (status.state, len(status.attempts)) == (RouteState.QUEUED, 1)


def test_a_broken_record_of_an_attempt_is_none(served: RunDirectory, tmp_path: Path) -> None:
    episode = served.plan.episodes[0]
    folder = tmp_path / "attempt"
    folder.mkdir()
    (folder / "record.json").write_text('{"route')
    (folder / "heartbeat.json").write_text(json.dumps({"time": 0.0}))
    task: Any = SimpleNamespace(folder=folder, episode=episode, plan=served.plan)
    assert attempts._given_up(task, "at all", 1.0).ending is Ending.MODEL_SERVER
