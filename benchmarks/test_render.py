"""How long a picture takes. Aim: 224x128 in 3 ms on one core."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from driveproof.geometry import poses_to_world
from driveproof.maps import SignalKind, load_town
from driveproof.render import (
    BENCH2DRIVE_CAMERAS,
    Box,
    View,
    lights_of,
    render_bev,
    render_camera,
    signs_of,
)
from driveproof.scene import LightState


@pytest.fixture(scope="module")
def busy() -> View:
    """15 m before a traffic light of Town10HD, among fifteen cars."""
    cv2.setNumThreads(1)
    town = load_town("Town10HD")
    light = next(s for s in town.signals if s.kind is SignalKind.TRAFFIC_LIGHT)
    row = town.lanes.points(light.lanes[0]).stop - 8
    ego = np.append(town.lanes.centre[row, :2], town.lanes.heading[row])
    places = [(8.0 + 7.0 * i, 3.5 * (i % 3 - 1), 0.0) for i in range(15)]
    boxes = tuple(
        Box(*map(float, pose), 4.5, 1.9, 1.5, brake=i % 2 == 0)
        for i, pose in enumerate(poses_to_world(places, ego))
    )
    states = {signal.key: LightState.RED for signal in town.signals}
    return View(town, ego, boxes, lights_of(town, states, ego), signs_of(town, ego))


@pytest.mark.parametrize("name", sorted(BENCH2DRIVE_CAMERAS))
def test_camera(benchmark: Any, busy: View, name: str) -> None:
    benchmark(render_camera, busy, BENCH2DRIVE_CAMERAS[name])


def test_bev(benchmark: Any, busy: View) -> None:
    benchmark(render_bev, busy)
