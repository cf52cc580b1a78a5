"""Event camera: pixels report by themselves when they become brighter or darker."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import cv2
import numpy as np

from driveproof.geometry.arrays import Float32
from driveproof.render.light import light_of
from driveproof.sim.sensors.cameras import CameraSensor, Pixels

if TYPE_CHECKING:
    from driveproof.render.picture import Picture
    from driveproof.sim.engine import Actor
    from driveproof.sim.engine.engine import Engine

_EVENT = np.dtype([("x", "<u2"), ("y", "<u2"), ("t", "<i8"), ("pol", "u1")])
#: Smaller thresholds would turn one picture into more events than anybody can take.
_LEAST_THRESHOLD = 0.05
_NS = 1e9


class EventCamera(CameraSensor):
    """Packed events (u16 x, u16 y, i64 nanoseconds, u8 polarity) since the last message, ordered by time.

    A pixel's (logarithm of) brightness is taken to change linearly between two pictures; each threshold that it
    passes is an event, as in Rebecq et al., ESIM, 2018.
    """

    def __init__(self, actor: Actor) -> None:
        super().__init__(actor)
        self._level: Float32 | None = None
        self._fired = np.full((self.height, self.width), -math.inf)
        self._before = 0.0

    def pixels(self, picture: Picture, engine: Engine) -> Pixels:
        """The events as bytes ``[13 n]``."""
        grey = cv2.cvtColor(picture.bgra(light_of(engine.weather)), cv2.COLOR_BGRA2GRAY) / 255.0
        if self.actor.attributes.get("use_log", "true").lower() == "true":
            grey = np.log(grey + self.number("log_eps", 0.001, 1e-6))
        level = np.asarray(grey, dtype=np.float32)
        if self._level is None:
            self._level = level
        events = self._events(self._level, level, engine.time)
        self._before = engine.time
        return np.frombuffer(events.tobytes(), dtype=np.uint8)

    def _events(self, known: Float32, level: Float32, now: float) -> np.ndarray:
        """Events between the ``known`` levels ``[H, W]``, which are brought up to date, and the present ones."""
        change = level - known
        found = []
        for brighter, name in ((True, "positive"), (False, "negative")):
            threshold = self.number(f"{name}_threshold", 0.3, _LEAST_THRESHOLD)
            spread = self.number(f"sigma_{name}_threshold", 0.0, 0.0)
            limit = np.full(change.shape, threshold)
            if spread > 0.0:
                limit += spread * self.rng.standard_normal(change.shape)
                limit = np.maximum(limit, _LEAST_THRESHOLD)
            passed = np.floor(np.maximum(change if brighter else -change, 0.0) / limit)
            known += np.where(brighter, passed * limit, -passed * limit).astype(np.float32)
            found += self._crossings(
                passed, limit / np.maximum(np.abs(change), 1e-9), brighter, now
            )
        events = np.concatenate(found) if found else np.zeros(0, dtype=_EVENT)
        return np.asarray(events[np.argsort(events["t"], kind="stable")])

    def _crossings(
        self, passed: np.ndarray, share: np.ndarray, brighter: bool, now: float
    ) -> list[np.ndarray]:
        """The first, second, ... event of each pixel, where its rest since the last one is over."""
        rest = self.number("refractory_period_ns", 0.0, 0.0) / _NS
        found = []
        for count in range(1, int(passed.max(initial=0.0)) + 1):
            when = self._before + count * share * (now - self._before)
            fires = (passed >= count) & (when - self._fired >= rest)
            rows, columns = np.nonzero(fires)
            self._fired[rows, columns] = when[rows, columns]
            events = np.zeros(len(rows), dtype=_EVENT)
            events["x"], events["y"], events["pol"] = columns, rows, brighter
            events["t"] = np.round(when[rows, columns] * _NS)
            found.append(events)
        return found
