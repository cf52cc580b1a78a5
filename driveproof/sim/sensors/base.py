"""What all sensors have in common: an actor, its attributes, its random numbers, its clock."""

from __future__ import annotations

import math
import zlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from driveproof.errors import BadInput

if TYPE_CHECKING:
    from driveproof.sim.engine import Actor
    from driveproof.sim.engine.engine import Engine
    from driveproof.sim.sensors.events import CollisionEvent, ObstacleEvent

    Body = bytes | list[bytes] | list[CollisionEvent] | list[ObstacleEvent]
else:
    Body = object

#: The first message of a sensor that turns or counts covers so many seconds.
FIRST_STEP_S = 0.05


class UnmodelledSensor(BadInput):
    """A sensor of CARLA that the embedded simulator does not have."""


class Sensor(ABC):
    """A sensor; ``actor`` tells where it is and how it is set."""

    def __init__(self, actor: Actor) -> None:
        self.actor = actor
        self._last: float | None = None
        self.rng = np.random.default_rng(
            [self.whole("noise_seed", 0), zlib.crc32(actor.type_id.encode())]
        )

    @abstractmethod
    def measure(self, engine: Engine) -> Body:
        """The body of the message about this moment, or several, or none (an empty list)."""

    def number(
        self, name: str, default: float, low: float = -math.inf, high: float = math.inf
    ) -> float:
        """A finite attribute, cut to the range from ``low`` to ``high``; the default if it is missing or no number."""
        try:
            value = float(self.actor.attributes.get(name, default))
        except ValueError:
            value = default
        return min(max(value if math.isfinite(value) else default, low), high)

    def whole(self, name: str, default: int, low: int = 0, high: int = 2**31 - 1) -> int:
        """The same for a whole number."""
        return int(self.number(name, default, low, high))

    def flag(self, name: str) -> bool:
        """Whether a truth value is set."""
        return self.actor.attributes.get(name, "").lower() == "true"

    def elapsed(self, engine: Engine) -> float:
        """Seconds since the sensor measured last, to the nanosecond."""
        before, self._last = self._last, engine.time
        # the last bits of a difference of times depend on when the episode began, and rays are counted with it
        return FIRST_STEP_S if before is None else round(max(engine.time - before, 0.0), 9)
