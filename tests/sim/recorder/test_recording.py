"""What a recorder writes fits what the world is: boxes fall on their pixels, points on those who are seen."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import carla
import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.maps import LaneKind
from driveproof.maps.lanes import LaneTable
from driveproof.sim.client import Session
from driveproof.sim.drivers import DriverDecision, Drivers, Reason
from driveproof.sim.recorder import CAMERAS, Annotator, Mount, Recorder, top_down
from driveproof.sim.recorder.matrices import angles_of, inverse, pose_matrix

MKZ = "vehicle.lincoln.mkz_2020"
HALT = carla.VehicleControl(brake=1.0, hand_brake=True)
angle = st.floats(-179.0, 179.0)


@given(angle, st.floats(-89.0, 89.0), angle)
def test_matrices_are_those_of_carla(yaw: float, pitch: float, roll: float) -> None:
    ours = pose_matrix(1.0, -2.0, 3.0, yaw, pitch, roll)
    rotation = carla.Rotation(pitch=pitch, yaw=yaw, roll=roll)
    theirs = carla.Transform(carla.Location(1.0, -2.0, 3.0), rotation)
    assert ours == pytest.approx(np.array(theirs.get_matrix()), abs=1e-5)
    assert inverse(ours) @ ours == pytest.approx(np.eye(4), abs=1e-9)
    assert pose_matrix(0, 0, 0, *reversed_angles(ours)) == pytest.approx(
        pose_matrix(0, 0, 0, yaw, pitch, roll), abs=1e-6
    )


def reversed_angles(matrix: Any) -> tuple[float, float, float]:
    pitch, roll, yaw = angles_of(matrix)
    return yaw, pitch, roll


def _count(lanes: LaneTable, lane: int) -> int:
    part = lanes.points(int(lane))
    return part.stop - part.start


class Stage:
    """An ego that stands on a straight road, and whatever is put ahead of it."""

    def __init__(self, session: Session, mounts: Sequence[Mount], lidar_points: int = 0) -> None:
        self.session = session
        lanes = session.town.lanes
        long = next(i for i in lanes.of_kind(LaneKind.DRIVING) if lanes.length[i] > 200.0)
        middle = lanes.points(int(long)).start + int(
            100.0 / lanes.length[long] * _count(lanes, long)
        )
        self.x, self.y, _ = lanes.centre[middle].tolist()
        self.heading = float(lanes.heading[middle])
        session.freeze_lights()
        session.set_weather({"precipitation": 0.0, "sun_altitude_angle": 60.0, "fog_density": 0.0})
        self.ego = self.put(0.0)
        drivers = Drivers(session)
        path, _ = drivers.roads.ahead(self.x, self.y, self.heading)
        self.vehicle = drivers.add(self.ego, path)
        self.settle()
        drivers.decide(session.state)
        annotator = Annotator(session.town, path, {}, mounts, np.random.default_rng(0))
        self.frames: list[tuple[dict[str, Any], dict[str, bytes]]] = []
        self.recorder = Recorder(
            session, self.ego, annotator, lambda *frame: self.frames.append(frame), lidar_points
        )

    def put(self, ahead: float, left: float = 0.0, type_id: str = MKZ) -> Any:
        c, s = math.cos(self.heading), math.sin(self.heading)
        place = self.x + ahead * c - left * s, self.y + ahead * s + left * c, self.heading
        vehicle = self.session.spawn_vehicle(type_id, place)
        self.session.apply({vehicle.id: HALT})
        return vehicle

    def settle(self) -> None:
        for _ in range(30):
            self.session.tick()

    def record(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Annotation and pictures (BGR) of the next frame."""
        self.session.tick()
        self.recorder.record(
            self.session.state, self.vehicle, DriverDecision(Reason.CRUISE, 0.0, agent_id=None)
        )
        self.session.tick()
        anno, pictures = self.frames[-1]
        return anno, {
            folder: cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
            for folder, data in pictures.items()
        }


def box_of(anno: dict[str, Any], type_id: str) -> dict[str, Any]:
    (box,) = [b for b in anno["bounding_boxes"] if b["type_id"] == type_id]
    return box


def pixels(anno: dict[str, Any], sensor: str, box: dict[str, Any]) -> np.ndarray:
    """Corners ``[8, 2]`` of a box in a picture, from the annotation alone."""
    corners = np.array(list(itertools.product((-1, 1), repeat=3))) * box["extent"]
    to_world = pose_matrix(*box["center"], box["rotation"][2])
    world = to_world @ np.column_stack([corners, np.ones(8)]).T
    x, y, z, _ = np.array(anno["sensors"][sensor]["world2cam"]) @ world
    focal = anno["sensors"][sensor]["intrinsic"]
    return np.stack([focal[0][2] + focal[0][0] * y / x, focal[1][2] - focal[1][1] * z / x], axis=1)


@pytest.mark.parametrize(
    ("folder", "place"),
    [
        ("rgb_front", (13.0, 0.0)),
        ("rgb_front_left", (4.4, 4.5)),
        ("rgb_back_left", (-4.5, 4.0)),
        ("rgb_back", (-9.0, 0.0)),
    ],
)
def test_an_annotated_box_falls_on_its_pixels(
    session: Session, folder: str, place: tuple[float, float]
) -> None:
    mount = CAMERAS[folder].resized(480, 270, 1)
    stage = Stage(session, [mount])
    _, before = stage.record()
    stage.put(*place, "vehicle.audi.tt")
    stage.settle()
    for _ in range(2):  # the camera keeps its own clock
        anno, after = stage.record()
    changed = np.abs(after[folder].astype(int) - before[folder]).max(2) > 40
    rows, columns = np.nonzero(cv2.medianBlur(changed.astype(np.uint8), 3))
    corners = pixels(anno, mount.sensor, box_of(anno, "vehicle.audi.tt"))
    corners = np.clip(corners, 0.0, (479.0, 269.0))
    (left, top), (right, bottom) = corners.min(0), corners.max(0)
    assert right - left > 40
    assert columns.min() == pytest.approx(left, abs=6)
    assert columns.max() == pytest.approx(right, abs=6)
    assert rows.max() == pytest.approx(bottom, abs=8)
    assert top - 2 <= rows.min() <= top + 0.5 * (bottom - top)


def test_lidar_points_fall_on_who_is_seen(session: Session) -> None:
    stage = Stage(session, [], lidar_points=12_000)
    stage.put(10.0, type_id="vehicle.mercedes.sprinter")
    stage.put(20.0, type_id="vehicle.audi.a2")
    stage.put(-15.0, type_id="vehicle.audi.tt")
    stage.settle()
    for _ in range(2):
        anno, _ = stage.record()
    van, hidden, behind = (
        box_of(anno, f"vehicle.{name}")["num_points"]
        for name in ("mercedes.sprinter", "audi.a2", "audi.tt")
    )
    assert van > 300
    assert behind > 50
    assert hidden < 0.1 * behind
    assert anno["sensors"]["LIDAR_TOP"]["lidar2ego"][2][3] == pytest.approx(1.84)


def test_all_six_cameras_and_the_one_above_are_recorded_when_due(session: Session) -> None:
    mounts = [mount.resized(96, 54, 2) for mount in CAMERAS.values()] + [top_down(48, 4)]
    stage = Stage(session, mounts)
    found = [stage.record() for _ in range(5)]
    six = set(CAMERAS)
    assert [set(pictures) for _, pictures in found] == [
        six | {"rgb_top_down"}, set(), six, set(), six | {"rgb_top_down"},
    ]  # fmt: skip
    anno, pictures = found[0]
    assert pictures["rgb_back"].shape == (54, 96, 3)
    assert pictures["rgb_top_down"].shape == (48, 48, 3)
    assert list(anno["sensors"]) == [mount.sensor for mount in CAMERAS.values()]
    ego = anno["bounding_boxes"][0]
    assert (ego["class"], ego["id"]) == ("ego_vehicle", "1")
    for mount in CAMERAS.values():
        turned = anno["sensors"][mount.sensor]["rotation"][2] - ego["rotation"][2] - mount.yaw
        assert math.cos(math.radians(turned)) == pytest.approx(1.0, abs=1e-4)


def test_the_numbers_of_a_standing_ego(session: Session) -> None:
    stage = Stage(session, [])
    session.set_lamps({stage.ego.id: 0x8 | 0x10})
    anno, _ = stage.record()
    ego = anno["bounding_boxes"][0]
    assert anno["speed"] == pytest.approx(0.0, abs=0.05)
    assert (anno["brake"], anno["should_brake"], anno["command_near"]) == (1.0, True, 4)
    assert (ego["brake"], ego["indicator"], ego["light_state"]) == (1.0, "right", "24")
    assert ego["location"][:2] == pytest.approx([stage.x, -stage.y], abs=0.4)
    assert anno["theta"] == pytest.approx(math.radians(ego["rotation"][2] + 90.0), abs=1e-3)
    place = np.array(ego["world2ego"]) @ [*ego["location"], 1.0]
    assert place[:3] == pytest.approx([0.0, 0.0, 0.0], abs=0.02)
    assert anno["driveproof"]["reason"] == "cruise"
