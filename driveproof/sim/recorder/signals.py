"""Traffic lights and signs near the ego, as annotation boxes; which of them govern the ego its path says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.maps import MapSignal, SignalKind, TownMap
from driveproof.scene import LightState
from driveproof.sim.client.reader import LIGHT_STATES
from driveproof.sim.drivers import Path
from driveproof.sim.recorder.matrices import rounded

AFFECT = 50.0
"""Metres along the path within which a light or sign affects the ego."""
ON_PATH = 2.5
"""Lanes so near to the path are its own, m."""


class SignalBoxes:
    """The signals of a town along one path."""

    def __init__(self, town: TownMap, path: Path) -> None:
        self._town = town
        self._path = path

    @cached_property
    def _places(self) -> tuple[list[MapSignal], Float]:
        signals = [s for s in self._town.signals if s.kind in tuple(SignalKind)]
        return signals, np.array([s.position[:2] for s in signals]).reshape(-1, 2)

    @cached_property
    def _limits(self) -> dict[str, float]:
        """Speed limit sign -> arc length of the path at which it begins to hold, of those that govern the path."""
        return {
            signal.key: place
            for signal in self._places[0]
            if signal.kind is SignalKind.SPEED_LIMIT and (place := self._begins(signal)) is not None
        }

    def _begins(self, signal: MapSignal) -> float | None:
        lanes = self._town.lanes
        for lane, arc, line in zip(signal.lanes, signal.stop_arcs, signal.stop_lines, strict=True):
            x, y = line.mean(0)[:2].tolist()
            s = self._path.project(x, y)
            on_x, on_y = self._path.point(s)
            part = lanes.points(lane)
            course = np.interp(arc, lanes.arc[part], np.unwrap(lanes.heading[part]))
            along = math.cos(float(course) - float(self._path.heading[self._path.index(s)])) > 0.5
            if along and math.hypot(x - on_x, y - on_y) < ON_PATH and 0.0 < s < self._path.length:
                return s
        return None

    def near(
        self,
        x: float,
        y: float,
        front: float,
        lights: Mapping[str, LightState],
        reach: float,
    ) -> list[dict[str, Any]]:
        """Boxes of the signals within ``reach`` m (of each axis) of the ego at ``x, y``, its bumper at ``front``."""
        signals, places = self._places
        if not signals:
            return []
        stop = next((p for p in self._path.stops if front - 1.0 < p.s < front + AFFECT), None)
        affecting = stop.signal_id if stop is not None else None
        close = np.flatnonzero(np.abs(places - (x, y)).max(1) < reach)
        boxes = []
        for signal in (signals[i] for i in close.tolist()):
            box = _box(signal, math.hypot(signal.position[0] - x, signal.position[1] - y))
            begins = self._limits.get(signal.key, -np.inf)
            box["affects_ego"] = signal.key == affecting or front - 1.0 < begins < front + AFFECT
            if signal.kind is SignalKind.TRAFFIC_LIGHT:
                box["class"] = "traffic_light"
                box["state"] = LIGHT_STATES.index(lights.get(signal.key, LightState.OFF))
            if signal.kind is not SignalKind.SPEED_LIMIT and len(signal.stop_lines):
                self._add_trigger(box, signal, box["affects_ego"])
            boxes.append(box)
        return boxes

    def _add_trigger(self, box: dict[str, Any], signal: MapSignal, affects: bool) -> None:
        """Where the ego has to stop; of several lanes, that of the ego's path."""
        place = signal.stop_lines[0].mean(0)
        if affects:
            stop = next(p for p in self._path.stops if p.signal_id == signal.key)
            place[:2] = self._path.point(stop.s)
        box["trigger_volume_location"] = rounded((place[0], -place[1], place[2]))
        box["trigger_volume_rotation"] = [0.0, 0.0, 0.0]
        box["trigger_volume_extent"] = [0.5, 1.75, 0.5]


def _box(signal: MapSignal, distance: float) -> dict[str, Any]:
    x, y, z = signal.position.tolist()
    limit = signal.kind is SignalKind.SPEED_LIMIT
    name = f"speed_limit.{round(signal.value * 3.6)}" if limit else signal.kind.value
    return {
        "class": "traffic_sign",
        "id": signal.key,
        "type_id": f"traffic.{name}",
        "location": rounded((x, -y, z)),
        "rotation": rounded((0.0, 0.0, math.degrees(math.remainder(-signal.heading, math.tau)))),
        "distance": round(distance, 4),
    }
