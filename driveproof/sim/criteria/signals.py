"""Red lights and stop signs: what the front bumper does at stop lines."""

from __future__ import annotations

import math

import numpy as np

from driveproof.geometry.arrays import Bool, Float
from driveproof.maps import SignalKind, TownMap
from driveproof.scene import LightState
from driveproof.sim.criteria.ego import Moment
from driveproof.sim.criteria.infractions import Infraction, InfractionKind

SIGHT = 40.0
"""Metres within which stop lines are looked at."""
LEVEL = 4.0
"""Metres of height that tell roads above each other apart."""
STOP_REACH = 6.0
"""Metres before a stop line within which standing counts as having stopped for it."""
STOOD = 0.1
"""m/s below which a car stands."""
TWIN = 8.0
"""A stop sign's line that is closer to a light's line on the same lane does not count, m."""
OVERHANG = 0.3
"""Metres by which stop lines are prolonged on both sides."""


class StopLines:
    """The stop lines of one kind of signal, as arrays over all lines ``[L]``."""

    def __init__(self, town: TownMap, kind: SignalKind) -> None:
        rows: list[tuple[str, Float, float]] = []
        lanes = town.lanes
        lit = _lit_lines(town) if kind is SignalKind.STOP else {}
        for signal in town.signals:
            if signal.kind is not kind:
                continue
            places = zip(signal.lanes, signal.stop_lines, signal.stop_arcs.tolist(), strict=True)
            for lane, line, arc in places:
                if any(abs(arc - other) < TWIN for other in lit.get(lane, ())):
                    continue
                part = lanes.points(lane)
                course = np.interp(arc, lanes.arc[part], np.unwrap(lanes.heading[part]))
                rows.append((signal.key, line, float(course)))
        self.keys = [key for key, _, _ in rows]
        self.ends = np.array([line for _, line, _ in rows]).reshape(-1, 2, 3)
        courses = np.array([course for _, _, course in rows])
        self.course = np.stack([np.cos(courses), np.sin(courses)], axis=-1).reshape(-1, 2)
        self.middle = self.ends.mean(1)

    def near(self, now: Moment) -> Bool:
        """``[L]`` lines around the ego, on its level, that face it."""
        delta = self.middle[:, :2] - now.front
        heading = np.array([math.cos(now.ego.heading), math.sin(now.ego.heading)])
        level = np.abs(self.middle[:, 2] - now.ego.z) < LEVEL
        return np.asarray((np.hypot(*delta.T) < SIGHT) & level & (self.course @ heading > 0.5))

    def before(self, point: Float) -> tuple[Float, Float]:
        """Metres ``[L]`` from a point ahead to each line, and beside its ends (0 between them)."""
        delta = self.middle[:, :2] - point
        along = (delta * self.course).sum(1)
        across = np.abs(delta[:, 0] * self.course[:, 1] - delta[:, 1] * self.course[:, 0])
        half = np.hypot(*(self.ends[:, 0, :2] - self.ends[:, 1, :2]).T) / 2.0 + OVERHANG
        return along, np.maximum(across - half, 0.0)


def _lit_lines(town: TownMap) -> dict[int, list[float]]:
    lit: dict[int, list[float]] = {}
    for signal in town.signals:
        if signal.kind is SignalKind.TRAFFIC_LIGHT:
            for lane, arc in zip(signal.lanes, signal.stop_arcs.tolist(), strict=True):
                lit.setdefault(lane, []).append(arc)
    return lit


def passed(lines: StopLines, now: Moment) -> list[int]:
    """Indices of the lines that the front bumper has crossed since the last moment."""
    if not len(lines.keys) or now.moved <= 0.0:
        return []
    was, _ = lines.before(now.last_front)
    along, beside = lines.before(now.front)
    crossed = (was >= 0.0) & (along < 0.0) & (beside <= 0.0) & lines.near(now)
    return [int(i) for i in np.flatnonzero(crossed)]


class RedLights:
    """The front bumper passes the stop line of a lane whose light is red."""

    def __init__(self, town: TownMap) -> None:
        self._lines = StopLines(town, SignalKind.TRAFFIC_LIGHT)

    def update(self, now: Moment) -> list[Infraction]:
        """Red lights run since the last moment."""
        keys = dict.fromkeys(self._lines.keys[i] for i in passed(self._lines, now))
        return [
            Infraction(
                InfractionKind.RED_LIGHT,
                now.time,
                now.place,
                text=f"ran the red light {key} at {now.speed:.1f} m/s",
                signal_id=key,
            )
            for key in keys
            if now.state.lights.get(key) is LightState.RED
        ]


class StopSigns:
    """The front bumper passes the line of a stop sign before which the ego has not stood."""

    def __init__(self, town: TownMap) -> None:
        self._lines = StopLines(town, SignalKind.STOP)
        self._stood: set[int] = set()

    def update(self, now: Moment) -> list[Infraction]:
        """Stop signs run since the last moment."""
        if not len(self._lines.keys):
            return []
        crossed = passed(self._lines, now)
        ran = {self._lines.keys[i] for i in crossed if i not in self._stood}
        obeyed = {self._lines.keys[i] for i in crossed if i in self._stood}
        self._stood -= set(crossed)
        if now.speed < STOOD:
            along, beside = self._lines.before(now.front)
            here = (along >= 0.0) & (along < STOP_REACH) & (beside <= 0.0) & self._lines.near(now)
            self._stood |= {int(i) for i in np.flatnonzero(here)}
        return [
            Infraction(
                InfractionKind.STOP_SIGN,
                now.time,
                now.place,
                text=f"passed the stop sign {key} at {now.speed:.1f} m/s without a stop",
                signal_id=key,
            )
            for key in sorted(ran - obeyed)
        ]
