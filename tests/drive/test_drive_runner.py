"""Whole runs through the command line: queues, workers, kills, exit codes, and what a directory says meanwhile."""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driveproof.cli.drive import app
from driveproof.cli.status import command as status_command
from driveproof.drive.begin import begin_run
from driveproof.drive.campaign import disagreements, disturbed
from driveproof.drive.plan import DriveSettings
from driveproof.drive.rundir import RunDirectory
from driveproof.drive.runner import Care, drive
from driveproof.drive.simulators import Command, parse_simulators
from driveproof.drive.status import look_at, totals
from driveproof.errors import BadInput
from driveproof.evaluation.driving.records import RouteState
from driveproof.sim.client import SimulatorUnreachable, start_server
from driveproof.sim.client.server import embedded_command

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reference(plain_suite, tmp_path_factory) -> RunDirectory:
    """The three routes driven by the random policy without trouble."""
    out = tmp_path_factory.mktemp("reference") / "run"
    run = begin_run(out, plain_suite, "random", DriveSettings())
    drive(run, [None], Care())
    return run


def test_a_run_ends_and_its_directory_says_so(reference) -> None:
    reports = look_at(reference)
    assert totals(reports)["completed"] == 3
    assert [len(report.status.attempts) for report in reports] == [1, 1, 1]
    shown = CliRunner().invoke(_status_app(), [str(reference.path), "--json"])
    said = json.loads(shown.output)
    assert said["over"] is True
    assert said["totals"]["completed"] == 3
    assert {row["state"] for row in said["routes"]} == {"completed"}
    assert said["scores"]["corrected"]["driving_score"]["n"] == 3
    assert said["scores"]["bench2drive"]["driving_score"]["mean"] is not None


def _status_app():
    import typer

    status = typer.Typer()
    status.command()(status_command)
    return status


@pytest.mark.slow
def test_two_workers_give_the_same_results_as_one(reference, plain_suite, tmp_path) -> None:
    run = begin_run(tmp_path / "run", plain_suite, "random", DriveSettings())
    drive(run, [None, None], Care())
    assert disagreements(run, reference) == []


@pytest.mark.slow
def test_a_dead_simulator_costs_an_attempt_and_no_result(reference, plain_suite, tmp_path) -> None:
    words = ["--policy", "random", "--suite", str(plain_suite), "--out", str(tmp_path / "run")]
    words += ["--attempts", "9"]
    campaign = disturbed(words, kills=2, seed=1, pause_s=(0.0, 2.0), what=("simulator",))
    assert campaign.kills["simulator"] >= 1
    assert campaign.starts == 1
    assert campaign.orphans == []
    assert disagreements(RunDirectory(tmp_path / "run"), reference) == []


@pytest.mark.slow
def test_whatever_dies_every_route_ends_once_with_the_same_score(
    reference, plain_suite, tmp_path
) -> None:
    out = tmp_path / "run"
    words = ["--serve", "random", "--suite", str(plain_suite), "--out", str(out)]
    words += ["--attempts", "20"]
    campaign = disturbed(words, kills=6, seed=2, pause_s=(0.0, 2.5))
    assert campaign.kills.total() >= 3
    assert campaign.orphans == []
    assert disagreements(RunDirectory(out), reference) == []
    assert max(campaign.memory_mb) < 4000.0


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(reference, plain_suite, tmp_path) -> None:
    out = tmp_path / "run"
    words = ["--policy", "random", "--suite", str(plain_suite), "--out", str(out)]
    first = _start(words)
    _await(lambda: _ended(out) >= 1, first)
    said = _status(out)
    assert said["totals"]["running"] + said["totals"]["queued"] >= 1
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    done = _ended(out)
    before = {path: path.stat().st_mtime_ns for path in out.glob("routes/*/record.json")}
    assert _start(words).wait() == 0
    run = RunDirectory(out)
    assert disagreements(run, reference) == []
    assert sum(path.stat().st_mtime_ns == when for path, when in before.items()) >= done
    endings = [one.ending for _, status in run.statuses() for one in status.attempts]
    assert endings.count("completed") == 3


def _start(words: list[str]) -> subprocess.Popen[bytes]:
    # as a person starts it: jobs in the background of a script inherit that SIGINT is ignored
    usual = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    command = [sys.executable, "-m", "driveproof", "drive", *words]
    return subprocess.Popen(
        command, stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=usual
    )


def _ended(out: Path) -> int:
    if not (out / "run.json").exists():
        return 0
    return sum(status.state.ended for _, status in RunDirectory(out).statuses())


def _status(out: Path) -> dict:
    shown = CliRunner().invoke(_status_app(), [str(out), "--json"])
    return json.loads(shown.output)


def _await(condition, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 300.0
    while not condition():
        assert process.poll() is None, "it ended too early"
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_an_interrupt_puts_the_route_back_and_leaves_nobody(plain_suite, tmp_path) -> None:
    out = tmp_path / "run"
    words = ["--policy", "random", "--suite", str(plain_suite), "--out", str(out)]
    process = _start(words)
    _await(lambda: out.exists() and _running(out), process)
    process.send_signal(signal.SIGINT)
    assert process.wait(60.0) == 130
    report = look_at(RunDirectory(out))[0]
    assert report.state is RouteState.QUEUED
    assert report.status.attempts[-1].ending == "interrupted"


def _running(out: Path) -> bool:
    if not (out / "run.json").exists():
        return False
    beats = out.glob("routes/*/attempt/heartbeat.json")
    return any(True for _ in beats)


def test_a_route_that_always_crashes_is_quarantined_and_the_others_go_on(
    plain_suite, tmp_path
) -> None:
    policy = "told_policy:Told#die:"
    run = begin_run(tmp_path / "run", plain_suite, policy, DriveSettings(), limit=1)
    drive(run, [None], Care(budget=2))
    (report,) = look_at(run)
    assert report.state is RouteState.QUARANTINED
    assert report.status.reason.startswith("2 crashes, the last: ")
    assert [one.ending for one in report.status.attempts] == ["simulator"] * 2
    assert report.record is None, "a crash is no zero"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--policy", "random", "--out", "x"], "--suite"),
        (["--policy", "nobody", "--suite", "SUITE", "--out", "x"], "no such kind"),
        (["--suite", "SUITE", "--out", "x"], "--policy"),
        (["--policy", "random", "--suite", "absent.xml", "--out", "x"], "absent.xml"),
        (["--policy", "random", "--suite", "SUITE", "--out", "x", "--record", "film"], "--record"),
        (["--policy", "random", "--suite", "SUITE", "--out", "x", "--latency", "soon"], "latency"),
        (["--policy", "random", "--suite", "SUITE", "--out", "x", "--graph", "cot"], "graph"),
        (["--policy", "random", "--suite", "SUITE", "--out", "x", "--sim", "there"], "there"),
    ],
)
def test_bad_words_are_one_line_and_nothing_is_begun(
    plain_suite, tmp_path, monkeypatch, words, problem
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [str(plain_suite) if word == "SUITE" else word for word in words]
    shown = CliRunner().invoke(app, words)
    assert isinstance(shown.exception, BadInput), shown.output
    assert problem in str(shown.exception)
    assert not (tmp_path / "x" / "routes" / "1_rep0").exists()


@pytest.mark.slow
def test_a_simulator_elsewhere_drives_the_same_and_without_one_nothing_is_lost(
    reference, plain_suite, tmp_path
) -> None:
    server = start_server("Town01")
    try:
        run = begin_run(tmp_path / "run", plain_suite, "random", DriveSettings())
        drive(run, parse_simulators(f"{server.host}:{server.port}", 1), Care())
    finally:
        server.stop()
    assert disagreements(run, reference) == []
    left = begin_run(tmp_path / "left", plain_suite, "random", DriveSettings())
    with pytest.raises(SimulatorUnreachable):
        drive(left, parse_simulators(f"{server.host}:{server.port}", 1), Care(budget=1))
    assert totals(look_at(left))["queued"] == 3, "no route is blamed"


def test_simulators_in_words() -> None:
    assert parse_simulators("embedded", 3) == [None] * 3
    found = parse_simulators("127.0.0.1:2000, sim-7:2004", 1)
    assert [(one.host, one.port) for one in found] == [("127.0.0.1", 2000), ("sim-7", 2004)]
    for text in ("", "host", "host:0", "host:99999", "a:1,a:1"):
        with pytest.raises(BadInput):
            parse_simulators(text, 1)
    with pytest.raises(BadInput, match="--workers: 3 workers for 2 simulators"):
        parse_simulators("a:1,b:1", 3)


def test_command_lines_of_simulators() -> None:
    line = "sh 'my CARLA/run.sh' -carla-rpc-port={port} -graphicsadapter={gpu} ; $(rm)"
    found = parse_simulators("embedded", 3, line, "4, 7")
    words = [one.words for one in found]
    assert [one[3] for one in words] == [f"-graphicsadapter={gpu}" for gpu in (4, 7, 4)]
    assert words[0][:3] == ("sh", "my CARLA/run.sh", "-carla-rpc-port={port}")
    assert words[0][4:] == (";", "$(rm)")  # no shell sees it
    assert parse_simulators("embedded", 1, "sh {port}") == [Command(("sh", "{port}"))]


@pytest.mark.parametrize(
    ("sim", "command", "gpus", "said"),
    [
        ("a:1", "sh {port}", "", "--sim-command: starts servers of our own, --sim a:1"),
        ("embedded", "sh 'x {port}", "", "--sim-command: no command line"),
        ("embedded", "./no-such-CARLA.sh {port}", "", "no such program: ./no-such-CARLA.sh"),
        ("embedded", " ", "", "no such program"),
        ("embedded", "sh -p=2000", "", "needs {port}"),
        ("embedded", "sh {port} {town}", "", "nothing else in braces"),
        ("embedded", "sh {port} {gpu}", "", "--sim-gpus: belongs to {gpu}"),
        ("embedded", "sh {port}", "0,1", "--sim-gpus: belongs to {gpu}"),
        ("embedded", "sh {port} {gpu}", "0,x", "no numbers of GPUs: 0,x"),
        ("embedded", "", "0,1", "--sim-gpus: says which GPU"),
    ],
)
def test_what_starts_no_simulator_is_refused(sim: str, command: str, gpus: str, said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        parse_simulators(sim, 1, command, gpus)


def test_nobody_recycles_what_others_started(plain_suite, tmp_path) -> None:
    words = ["--policy", "random", "--suite", str(plain_suite), "--out", str(tmp_path / "run")]
    shown = CliRunner().invoke(app, [*words, "--sim", "127.0.0.1:1", "--recycle", "5"])
    assert isinstance(shown.exception, BadInput)
    assert "--recycle: who started 127.0.0.1:1 must start it anew" in str(shown.exception)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_carla_of_ones_own_is_started_supervised_and_recycled(
    plain_suite, tmp_path, reference
) -> None:
    """The embedded server's command line stands for a real CARLA's."""
    noted = tmp_path / "starts"
    script = f'echo "$0 $1" >> {shlex.quote(str(noted))}; shift; exec "$@"'
    line = shlex.join(["sh", "-c", script, "gpu{gpu}", "{port}", *embedded_command("Town02")])
    out = tmp_path / "run"
    words = ["--policy", "random", "--suite", str(plain_suite), "--out", str(out)]
    options = ["--sim-command", line, "--sim-gpus", "5", "--recycle", "2"]
    shown = CliRunner().invoke(app, [*words, *options], catch_exceptions=False)
    assert shown.exit_code == 0, shown.output
    starts = [one.split() for one in noted.read_text().splitlines()]
    assert [gpu for gpu, _ in starts] == ["gpu5", "gpu5"]  # three routes, two a server
    assert all(port.isdecimal() for _, port in starts)
    assert disagreements(RunDirectory(out), reference) == []


def test_the_help_names_every_exit_code() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).output
    said = " ".join(shown.replace("│", " ").split())
    for code in ("0 all routes", "1 some are lost", "2 bad option", "4 routes are left", "130"):
        assert code in said
