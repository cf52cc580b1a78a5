"""Driving policies that do not look: the floors against which a model is read."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from driveproof.errors import BadInput
from driveproof.policy.driving import DriveDecision, DriveObservation, Pedals
from driveproof.policy.seeds import derive_seed
from driveproof.questions import ActionKeys, DirectionKey, SpeedKey


@dataclass
class RandomKeys:
    """Chance level: a direction and a speed key, uniform and independent at each decision.

    The keys depend on the seeds, the episode and the frame alone, so that an episode begun again gives the same.
    """

    seed: int = 0
    name: str = "random"
    views: tuple[str, ...] = ()
    history: int = 1
    _episode: tuple[str, int] = ("", 0)

    def identity(self) -> dict[str, Any]:
        """Kind and seed."""
        return {"kind": "random", "seed": self.seed}

    def begin(self, episode: str, seed: int) -> None:
        """A new episode."""
        self._episode = (episode, seed)

    def decide(self, observation: DriveObservation) -> DriveDecision:
        """Keys of this frame."""
        key = derive_seed(self.seed, "random", *self._episode, observation.frame)
        rng = np.random.default_rng(key)
        direction = list(DirectionKey)[rng.integers(len(DirectionKey))]
        return DriveDecision(ActionKeys(direction, list(SpeedKey)[rng.integers(len(SpeedKey))]))


HOLDING = 0.42
"""Throttle at which CARLA's cars about hold a speed in town."""
GAIN, INTEGRAL = 0.08, 0.02
"""Throttle per missing m/s, and per missing metre: quiet although pedals are held for half a second."""
LIMIT = 0.3
"""Most throttle that the integral adds or takes."""
STANDING_MPS, STANDING_BRAKE = 0.1, 0.6
"""A target below is a stand, which the brake holds."""


@dataclass
class SteadySpeed:
    """Constant velocity: straight wheel, and the speed that it had at the first decision (or ``target``, m/s).

    A proportional-integral law around the throttle that holds a speed; an engine without throttle slows a car down
    by itself, so the brake only holds a stand.
    """

    target: float | None = None
    name: str = "constant_velocity"
    views: tuple[str, ...] = ()
    history: int = 1
    _held: float | None = None
    _missed: float = field(default=0.0)
    _last_s: float | None = None

    @classmethod
    def of(cls, text: str) -> SteadySpeed:
        """From a specification's rest: a speed in m/s, or nothing; :class:`BadInput` if it is neither."""
        try:
            target = float(text) if text else None
        except ValueError:
            target = math.nan
        if target is not None and not 0.0 <= target <= 100.0:
            raise BadInput(f"not a speed: {text}", hint="constant_velocity:8 holds 8 m/s")
        return cls(target)

    def identity(self) -> dict[str, Any]:
        """Kind and the set speed, None for the one that it had."""
        return {"kind": "constant_velocity", "speed": self.target}

    def begin(self, episode: str, seed: int) -> None:
        """A new episode: the speed to hold is not known yet."""
        self._held, self._missed, self._last_s = self.target, 0.0, None

    def decide(self, observation: DriveObservation) -> DriveDecision:
        """Pedals against the difference to the speed held."""
        if self._held is None:
            self._held = max(observation.speed, 0.0) if self.target is None else self.target
        if self._held < STANDING_MPS:
            return DriveDecision(controls=Pedals(0.0, STANDING_BRAKE, 0.0))
        missing = self._held - observation.speed
        elapsed = 0.0 if self._last_s is None else max(observation.time_s - self._last_s, 0.0)
        self._last_s = observation.time_s
        bound = LIMIT / INTEGRAL
        self._missed = min(max(self._missed + missing * elapsed, -bound), bound)
        throttle = HOLDING + GAIN * missing + INTEGRAL * self._missed
        return DriveDecision(controls=Pedals(min(max(throttle, 0.0), 1.0), 0.0, 0.0))
