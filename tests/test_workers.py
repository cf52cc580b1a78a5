"""Pools whose processes end with whoever started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

import psutil
import pytest

from driveproof.errors import run
from driveproof.workers import follow, process_pool, report_queue

_OWN: list[int] = []
OWNER = """
import os, sys
from driveproof.workers import process_pool
if __name__ == "__main__":
    pool = process_pool(2)
    print(*{pool.submit(os.getpid).result() for _ in range(4)}, flush=True)
    sys.stdin.read()
"""


def _begin(first: int) -> None:
    _OWN.append(first)


def _own(_: int) -> list[int]:
    return _OWN


def test_workers_begin_as_they_are_told() -> None:
    with process_pool(1, _begin, (7,)) as pool:
        assert pool.submit(_own, 0).result() == [7]


def test_idle_workers_end_when_their_owner_is_killed() -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    numbers = [int(word) for word in owner.stdout.readline().split()]
    workers = [psutil.Process(number) for number in numbers]
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    deadline = time.monotonic() + 20.0
    while any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in workers):
        assert time.monotonic() < deadline, "a worker outlived its owner"
        time.sleep(0.05)


_REPORTS: list[Any] = []


def _hear(reports: Any) -> None:
    _REPORTS.append(reports)


def _speak(to: int) -> int:
    for number in range(to):
        _REPORTS[0].put(("said", number))
    return to


def _fail() -> None:
    raise ValueError("no")


def test_reports_of_workers_are_passed_on_until_all_have_ended() -> None:
    reports = report_queue()
    heard: list[tuple[str, int]] = []
    with process_pool(1, _hear, (reports,)) as pool:
        futures = [pool.submit(_speak, 3)]
        follow(futures, reports, lambda *entry: heard.append(entry))
    assert futures[0].result() == 3
    assert heard == [("said", n) for n in range(3)]


@pytest.mark.slow
def test_the_first_failure_ends_the_following() -> None:
    reports = report_queue()
    with process_pool(2) as pool:
        futures = [pool.submit(_fail), pool.submit(time.sleep, 5.0)]
        follow(futures, reports, None)
        assert not futures[1].done()
    with pytest.raises(ValueError, match="no"):
        futures[0].result()


def test_a_worker_that_was_killed_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        with process_pool(1) as pool:
            pool.submit(os.kill, pool.submit(os.getpid).result(), signal.SIGKILL).result()

    with pytest.raises(SystemExit) as caught:
        run(main, options=True)
    assert caught.value.code == 2
    message = "error: a worker process died (out of memory? fewer workers need less)\n"
    assert capsys.readouterr().err == message
