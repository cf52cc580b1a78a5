"""Lights and signs that govern the ego, with what must be remembered after they are out of sight.

Speed limits: a sign counts once it affects the ego within 40 m; it is ahead while more than 1 m in front, and in force
once passed; it is forgotten when the road changes and it lies more than 12 m behind (Bench2Drive-VL). A stop sign is
obeyed once the ego has stood before its line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from driveproof.commenter.context import Context
from driveproof.commenter.frame import Frame, Signal
from driveproof.questions import ObjectKind
from driveproof.questions import terms as t
from driveproof.scene import LightState

MEMORY_M, PASSED_M, FORGET_M = 40.0, 1.0, 12.0
STOOD_MPS = 0.3
STOOD_NEAR_M = 6.0
_COLOURS = {
    LightState.GREEN: t.LightColour.GREEN,
    LightState.YELLOW: t.LightColour.YELLOW,
    LightState.RED: t.LightColour.RED,
}


@dataclass(frozen=True)
class Signs:
    """What governs the ego now.

    Attributes
    ----------
    affecting
        Lights and signs that govern it, the nearest first; warnings beside the way, too.
    light, light_colour
        The traffic light and what it shows (None and ``NONE`` without one).
    stop, stop_state
        The stop sign and whether it has been obeyed.
    limit, limit_ahead, sign_ahead
        The limit in force and the next one, km/h (None: unknown), and the sign of the latter.
    """

    affecting: tuple[Signal, ...] = ()
    light: Signal | None = None
    light_colour: t.LightColour = t.LightColour.NONE
    stop: Signal | None = None
    stop_state: t.SignState = t.SignState.NONE
    limit: float | None = None
    limit_ahead: float | None = None
    sign_ahead: Signal | None = None

    def stop_distance(self, frame: Frame, signal: Signal) -> float:
        """Metres from the ego's bumper to where it has to stop for a light or sign; negative behind."""
        x, _ = frame.local(*(signal.stop or (signal.x, signal.y)))
        return x - frame.ego.length / 2.0


@dataclass
class SignMemory:
    """What a driver remembers of signs. One a drive; feed it every frame in order."""

    _limits: dict[str, Signal] = field(default_factory=dict)
    _road: int | None = None
    _obeyed: set[str] = field(default_factory=set)
    _last_index: int | None = None

    def update(self, context: Context) -> Signs:
        """Take in a frame and say what governs the ego."""
        frame = context.frame
        if self._last_index is not None and frame.index < self._last_index:
            self.__init__()  # type: ignore[misc]  # another drive
        self._last_index = frame.index
        affecting = sorted(
            (s for s in frame.signals if s.affects_ego),
            key=lambda s: math.hypot(*frame.local(s.x, s.y)),
        )
        passed, ahead, sign = self._remember(context, affecting)
        light = next((s for s in affecting if s.type_id == "traffic.traffic_light"), None)
        colour = _COLOURS.get(light.state, t.LightColour.NONE) if light else t.LightColour.NONE
        stop = next((s for s in affecting if s.type_id == "traffic.stop"), None)
        return Signs(
            affecting=tuple(affecting),
            light=light if colour is not t.LightColour.NONE else None,
            light_colour=colour,
            stop=stop,
            stop_state=self._stop_state(frame, stop),
            limit=passed,
            limit_ahead=ahead,
            sign_ahead=sign,
        )

    def _remember(
        self, context: Context, affecting: Sequence[Signal]
    ) -> tuple[float | None, float | None, Signal | None]:
        frame = context.frame
        for signal in affecting:
            near = math.hypot(*frame.local(signal.x, signal.y)) < MEMORY_M
            if signal.limit_kmh is not None and near:
                self._limits[signal.id] = signal
        road = int(context.town.lanes.road[context.road.lane])
        if road != self._road and not context.road.in_junction:
            self._limits = (
                {key: s for key, s in self._limits.items() if frame.local(s.x, s.y)[0] > -FORGET_M}
                if self._road is not None
                else self._limits
            )
            self._road = road
        places = sorted((frame.local(s.x, s.y)[0], key) for key, s in self._limits.items())
        behind = [key for x, key in places if x <= PASSED_M]
        before = [key for x, key in places if x > PASSED_M]
        sign = self._limits[before[0]] if before else None
        passed = self._limits[behind[-1]].limit_kmh if behind else None
        return passed, sign.limit_kmh if sign else None, sign

    def _stop_state(self, frame: Frame, stop: Signal | None) -> t.SignState:
        if stop is None:
            return t.SignState.NONE
        x, _ = frame.local(*(stop.stop or (stop.x, stop.y)))
        before = -2.0 < x - frame.ego.length / 2.0 < STOOD_NEAR_M
        if before and abs(frame.ego.speed) < STOOD_MPS:
            self._obeyed.add(stop.id)
        return t.SignState.CLEARED if stop.id in self._obeyed else t.SignState.PENDING


SIGN_KINDS = {
    "traffic.traffic_light": ObjectKind.TRAFFIC_LIGHT,
    "traffic.stop": ObjectKind.STOP_SIGN,
    "traffic.yield": ObjectKind.YIELD_SIGN,
}


def kind_of_signal(signal: Signal) -> ObjectKind:
    """What a light or sign is called."""
    if signal.limit_kmh is not None:
        return ObjectKind.SPEED_LIMIT_SIGN
    return SIGN_KINDS.get(signal.type_id, ObjectKind.TRAFFIC_WARNING)
