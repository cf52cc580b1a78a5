"""Traffic lights: per junction a cycle of phases, each green, then yellow, then red for all."""

from __future__ import annotations

from dataclasses import dataclass, field

from driveproof.scene import LightState


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
    """All lights near the scene; :meth:`update` must be called whenever time moves."""

    cycles: dict[int, LightCycle] = field(default_factory=dict)
    states: dict[str, LightState] = field(default_factory=dict)

    def update(self, time: float) -> None:
        """Set the states of ``time``."""
        for cycle in self.cycles.values():
            self.states.update(cycle.states(time))

    def state(self, signal_id: str) -> LightState:
        """State of a light; a light without a cycle is off."""
        return self.states.get(signal_id, LightState.OFF)

    def cycle_of(self, signal_id: str) -> LightCycle | None:
        """The cycle that a light belongs to."""
        for cycle in self.cycles.values():
            if any(signal_id in phase for phase in cycle.phases):
                return cycle
        return None
