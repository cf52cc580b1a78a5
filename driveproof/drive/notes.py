"""What is written of an episode while it goes on: motion tick by tick, decisions, and a sign of life."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from driveproof.evaluation.driving.motion import UNITS, Motion, write_motion
from driveproof.files import write_json
from driveproof.policy.driving import DriveDecision, DriveObservation
from driveproof.sim.client import ActorState

DECISIONS_FILE, MOTION_FILE, HEARTBEAT_FILE = "decisions.jsonl", "motion.parquet", "heartbeat.json"
RECORD_FILE = "record.json"
SO_FAR_FILE = "so_far.json"
"""The record as it stood when the policy was asked last: all that is known if it never comes back."""
LOG_FILE = "log.txt"
"""What the episode's process prints, such as the client library's complaints."""
BEAT_S = 1.0
"""Wall-clock seconds between signs of life."""


class HasPedals(Protocol):
    """Whatever the ego's driver does with its car."""

    @property
    def throttle(self) -> float:
        """0 to 1."""

    @property
    def brake(self) -> float:
        """0 to 1."""

    @property
    def steer(self) -> float:
        """-1 to 1, right positive."""


class MotionLog:
    """Collects the motion table of an episode."""

    def __init__(self) -> None:
        self._rows: list[tuple[float, ...]] = []

    def add(
        self, seconds: float, ego: ActorState, pedals: HasPedals | None, completion: float
    ) -> None:
        """A tick: ``pedals`` are those that led to it."""
        told = (0.0, 0.0, 0.0) if pedals is None else (pedals.throttle, pedals.brake, pedals.steer)
        motion = (ego.speed, ego.accel, ego.speed * ego.yaw_rate, ego.yaw_rate)
        pose = (ego.x, ego.y, ego.z, math.remainder(ego.heading, math.tau))
        self._rows.append((seconds, *pose, *motion, *told, completion))

    def write(self, folder: Path) -> None:
        """Write ``motion.parquet``."""
        columns = np.array(self._rows, dtype=np.float64).reshape(-1, len(UNITS)).T
        write_motion(folder / MOTION_FILE, Motion(*columns))


class DecisionLog:
    """Writes ``decisions.jsonl`` line by line, so that a killed episode still tells how far it came."""

    def __init__(self, folder: Path | None) -> None:
        self._stream: IO[str] | None = None
        if folder is not None:
            path = folder / DECISIONS_FILE
            self._stream = open(path, "w", encoding="utf-8")  # noqa: SIM115 (closed by close)
        self.count = self.errors = 0

    def add(
        self,
        seen: DriveObservation,
        decision: DriveDecision,
        applied_s: float,
        truth: Mapping[str, Any] | None = None,
    ) -> None:
        """A decision for a moment, which holds from ``applied_s`` on; ``truth`` is the expert's, never sent."""
        self.count += 1
        self.errors += bool(decision.error)
        if self._stream is None:
            return
        keys, controls = decision.keys, decision.controls
        row = {
            "frame": seen.frame,
            "time": round(seen.time_s, 6),
            "applied": round(applied_s, 6),
            "speed": round(seen.speed, 4),
            "command": seen.command,
            "command_distance": None
            if math.isnan(seen.command_distance)
            else round(seen.command_distance, 2),
            "keys": None if keys is None else keys.text(),
            "controls": None
            if controls is None
            else {
                "throttle": controls.throttle,
                "brake": controls.brake,
                "steer": controls.steer,
            },
            "error": decision.error,
            "latency_s": decision.latency_s,
            "usage": dict(decision.usage),
            "trace": decision.trace,
            "truth": truth,
        }
        self._stream.write(json.dumps(row, allow_nan=False) + "\n")
        self._stream.flush()

    def close(self) -> None:
        """No more decisions."""
        if self._stream is not None:
            self._stream.close()


class Heartbeat:
    """Says that the episode goes on, and how far it is: ``heartbeat.json``, about once a second."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / HEARTBEAT_FILE
        self._last = -math.inf

    def beat(self, game_s: float, completion: float, decisions: int) -> None:
        """A sign of life."""
        now = time.time()
        if now - self._last < BEAT_S:
            return
        self._last = now
        write_json(
            self._path,
            {
                "time": now,
                "game_s": round(game_s, 2),
                "completion": round(completion, 4),
                "decisions": decisions,
            },
        )
