"""``driveproof policy serve`` as a process: ready, checked, killed, orphaned."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from typer.testing import CliRunner
from wire_helpers import asked, closing  # type: ignore[import-not-found]

from driveproof.cli.policy import app
from driveproof.policy import DriveObservation, open_driver, open_policy
from driveproof.policy.wire.serve import bind

SLOW = """
import time
from driveproof.policy import ChatReply

class Slow:
    name = "slow"

    def identity(self):
        return {"kind": "slow"}

    def reply(self, requests):
        time.sleep(float(requests[0].messages[0]["content"][0]["text"]))
        return [ChatReply("done") for _ in requests]
"""


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Any]:
    """Start a server with options; gives the process and what the ready file says."""
    (tmp_path / "slow_model.py").write_text(SLOW)
    processes: list[subprocess.Popen[str]] = []

    def start(*options: str, via: tuple[str, ...] = ()) -> tuple[subprocess.Popen[str], Any]:
        ready = tmp_path / f"ready{len(processes)}.json"
        command = [sys.executable, "-m", "driveproof", "policy", "serve", *options]
        command += ["--port", "0", "--ready-file", str(ready), "--json"]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
        process = subprocess.Popen(
            [*via, *command], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
        )
        processes.append(process)
        for _ in range(600):
            if ready.exists():
                return process, json.loads(ready.read_text())
            assert process.poll() is None, "the server ended before it was ready"
            time.sleep(0.05)
        raise AssertionError("the server is not ready")

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.slow
def test_a_server_says_that_it_is_ready_and_ends_on_a_signal(started: Any) -> None:
    process, said = started("constant_velocity:8")
    assert (said["role"], said["name"], said["pid"]) == (
        "driving",
        "constant_velocity",
        process.pid,
    )
    with closing(open_driver(said["spec"])) as driver:
        driver.begin("1_rep0", 0)
        controls = driver.decide(DriveObservation(0, 0.0, {}, 8.0)).controls
        assert controls is not None
        assert controls.steer == 0.0
    done = CliRunner().invoke(app, ["check", said["spec"], "--json"])
    report = json.loads(done.stdout)
    assert report["policy"] == {"kind": "constant_velocity", "speed": 8.0}
    assert report["controls"]["steer"] == 0.0
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=20)
    assert process.returncode in (0, -signal.SIGTERM)
    assert json.loads(out) == said


@pytest.mark.slow
def test_a_killed_server_is_noticed_at_once(started: Any) -> None:
    process, said = started("slow_model:Slow")
    with closing(open_policy(said["spec"])) as remote:
        assert remote.reply([asked("0", 0)])[0].text == "done"
        threading.Timer(0.5, process.kill).start()
        start = time.monotonic()
        (reply,) = remote.reply([asked("60", 0)])
        assert 0.3 < time.monotonic() - start < 3.0
        assert reply.outage
        start = time.monotonic()
        (reply,) = remote.reply([asked("0", 0)])
        assert time.monotonic() - start < 1.0
        assert reply.outage


@pytest.mark.slow
def test_a_model_that_hangs_does_not_keep_the_process(started: Any) -> None:
    process, said = started("slow_model:Slow", "--timeout", "0.2")
    with closing(open_policy(said["spec"])) as remote:
        assert "took longer" in remote.reply([asked("600", 0)])[0].error
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)


@pytest.mark.slow
def test_a_server_ends_with_its_parent(started: Any) -> None:
    shell = ("sh", "-c", '"$@" & wait', "sh")
    parent, said = started("random", "--with-parent", via=shell)
    server = psutil.Process(said["pid"])
    parent.kill()
    server.wait(timeout=10)


def test_small_answers_are_sent_at_once() -> None:
    """asyncio switches Nagle's algorithm off only where the socket names its protocol; 40 ms a call otherwise."""
    with bind("127.0.0.1", 0, "") as listener:
        assert listener.proto == socket.IPPROTO_TCP


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["oracle"], "neither talks nor drives"),
        (["gpt"], "no such kind"),
        (["wire:http://127.0.0.1:1"], "not served again"),
        (["random", "--host", "0.0.0.0"], "without a token"),
        (["random", "--host", "no.such.host.invalid", "--token-file", "TOKEN"], "cannot listen"),
        (["random", "--token-file", "nowhere"], "no token can be read"),
        (["random", "--token-file", "SHORT"], "at least 16 characters"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, options: list[str], said: str) -> None:
    (tmp_path / "TOKEN").write_text("0123456789abcdef\n")
    (tmp_path / "SHORT").write_text("1234\n")
    files = {name: str(tmp_path / name) for name in ("TOKEN", "SHORT")}
    arguments = [files.get(option, option) for option in options]
    done = CliRunner().invoke(app, ["serve", "--port", "0", *arguments])
    assert said in str(done.exception)
    assert "\n" not in str(done.exception)


def test_the_list_names_every_kind() -> None:
    listed = json.loads(CliRunner().invoke(app, ["list", "--json"]).stdout)
    assert "wire:URL[#NAME]" in listed["answer questions"]
    assert "recorded:RUN_DIR" in listed["drive"]
    assert "constant_velocity[:SPEED]" in CliRunner().invoke(app, ["list"]).stdout
