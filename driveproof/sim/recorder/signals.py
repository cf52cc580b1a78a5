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


class SignalBoxes:
    """The signals of a town along one path."""

    def __init__(self, town: TownMap, path: Path) -> None:
        self._town = town
        self._path = path

    @cached_property
    def _places(self) -> tuple[list[MapSignal], Float]:
        signals = [s for s in self._town.signals if s.kind in tuple(SignalKind)]
        return signals, np.array([s.position[:2] for s in signals]).reshape(-1, 2)

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
            box["affects_ego"] = signal.key == affecting
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
