"""Scripted speeds: what a situation makes a vehicle do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SpeedPhase:
    """For ``duration`` seconds, go to at most ``speed`` m/s with at most ``brake`` m/s² of braking."""

    duration: float
    speed: float
    brake: float = 3.0


@dataclass
class SpeedScript:
    """Phases one after another from ``start`` seconds; before and after, the driver is free."""

    start: float
    phases: tuple[SpeedPhase, ...]

    def active(self, time: float) -> SpeedPhase | None:
        """The phase that rules at ``time``, if any."""
        left = time - self.start
        if left < 0.0:
            return None
        for phase in self.phases:
            if left < phase.duration:
                return phase
            left -= phase.duration
        return None
