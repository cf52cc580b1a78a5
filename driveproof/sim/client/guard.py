"""Runs a server for as long as its owner lives. A script of its own: nothing but the standard library.

    python guard.py COMMAND [ARGUMENT ...]

The owner holds the other end of standard input. When it closes, by intent or because the owner died, the whole
process group ends. When the server ends, so does this program, with its exit code.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

GRACE_S = 3.0
"""Seconds between the polite and the certain end."""


def main() -> int:
    """Start the command in this process group and wait for whichever end comes first."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it is meant for the others of the group
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, preexec_fn=_usual_signals)
    threading.Thread(target=_end_with_owner, args=(child,), daemon=True).start()
    return abs(child.wait())


def _usual_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def _end_with_owner(child: subprocess.Popen[bytes]) -> None:
    while os.read(0, 1024):
        pass
    os.killpg(0, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(GRACE_S)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
