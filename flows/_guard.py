"""Run one command and let nothing of it outlive its caller: ``python _guard.py GRACE_S COMMAND...``.

The caller holds the write end of this program's standard input. The kernel closes that end however the
caller dies, SIGKILL included, so the end of the input is the one signal that cannot be missed. Then, and on
SIGTERM or SIGINT, the whole tree below this program gets SIGTERM and, after the grace time, SIGKILL.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import time

import psutil  # type: ignore[import-untyped]

POLL_S = 0.1
STOPPED = 143
"""Exit code after a stop: 128 + SIGTERM, as a shell would say it."""
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of grandchildren whose parent dies (Linux), so that none leaves the tree."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_tree(grace_s: float) -> None:
    """SIGTERM everything below this process, wait up to ``grace_s`` seconds, then SIGKILL the rest."""
    _signal_tree(signal.SIGTERM)
    deadline = time.monotonic() + grace_s
    while _living() and time.monotonic() < deadline:
        time.sleep(POLL_S)
    # a process that forks while it is being killed needs another round
    while _living():
        _signal_tree(signal.SIGKILL)
        time.sleep(POLL_S)
    _reap()


def _reap() -> None:
    """Collect the dead that were adopted: in a container, nobody else may do it."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _living() -> list[psutil.Process]:
    living = []
    for process in psutil.Process().children(recursive=True):
        try:
            if process.status() != psutil.STATUS_ZOMBIE:
                living.append(process)
        except psutil.NoSuchProcess:
            continue
    return living


def _signal_tree(number: int) -> None:
    for process in _living():
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            continue


def main(grace_s: float, command: list[str]) -> int:
    """Run ``command``; return its exit code, or :data:`STOPPED` when the caller went away or said stop."""
    stop: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda received, _frame: stop.append(received))
    adopt_orphans()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    while child.poll() is None:
        ready, _, _ = select.select([0], [], [], POLL_S)
        if stop or (ready and not os.read(0, 1)):
            end_tree(grace_s)
            return STOPPED
    # the command is done; what it left in the background ends with it
    end_tree(grace_s)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
