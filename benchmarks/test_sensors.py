"""How long sensors take. Aims on one core: 800x450 with 40 cars in 8 ms, six 1600x900 in 250 ms, 30,000 rays in 5 ms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import cv2
import numpy as np
import pytest

from driveproof.maps import LaneKind, load_town
from driveproof.sim.blueprints import library
from driveproof.sim.engine import Actor, Pose3, SpawnBlocked
from driveproof.sim.engine.engine import Engine
from driveproof.sim.sensors import Sensor, make_sensor

CARS = 40
SCAN = {"channels": "64", "points_per_second": "600000", "range": "85", "rotation_frequency": "20"}


class Street:
    """Town10HD with 40 vehicles before the ego."""

    def __init__(self) -> None:
        cv2.setNumThreads(1)
        self.engine = Engine(load_town("Town10HD"), library(), seed=0)
        lanes = self.engine.town.lanes
        long = lanes.of_kind(LaneKind.DRIVING)
        row = lanes.points(int(long[lanes.length[long].argmax()])).start + 3
        (x, y, z), yaw = lanes.centre[row].tolist(), float(lanes.heading[row])
        self.ego = self._spawn("vehicle.lincoln.mkz_2020", Pose3(x, y, z + 0.05, yaw=yaw))
        models = [name for name in self.engine.library if name.startswith("vehicle.")]
        cos, sin = np.cos(yaw), np.sin(yaw)
        placed = 0
        for ahead in np.arange(9.0, 300.0, 9.0).tolist():
            for aside in (0.0, 3.5, -3.5, 7.0):
                place = x + cos * ahead - sin * aside, y + sin * ahead + cos * aside
                at = Pose3(*place, self.engine.ground_height(*place, z) + 0.05, yaw=yaw)
                if placed < CARS:
                    placed += self._spawn(models[placed % len(models)], at) is not None
        assert placed == CARS

    def _spawn(self, type_id: str, pose: Pose3) -> Actor | None:
        try:
            return self.engine.spawn(type_id, {}, pose)
        except SpawnBlocked:
            return None

    def sensor(self, name: str, attributes: Mapping[str, str], pose: Pose3) -> Sensor:
        assert self.ego is not None
        values = self.engine.library[f"sensor.{name}"].values(attributes)
        actor = self.engine.spawn(f"sensor.{name}", values, pose, parent=self.ego.id)
        return make_sensor(self.engine, actor)

    def measuring(self, *sensors: Sensor) -> Callable[[], None]:
        """A call that measures a new moment with all of them."""

        def measure() -> None:
            self.engine.frame += 1
            self.engine.time += 0.05
            for sensor in sensors:
                sensor.measure(self.engine)

        measure()
        return measure


@pytest.fixture(scope="module")
def street() -> Street:
    return Street()


@pytest.mark.parametrize("kind", ["rgb", "depth", "semantic_segmentation", "instance_segmentation"])
def test_camera(benchmark: Any, street: Street, kind: str) -> None:
    size = {"image_size_x": "800", "image_size_y": "450"}
    benchmark(street.measuring(street.sensor(f"camera.{kind}", size, Pose3(0.8, 0.0, 1.6))))


def test_six_large_cameras(benchmark: Any, street: Street) -> None:
    size = {"image_size_x": "1600", "image_size_y": "900", "fov": "70"}
    turns = np.radians(np.arange(0.0, 360.0, 60.0)).tolist()
    poses = [Pose3(0.0, 0.0, 1.6, yaw=turn) for turn in turns]
    benchmark(street.measuring(*(street.sensor("camera.rgb", size, pose) for pose in poses)))


@pytest.mark.parametrize("kind", ["ray_cast", "ray_cast_semantic"])
def test_lidar(benchmark: Any, street: Street, kind: str) -> None:
    benchmark(street.measuring(street.sensor(f"lidar.{kind}", SCAN, Pose3(-0.4, 0.0, 1.9))))


@pytest.mark.parametrize("kind", ["radar", "imu", "gnss", "obstacle", "collision"])
def test_small_ones(benchmark: Any, street: Street, kind: str) -> None:
    benchmark(street.measuring(street.sensor(f"other.{kind}", {}, Pose3(2.0, 0.0, 1.0))))
