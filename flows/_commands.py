"""What flows do: run a command, pass its output on, leave no orphans."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

QUIET = {
    "DO_NOT_TRACK": "true",
    "DVC_NO_ANALYTICS": "1",
    "GX_ANALYTICS_ENABLED": "false",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PYTHONUNBUFFERED": "1",
}
"""No command of a flow reports to anyone; its output arrives line by line."""
TAIL_LINES = 15
GUARD = Path(__file__).with_name("_guard.py")


def environment() -> dict[str, str]:
    """Ours, quiet, with the programs of this Python's environment first: stages are run as ``python``."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {**os.environ, **QUIET, "PATH": programs}


class CommandFailed(RuntimeError):
    """A command ended with another code than 0; the message holds its last lines."""


def run(
    argv: Sequence[str],
    cwd: Path,
    log: Callable[[str], None],
    grace_s: float = 10.0,
    answers: Sequence[int] = (0,),
) -> int:
    """Run ``argv`` in ``cwd``, hand each line of its output to ``log``, and return its exit code.

    ``answers`` are the exit codes that say something; all others are failures.

    The command runs under :mod:`flows._guard`: when this process is cancelled or killed, the whole process
    tree of the command ends within ``grace_s`` seconds.

    Raises
    ------
    CommandFailed
        If the command ends with another code than those.
    """
    log(f"$ {' '.join(argv)}")
    guard = subprocess.Popen(
        [sys.executable, str(GUARD), str(grace_s), *argv],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    assert guard.stdin is not None
    assert guard.stdout is not None
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    try:
        for line in guard.stdout:
            tail.append(line.rstrip())
            log(tail[-1])
        code = guard.wait()
    finally:
        guard.stdin.close()
        try:
            guard.wait(grace_s + 5.0)
        except subprocess.TimeoutExpired:
            guard.kill()
            guard.wait()
        guard.stdout.close()
    if code not in answers:
        raise CommandFailed("\n".join([f"{' '.join(argv)} ended with code {code}", *tail]))
    return code


def output(argv: Sequence[str], cwd: Path) -> str:
    """What a short command prints, stripped.

    Raises
    ------
    CommandFailed
        If it does not end with code 0.
    """
    done = subprocess.run(
        argv, cwd=cwd, env=environment(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise CommandFailed(f"{' '.join(argv)}: {done.stderr.strip() or done.returncode}")
    return done.stdout.strip()
