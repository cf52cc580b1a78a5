"""Whose fault it is when an attempt goes wrong, without a simulator: the route's, the policy's, the disk's, nobody's."""

from __future__ import annotations

import errno
import json
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from driveproof.drive import attempt as attempts
from driveproof.drive import episode as episodes
from driveproof.drive import runner
from driveproof.drive.attempt import attempt
from driveproof.drive.begin import begin_run
from driveproof.drive.episode import EpisodeTask, Outcome, drive_episode, timeout_of
from driveproof.drive.notes import SO_FAR_FILE
from driveproof.drive.plan import DriveSettings
from driveproof.drive.rundir import RunDirectory
from driveproof.drive.runner import Care, Worker
from driveproof.drive.seat import ModelLost, PolicyBroke, PolicyDriver, Seat, guarded
from driveproof.drive.states import Ending
from driveproof.errors import BadInput, Unreachable, UserError
from driveproof.evaluation.driving.records import RouteState, read_record, write_record
from driveproof.files import CannotWrite
from driveproof.policy.driving import DriveDecision, DriveObservation
from driveproof.policy.guard import Guarded
from driveproof.questions import parse_keys
from driveproof.sim.client import ServerLost, SpawnBlocked
from driveproof.sim.scenarios import RouteShow

KEYS = parse_keys("FOLLOW_LANE, KEEP")
SEEN = DriveObservation(0, 0.0, {}, 0.0)
FULL = OSError(errno.ENOSPC, "No space left on device", "motion.parquet")


@pytest.fixture
def run(plain_suite, tmp_path) -> RunDirectory:
    return begin_run(tmp_path / "run", plain_suite, "random", DriveSettings())


def task_of(run: RunDirectory) -> EpisodeTask:
    episode = run.plan.episodes[0]
    folder = run.folder(episode) / "attempt"
    folder.mkdir(parents=True)
    return EpisodeTask(run.plan, episode, run.spec(episode.route), folder)


# --- what a policy hands over ------------------------------------------------------------------------


class Says:
    """A stranger's policy that always gives the same."""

    name, views, history = "says", (), 1

    def __init__(self, **decision: Any) -> None:
        self._decision = decision

    def identity(self) -> dict[str, Any]:
        return {}

    def begin(self, episode: str, seed: int) -> None:
        """Nothing to forget."""

    def decide(self, observation: DriveObservation) -> DriveDecision:
        return DriveDecision(**self._decision)


@pytest.mark.parametrize(
    "decision",
    [
        {"keys": KEYS, "trace": {"why": np.float32(0.5)}},
        {"keys": KEYS, "trace": {"why": float("nan")}},
        {"keys": KEYS, "trace": ["look"]},
        {"keys": KEYS, "usage": {"tokens": "many"}},
        {"keys": KEYS, "usage": None},
        {"keys": "FOLLOW_LANE, KEEP"},
        {"controls": {"throttle": 1.0}},
    ],
)
def test_what_cannot_be_written_is_an_error_of_the_policy(decision) -> None:
    given = Guarded(Says(**decision)).decide(SEEN)
    assert given.error.startswith("no decision: ")
    assert given.keys is None
    assert given.controls is None


def test_what_can_be_written_becomes_plain() -> None:
    pedals = SimpleNamespace(throttle=np.float32(0.5), brake=np.int64(0), steer=np.float64(0.0))
    usage = {"tokens": np.int64(3)}
    given = Guarded(Says(controls=pedals, usage=usage, trace={"steps": ("look",)})).decide(SEEN)
    assert given.error == ""
    assert [type(n) for n in vars(given.controls).values()] == [float] * 3
    assert json.dumps(dict(given.usage)) == '{"tokens": 3}'
    assert given.trace == {"steps": ["look"]}


@pytest.mark.parametrize("steps", [["look"], "look", 5, {"error": "x"}, [None, {"error": 3}]])
def test_steps_of_any_form_are_no_trouble(steps) -> None:
    driver = PolicyDriver.__new__(PolicyDriver)
    driver._seat, driver._errors = SimpleNamespace(alive=lambda: True), 0
    driver._check(DriveDecision(KEYS, trace={"steps": steps}))
    with pytest.raises(ModelLost):
        driver._check(DriveDecision(error="gone", outage=True))


def test_a_policy_is_told_that_it_is_over_whatever_it_makes_of_that() -> None:
    told = []

    class Leaves(Says):
        def end(self) -> None:
            told.append("end")
            raise RuntimeError("would rather go on")

        def close(self) -> None:
            told.append("close")

    for policy in (Leaves(), Guarded(Leaves())):
        told.clear()
        Seat(policy, DriveSettings(), None).close()
        assert told == ["end", "close"]
    Seat(Guarded(Says()), DriveSettings(), None).close()


def test_a_simulator_that_is_lost_while_a_policy_looks_is_no_fault_of_either() -> None:
    def raises(error: Exception) -> Any:
        def call() -> None:
            raise error

        return call

    with pytest.raises(ServerLost):
        guarded(raises(ServerLost("gone")))
    with pytest.raises(ModelLost):
        guarded(raises(Unreachable("gone")))
    with pytest.raises(PolicyBroke):
        guarded(raises(OSError("gone")))


# --- how an episode ends -----------------------------------------------------------------------------


def session_that(error: Exception) -> Any:
    def load_town(name: str) -> None:
        raise error

    return SimpleNamespace(load_town=load_town)


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (BadInput("no such town"), Ending.ROUTE),
        (SpawnBlocked("somebody stands there"), Ending.ROUTE),
        (FULL, Ending.DISK),
        (CannotWrite("cannot be written: No space left on device", path="x"), Ending.DISK),
    ],
)
def test_what_stops_an_episode_at_its_begin(run, error, ending) -> None:
    outcome = drive_episode(session_that(error), task_of(run))
    assert outcome.ending is ending
    assert str(error).split("]")[-1].strip()[:8] in outcome.reason


@pytest.mark.parametrize("error", [ServerLost("gone"), ConnectionResetError("gone")])
def test_who_is_lost_is_no_route(run, error) -> None:
    with pytest.raises(type(error)):
        drive_episode(session_that(error), task_of(run))


def town_only(**_: Any) -> Any:
    return SimpleNamespace(load_town=lambda name: None)


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (PolicyBroke("BadInput: CUDA out of memory"), Ending.POLICY),
        (ModelLost("no answer"), Ending.MODEL_SERVER),
        (FULL, Ending.DISK),
    ],
)
def test_a_policy_that_cannot_be_opened_in_its_episode(run, monkeypatch, error, ending) -> None:
    def make_seat(*_: Any) -> None:
        raise error

    monkeypatch.setattr(episodes, "make_seat", make_seat)
    task = task_of(run)
    outcome = drive_episode(town_only(), task)
    assert outcome.ending is ending
    if ending is not Ending.POLICY:
        assert not (task.folder / "record.json").exists()
        return
    record = read_record(task.folder / "record.json")
    assert record.state is RouteState.FAILED_BY_POLICY
    assert record.status == "Failed - Agent crashed"
    assert "CUDA" in record.reason
    assert (record.completion, record.game_s, record.motion) == (0.0, 0.0, None)
    assert record.length_m == pytest.approx(22.0, abs=0.5)


def test_a_town_that_cannot_be_read_is_the_routes_fault(run, monkeypatch) -> None:
    def unread(*_: Any) -> None:
        raise BadInput("a road without lanes", path="Town77.xodr")

    seat = SimpleNamespace(close=lambda: None)
    monkeypatch.setattr(episodes, "make_seat", lambda *_: seat)
    monkeypatch.setattr(episodes, "Stage", unread)
    outcome = drive_episode(town_only(), task_of(run))
    assert outcome == Outcome(Ending.ROUTE, "Town77.xodr: a road without lanes")


def test_an_error_of_ours_is_not_blamed_on_the_route(run, monkeypatch) -> None:
    def make_seat(*_: Any) -> None:
        raise BadInput("a bug of ours")

    monkeypatch.setattr(episodes, "make_seat", make_seat)
    with pytest.raises(BadInput):
        drive_episode(town_only(), task_of(run))


# --- silence -----------------------------------------------------------------------------------------


class Silent:
    """A simulator whose episode never comes back; it may write something at first."""

    def __init__(self, **files: str) -> None:
        self._files = files

    def run(self, job: Any, task: EpisodeTask, look: Any = None) -> Any:
        for name, text in self._files.items():
            (task.folder / name.replace("_json", ".json")).write_text(text)
        end = time.monotonic() + 20.0
        while time.monotonic() < end:
            look()
            time.sleep(0.01)
        raise AssertionError("nobody gave it up")


BEAT = json.dumps({"time": 0.0, "game_s": 0.0, "completion": 0.0, "decisions": 0})


def test_a_policy_that_hangs_before_it_drives_is_given_up_with_a_record(run) -> None:
    task = task_of(run)
    (task.folder / ".heartbeat.json.x.json").touch()
    (task.folder / "clip_half.tar").touch()
    outcome = attempt(Silent(heartbeat_json=BEAT), task, threading.Event(), 0.2)
    assert outcome == Outcome(Ending.POLICY, "no decision within 0.2 s")
    record = read_record(task.folder / "record.json")
    assert (record.completion, record.reason) == (0.0, outcome.reason)
    assert {one.name for one in task.folder.iterdir()} == {"record.json", "heartbeat.json"}


def test_a_policy_that_hangs_later_is_scored_with_what_it_drove(run) -> None:
    task = task_of(run)
    drove = episodes._nothing_driven(task)
    text = json.dumps(drove.to_json() | {"completion": 0.5, "game_s": 12.0})
    silent = Silent(heartbeat_json=BEAT, so_far_json=text)
    assert attempt(silent, task, threading.Event(), 0.2).ending is Ending.POLICY
    record = read_record(task.folder / "record.json")
    assert (record.completion, record.game_s) == (0.5, 12.0)
    assert record.reason == "no decision within 0.2 s"
    assert SO_FAR_FILE == "so_far.json"


def test_silence_before_the_town_is_there_is_the_simulators(run) -> None:
    outcome = attempt(Silent(), task_of(run), threading.Event(), 0.2)
    assert outcome == Outcome(Ending.SIMULATOR, "the town was not there within 0.2 s")


def test_who_hangs_after_its_record_was_written_has_driven(run) -> None:
    task = task_of(run)
    whole = {"state": "completed", "status": "Completed", "completion": 1.0}
    text = json.dumps(episodes._nothing_driven(task).to_json() | whole)
    silent = Silent(heartbeat_json=BEAT, record_json=text)
    assert attempt(silent, task, threading.Event(), 0.2) == Outcome(Ending.COMPLETED)


# --- the disk ----------------------------------------------------------------------------------------


def test_a_full_disk_stops_the_run_and_leaves_the_route_queued(run, monkeypatch) -> None:
    tried = []

    def full(simulator: Any, task: EpisodeTask, *_: Any) -> Outcome:
        tried.append(task.episode.key)
        return Outcome(Ending.DISK, "motion.parquet: No space left on device")

    monkeypatch.setattr(runner, "attempt", full)
    worker = Worker(run, None, None, threading.Event(), Care(), lambda key, status: None)
    with pytest.raises(UserError, match=r"No space left.*stays queued"):
        worker.work()
    assert tried == ["1_rep0"]
    states = [status.state for _, status in run.statuses()]
    assert states == [RouteState.QUEUED] * 3
    assert "No space left" in next(iter(run.statuses()))[1].reason


def test_a_log_that_cannot_be_opened_is_the_disks(run, monkeypatch) -> None:
    monkeypatch.setattr(attempts, "end_with_parent", lambda: None)
    task = task_of(run)
    (task.folder / "log.txt").mkdir()
    outcome = attempts._job(None, task)
    assert outcome.ending is Ending.DISK
    assert "log.txt" in outcome.reason


# --- scenarios ---------------------------------------------------------------------------------------


@dataclass
class Part:
    began: bool = False
    done: bool = False


def show_of(waiting: int = 0, skipped: dict[str, str] | None = None, **playing: Part) -> RouteShow:
    rest: list[Any] = [(9.0, None)] * waiting
    return RouteShow(None, None, rest, 1.0, playing=playing, skipped=skipped or {})  # type: ignore[arg-type]


def test_not_staged_and_not_reached_are_two_things() -> None:
    no_room = {"A_1": "no room"}
    assert show_of(skipped=no_room).unstaged == "A_1: no room"
    assert show_of(waiting=1, skipped=no_room).unstaged == "", "the other one may still come"
    assert show_of(skipped=no_room, B_1=Part()).unstaged == ""
    assert show_of(waiting=1).unstaged == show_of().unstaged == ""


def test_only_a_scenario_that_has_begun_can_be_late() -> None:
    assert not show_of(waiting=1, A_1=Part()).overdue
    assert not show_of(A_1=Part(True, True)).overdue
    assert show_of(A_1=Part(True), B_1=Part()).overdue
    assert show_of(A_1=Part(True), B_1=Part()).performed == ("A_1",)


@pytest.mark.parametrize(("length", "seconds"), [(20.0, 200.0), (250.0, 200.0), (500.0, 400.0)])
def test_a_route_has_bench2drives_time_or_more_if_it_is_longer(length, seconds) -> None:
    assert timeout_of(SimpleNamespace(length=length)) == seconds  # type: ignore[arg-type]


def test_a_record_says_what_was_staged_and_old_ones_need_not(run, tmp_path: Path) -> None:
    known = episodes._nothing_driven(task_of(run)).to_json()
    told = known | {"performed": ["A_1"], "skipped": {"B_1": "no room"}}
    (tmp_path / "record.json").write_text(json.dumps(told))
    record = read_record(tmp_path / "record.json")
    assert (record.performed, record.skipped) == (("A_1",), {"B_1": "no room"})
    write_record(tmp_path / "again.json", record)
    assert read_record(tmp_path / "again.json") == record
    for name in ("performed", "skipped"):
        told.pop(name)
    (tmp_path / "record.json").write_text(json.dumps(told))
    old = read_record(tmp_path / "record.json")
    assert (old.performed, old.skipped) == (None, {})
