"""Commands of flows: output arrives, failure is told, nothing outlives the caller."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from flows._commands import CommandFailed, run

# a parent that waits, a child in a session of its own that ignores SIGTERM: the worst a stage does
STUBBORN = """
import os, pathlib, signal, subprocess, sys, time
if len(sys.argv) == 2:
    subprocess.Popen([sys.executable, __file__, sys.argv[1], "child"], start_new_session=True)
else:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path(sys.argv[1], str(os.getpid())).touch()
time.sleep(120)
"""
CALLER = """
import pathlib, sys
from flows._commands import run
run([sys.executable, sys.argv[1], sys.argv[2]], pathlib.Path("."), print, grace_s=0.3)
"""


def _wait_for(condition, seconds: float = 15.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def test_lines_arrive_in_order_and_failure_carries_the_tail(tmp_path: Path) -> None:
    lines: list[str] = []
    script = "import sys\nfor i in range(40): print(i)\nsys.exit(7)"
    with pytest.raises(CommandFailed, match=r"code 7\n25\n") as failure:
        run([sys.executable, "-c", script], tmp_path, lines.append)
    assert lines[1:] == [str(i) for i in range(40)]
    assert str(failure.value).endswith("39")


def test_python_is_this_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    lines: list[str] = []
    run(["sh", "-c", "command -v python"], tmp_path, lines.append)
    assert Path(lines[-1]).parent == Path(sys.executable).parent


def test_what_a_command_leaves_in_the_background_ends_with_it(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys\n"
        "child = subprocess.Popen(['sleep', '120'], start_new_session=True,"
        " stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "print(child.pid)"
    )
    lines: list[str] = []
    run([sys.executable, "-c", script], tmp_path, lines.append)
    assert not psutil.pid_exists(int(lines[-1]))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_a_killed_caller(tmp_path: Path, root: Path, number: int) -> None:
    script = tmp_path / "stubborn.py"
    script.write_text(STUBBORN)
    pids = tmp_path / "pids"
    pids.mkdir()
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER, str(script), str(pids)],
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.DEVNULL,
    )
    _wait_for(lambda: len(list(pids.iterdir())) == 2)
    family = [int(path.name) for path in pids.iterdir()]
    assert all(psutil.pid_exists(pid) for pid in family)
    caller.send_signal(number)
    caller.wait(10)
    _wait_for(lambda: not any(psutil.pid_exists(pid) for pid in family))
