"""The decisions of an earlier run again: ``routes/<episode>/decisions.jsonl`` of a run directory."""

from __future__ import annotations

import json
import math
import os
from bisect import bisect_left
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput
from driveproof.files import read_json, sha256_file
from driveproof.policy.driving import DriveDecision, DriveObservation, Pedals
from driveproof.questions import ActionKeys, parse_keys

SAME_MOMENT_S = 0.026
"""Times that differ by less are the same moment: half a tick of a server at 20 Hz, and rounding."""


class RecordedDrive:
    """Repeats the decisions of a run, by episode and time; what was not recorded is an error.

    Errors and lost decisions of the run are repeated too.

    Parameters
    ----------
    run
        A run directory; see :mod:`driveproof.drive`.

    Raises
    ------
    BadInput
        If it is none, or when an episode begins whose decisions are malformed.
    """

    name: str
    views: tuple[str, ...] = ()
    history: int = 1

    def __init__(self, run: str | Path) -> None:
        self._run = Path(run)
        described = read_json(self._run / "run.json")
        if not isinstance(described, dict) or not (self._run / "routes").is_dir():
            raise BadInput("not the directory of a run", path=run)
        self.name = f"recorded {self._run.name}"
        self._times: list[float] = []
        self._decisions: list[DriveDecision] = []
        self._missing = ""

    def identity(self) -> dict[str, Any]:
        """Kind, the run's name and the sha256 of its description."""
        revision = sha256_file(self._run / "run.json")
        return {"kind": "recorded", "run": self._run.name, "revision": revision}

    def begin(self, episode: str, seed: int) -> None:
        """Read the decisions of an episode: the name of its folder under ``routes``."""
        self._times, self._decisions, self._missing = [], [], ""
        if not episode or episode in (".", "..") or os.sep in episode:
            raise BadInput(f"not the name of an episode: {episode}")
        path = self._run / "routes" / episode / "decisions.jsonl"
        if not path.is_file():
            self._missing = f"episode {episode} was not recorded"
            return
        rows = sorted(_read(path), key=lambda row: row[0])
        self._times = [time for time, _ in rows]
        self._decisions = [decision for _, decision in rows]

    def decide(self, observation: DriveObservation) -> DriveDecision:
        """What was decided at this moment."""
        if self._missing:
            return DriveDecision(error=self._missing)
        now = observation.time_s
        place = bisect_left(self._times, now - SAME_MOMENT_S)
        near = range(place, min(place + 2, len(self._times)))
        best = min(near, key=lambda i: abs(self._times[i] - now), default=None)
        if best is None or abs(self._times[best] - now) > SAME_MOMENT_S:
            return DriveDecision(error=f"no decision was recorded at {now:.2f} s")
        return self._decisions[best]


def _read(path: Path) -> list[tuple[float, DriveDecision]]:
    """Times and decisions. A last line without its end is a run that was killed while it wrote."""
    rows = []
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines[:-1], start=1):
        try:
            row = json.loads(line)
            time = float(row["time"])
            if not math.isfinite(time):
                raise ValueError(f"no such time: {time}")
            rows.append((time, _decision(row)))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            problem = f"not a decision: {type(error).__name__}: {error}"
            raise BadInput(problem, path=path, field=f"line {number}") from None
    return rows


def _decision(row: dict[str, Any]) -> DriveDecision:
    if row.get("error"):
        return DriveDecision(error=str(row["error"]))
    if row.get("controls"):
        controls = row["controls"]
        pedals = (float(controls[name]) for name in ("throttle", "brake", "steer"))
        return DriveDecision(controls=Pedals(*pedals))
    return DriveDecision(_keys(row["keys"]))


def _keys(value: Any) -> ActionKeys:
    """Keys as their text, or as ``{"direction", "speed"}``."""
    if isinstance(value, dict):
        value = ", ".join(str(key) for key in (value["direction"], value["speed"]) if key)
    keys = parse_keys(value)
    if keys.text() != value:
        raise ValueError(f"not keys: {value[:40]!r}")
    return keys
