"""A driving policy for tests: it does what its argument says, and writes down what it is shown."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.policy.driving import DriveDecision, DriveObservation
from driveproof.questions import parse_keys


class Told:
    """``#WORDS:FOLDER``: words are ``go``, ``err``, ``raise``, ``die``, ``hang``, ``camera``, ``history``.

    ``gone`` fails to be made once the folder has a file ``gone``, ``notes`` thinks nonsense.
    """

    def __init__(self, argument: str = "go:") -> None:
        words, _, folder = argument.partition(":")
        self._words = words.split("+")
        self._folder = Path(folder) if folder else None
        self.name = "told"
        self.views = ("CAM_FRONT",) if "camera" in self._words else ()
        self.history = 2 if "history" in self._words else 1
        self._count = 0
        if "gone" in self._words and self._folder and (self._folder / "gone").exists():
            raise FileNotFoundError("weights")

    def end(self) -> None:
        if self._folder is not None:
            (self._folder / "ended").write_text(self._episode)
        raise RuntimeError("would rather go on")

    def identity(self) -> dict[str, Any]:
        return {"kind": "told", "words": self._words}

    def begin(self, episode: str, seed: int) -> None:
        self._episode, self._seed, self._count = episode, seed, 0

    def decide(self, observation: DriveObservation) -> DriveDecision:
        self._count += 1
        self._write(observation)
        if self._count >= 3:
            self._misbehave()
        if "err" in self._words and self._count % 2 == 0:
            return DriveDecision(error="no idea")
        trace = {"steps": ["look", 7], "why": np.float32(0.5)} if "notes" in self._words else None
        if trace and self._count < 3:
            trace.pop("why")
        return DriveDecision(parse_keys("FOLLOW_LANE, ACCELERATE"), trace=trace, latency_s=0.01)

    def _misbehave(self) -> None:
        if "raise" in self._words:
            raise KeyError("the wheel")
        if "hang" in self._words:
            time.sleep(600.0)
        if "die" in self._words:
            os._exit(7)

    def _write(self, seen: DriveObservation) -> None:
        if self._folder is None:
            return
        shapes = {name: [list(p.shape) for p in moments] for name, moments in seen.pictures.items()}
        brightness = {
            name: [float(p.mean()) for p in moments] for name, moments in seen.pictures.items()
        }
        row = {
            "episode": self._episode,
            "seed": self._seed,
            "frame": seen.frame,
            "time": seen.time_s,
            "speed": seen.speed,
            "command": seen.command,
            "shapes": shapes,
            "brightness": brightness,
            "fields": sorted(vars(seen)),
        }
        with open(self._folder / "seen.jsonl", "a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")
