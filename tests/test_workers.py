"""Pools whose processes end with whoever started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import psutil

from driveproof.workers import process_pool

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
