"""Traffic lights of a staged drive: per junction a cycle of phases, each green, then yellow, then red for all.

The stage sets the lights itself, so that a situation finds the colour that it needs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from driveproof.maps import MapSignal, SignalKind, TownMap
from driveproof.scene import LightState

PHASE_RAD = math.radians(35.0)
"""Approaches whose axes differ by less are green together."""


@dataclass
class LightCycle:
    """The lights of one junction.

    Attributes
    ----------
    phases
        Ids of the lights that are green together, phase after phase.
    green, yellow, all_red
        Seconds.
    offset
        Seconds into the cycle at time zero.
    """

    phases: tuple[tuple[str, ...], ...]
    green: float = 10.0
    yellow: float = 3.0
    all_red: float = 2.0
    offset: float = 0.0

    @property
    def slot(self) -> float:
        """Seconds of one phase."""
        return self.green + self.yellow + self.all_red

    @property
    def period(self) -> float:
        """Seconds of the whole cycle."""
        return self.slot * len(self.phases)

    def states(self, time: float) -> dict[str, LightState]:
        """State of every light at ``time``."""
        phase, into = divmod((time + self.offset) % self.period, self.slot)
        result = {light: LightState.RED for lights in self.phases for light in lights}
        if into < self.green + self.yellow:
            state = LightState.GREEN if into < self.green else LightState.YELLOW
            # rounding at the very end of the cycle may give the phase beyond the last
            for light in self.phases[int(phase) % len(self.phases)]:
                result[light] = state
        return result

    def set_phase(self, light: str, into: float, time: float) -> None:
        """Shift the cycle so that at ``time`` the phase of ``light`` is ``into`` seconds old."""
        index = next(i for i, lights in enumerate(self.phases) if light in lights)
        self.offset = (index * self.slot + into - time) % self.period


@dataclass
class TrafficLights:
    """All lights of a town that have a cycle."""

    cycles: dict[int, LightCycle] = field(default_factory=dict)

    def states(self, time: float) -> dict[str, LightState]:
        """States at ``time`` by signal id."""
        return {
            light: state
            for cycle in self.cycles.values()
            for light, state in cycle.states(time).items()
        }

    def cycle_of(self, signal_id: str) -> LightCycle | None:
        """The cycle that a light belongs to."""
        for cycle in self.cycles.values():
            if any(signal_id in phase for phase in cycle.phases):
                return cycle
        return None


def random_lights(town: TownMap, rng: np.random.Generator) -> TrafficLights:
    """A cycle for the lights of every junction: opposite approaches are green together."""
    guards: dict[int, list[MapSignal]] = defaultdict(list)
    for signal in town.signals:
        if signal.kind is SignalKind.TRAFFIC_LIGHT and signal.lanes:
            guards[signal.junction].append(signal)
    cycles = {}
    for junction in sorted(guards):
        green = float(rng.uniform(7.0, 12.0))
        cycle = LightCycle(_phases(town, guards[junction]), green=green)
        cycle.offset = float(rng.uniform(0.0, cycle.period))
        cycles[junction] = cycle
    return TrafficLights(cycles)


def _phases(town: TownMap, signals: Sequence[MapSignal]) -> tuple[tuple[str, ...], ...]:
    table = town.lanes
    groups: list[tuple[float, list[str]]] = []
    for signal in signals:
        course = float(table.heading[table.points(signal.lanes[0])][-1])
        for axis, members in groups:
            if abs(math.remainder(course - axis, math.pi)) < PHASE_RAD:
                members.append(signal.key)
                break
        else:
            groups.append((course, [signal.key]))
    return tuple(tuple(members) for _, members in groups)
