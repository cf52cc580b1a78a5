"""A campaign of kills: whatever dies during a run, every route ends once, truly, and scores as if nothing had happened.

Simulators, model servers, episodes' processes and the run itself are killed at random moments; the run is started again
whenever it is gone. It runs the command line, as a user or a scheduler would.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil  # type: ignore[import-untyped]

from driveproof.drive.notes import HEARTBEAT_FILE, MOTION_FILE, RECORD_FILE
from driveproof.drive.rundir import ATTEMPT, RunDirectory
from driveproof.drive.states import RouteStatus
from driveproof.evaluation.driving.records import read_record

PATIENCE_S = 3600.0
ENDED = (0, 1)
"""Exit codes of a run that is over; with any other it is started again."""
TRIES = 3
LOOK_S = 0.1
RELAXED = ("system_s",)
"""Wall-clock in a record: the only thing that may differ."""
_KINDS = {"simulator": ("sim", "serve"), "model_server": ("policy", "serve")}


@dataclass
class Campaign:
    """What happened.

    Attributes
    ----------
    kills
        By what was killed: simulator, model_server, episode, runner.
    starts
        How often the run was started.
    seconds
        All in all.
    memory_mb
        Of the whole tree of processes, at each kill.
    orphans
        Processes of the run that were left when it was over.
    """

    kills: Counter[str] = field(default_factory=Counter)
    starts: int = 0
    seconds: float = 0.0
    memory_mb: list[float] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**vars(self), "kills": dict(sorted(self.kills.items()))}


def disturbed(
    words: Sequence[str],
    kills: int,
    seed: int = 0,
    pause_s: tuple[float, float] = (0.0, 4.0),
    what: Sequence[str] = ("simulator", "model_server", "episode", "runner"),
) -> Campaign:
    """Run ``driveproof drive`` with ``words`` to its end, and kill parts of it on the way.

    Parameters
    ----------
    kills
        How many; fewer if the run is over before.
    pause_s
        Shortest and longest time from one, or from the begin of an episode after it, to the next.
    """
    rng = np.random.default_rng(seed)
    campaign = Campaign()
    began = time.monotonic()
    known: dict[int, psutil.Process] = {}
    run = _start(words, campaign)
    try:
        while (code := run.poll()) not in ENDED:
            if code is not None:
                if campaign.starts > kills + TRIES:
                    raise RuntimeError(f"the run ends again and again, with code {code}")
                run = _start(words, campaign)
            if time.monotonic() - began > PATIENCE_S:
                raise TimeoutError("the campaign does not end")
            if campaign.kills.total() < kills:
                _await_episode(run, Path(words[list(words).index("--out") + 1]))
            _sleep(run, float(rng.uniform(*pause_s)))
            if run.poll() is None and campaign.kills.total() < kills:
                tree = _tree(run.pid)
                known |= {process.pid: process for process in tree}
                campaign.memory_mb.append(_memory(tree))
                _kill(run, tree, str(rng.choice(list(what))), rng, campaign)
    finally:
        run.kill()
        run.wait()
    campaign.seconds = round(time.monotonic() - began, 1)
    campaign.orphans = _left(known)
    return campaign


def disagreements(run: RunDirectory, reference: RunDirectory) -> list[str]:
    """What a run's routes have otherwise than an undisturbed one's, a line each: states, records, motion, decisions."""
    found = []
    pairs = zip(run.statuses(), reference.statuses(), strict=True)
    for (episode, status), (_, wanted) in pairs:
        ours, theirs = run.folder(episode), reference.folder(episode)
        if status.state is not wanted.state:
            found.append(f"{episode.key}: {status.state}, was {wanted.state}: {status.reason}")
        elif _ends(status) != 1:
            found.append(f"{episode.key}: ended {_ends(status)} times")
        elif status.state.scored and _record(ours) != _record(theirs):
            found.append(f"{episode.key}: another record")
        elif status.state.scored and _motion(ours) != _motion(theirs):
            found.append(f"{episode.key}: another motion")
        elif _decisions(ours) != _decisions(theirs):
            found.append(f"{episode.key}: other decisions")
    return found


def _start(words: Sequence[str], campaign: Campaign) -> subprocess.Popen[bytes]:
    campaign.starts += 1
    command = [sys.executable, "-m", "driveproof", "drive", *words]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def _await_episode(run: subprocess.Popen[bytes], out: Path) -> None:
    """Wait until an episode is under way: who kills a run that only begins again proves nothing."""
    since = time.time()
    while run.poll() is None and not _beats(out, since):
        time.sleep(LOOK_S)


def _beats(out: Path, since: float) -> bool:
    """Whether an episode has given a sign of life since then; that of a dead one lies about."""
    for beat in out.glob(f"routes/*/{ATTEMPT}/{HEARTBEAT_FILE}"):
        with suppress(FileNotFoundError):
            if beat.stat().st_mtime > since:
                return True
    return False


def _sleep(run: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        run.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def _tree(pid: int) -> list[psutil.Process]:
    try:
        return list(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def _kill(
    run: subprocess.Popen[bytes],
    tree: list[psutil.Process],
    what: str,
    rng: np.random.Generator,
    campaign: Campaign,
) -> None:
    """Kill one of a kind; nothing if there is none now."""
    if what == "runner":
        run.kill()
        run.wait()
        campaign.kills[what] += 1
        return
    there = [process for process in tree if _kind(process) == what]
    if there:
        _end(there[int(rng.integers(len(there)))])
        campaign.kills[what] += 1


def _end(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return


def _kind(process: psutil.Process) -> str:
    """What a process of a run does: itself, not the guard that watches it."""
    try:
        words = process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return ""
    if any(word.endswith("guard.py") for word in words):
        return ""
    for kind, signs in _KINDS.items():
        if any(tuple(words[i : i + 2]) == signs for i in range(len(words))):
            return kind
    return "episode" if any("forkserver" in word for word in words) else ""


def _memory(tree: list[psutil.Process]) -> float:
    total = 0
    for process in tree:
        try:
            total += process.memory_info().rss
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return round(total / 2**20, 1)


def _left(known: dict[int, psutil.Process]) -> list[str]:
    """Processes that outlived the run by more than the grace of their guards."""
    _, alive = psutil.wait_procs(list(known.values()), timeout=10.0)
    return [f"{process.pid}: {_kind(process) or process.name()}" for process in alive]


def _ends(status: RouteStatus) -> int:
    return sum(one.ending in ("completed", "policy", "route") for one in status.attempts)


def _record(folder: Path) -> dict[str, Any]:
    path = folder / RECORD_FILE
    if not path.is_file():
        return {"record": "absent"}
    record = read_record(path).to_json()
    return {name: value for name, value in record.items() if name not in RELAXED}


def _motion(folder: Path) -> bytes:
    path = folder / MOTION_FILE  # absent where the policy never came back
    return path.read_bytes() if path.is_file() else b""


def _decisions(folder: Path) -> list[Any]:
    """Decisions without wall-clock."""
    path = folder / "decisions.jsonl"
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [_timeless(row) for row in rows]


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(item) for key, item in value.items() if key != "latency_s"}
    return [_timeless(item) for item in value] if isinstance(value, list) else value
