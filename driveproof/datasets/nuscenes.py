"""nuScenes tables: one folder (``v1.0-mini``) of JSON tables, one log a scene of 20 s.

Frame origin: ego pose, middle of the rear axle. Quaternions are w, x, y, z; box sizes are width, length,
height. Rate: the 2 Hz key frames of LIDAR_TOP, whose stamps are only about 0.5 s apart, so waypoints are
interpolated. Velocity comes from the CAN bus (``can_bus/<scene>_pose.json`` beside the tables, in the ego
frame) where it is there, else from the poses. Missing: navigation command, signals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from driveproof.datasets.checks import check_velocity, malformed, parse_objects
from driveproof.datasets.motion import quaternion_yaw, tracks_on_grid
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.scene import AgentKind, AgentTracks, ImageRef, Log

Row = dict[str, Any]
CAMERAS = {"CAM_FRONT": "front", "CAM_FRONT_LEFT": "front_left", "CAM_FRONT_RIGHT": "front_right"}
_LIDAR = "LIDAR_TOP"
_TABLES = {
    "scene": ("token", "name"),
    "sample": ("token", "timestamp", "scene_token"),
    "sample_data": (
        "sample_token",
        "ego_pose_token",
        "calibrated_sensor_token",
        "timestamp",
        "filename",
        "is_key_frame",
    ),
    "ego_pose": ("token", "translation", "rotation"),
    "calibrated_sensor": ("token", "sensor_token"),
    "sensor": ("token", "channel"),
    "sample_annotation": ("sample_token", "instance_token", "translation", "size", "rotation"),
    "instance": ("token", "category_token"),
    "category": ("token", "name"),
}


def claims(path: Path) -> bool:
    """Whether the folder holds the tables."""
    return all((path / f"{name}.json").is_file() for name in ("scene", "sample_data", "ego_pose"))


def read(path: Path) -> Iterator[Log]:
    """Yield one log a scene, in the order of their names.

    Raises
    ------
    BadInput
        Naming the table, the row and the field.
    """
    tables = {name: _table(path / f"{name}.json", keys) for name, keys in _TABLES.items()}
    with malformed(path):
        index = _Index(tables)
        scenes = sorted(tables["scene"], key=lambda scene: str(scene["name"]))
    for scene in scenes:
        with malformed(path, f"scene {scene['name']}"):
            log = _read_scene(path, str(scene["name"]), scene["token"], index)
        yield log


def _table(path: Path, keys: tuple[str, ...]) -> list[Row]:
    with malformed(path):
        data = path.read_bytes()
    return parse_objects(data, path, keys)


class _Index:
    """The joins that a scene needs."""

    def __init__(self, tables: dict[str, list[Row]]) -> None:
        self.poses = {row["token"]: row for row in tables["ego_pose"]}
        sensors = {row["token"]: row["channel"] for row in tables["sensor"]}
        channels = {
            row["token"]: sensors[row["sensor_token"]] for row in tables["calibrated_sensor"]
        }
        categories = {row["token"]: str(row["name"]) for row in tables["category"]}
        self.kinds = {
            row["token"]: _kind(categories[row["category_token"]]) for row in tables["instance"]
        }
        self.samples: dict[str, list[Row]] = defaultdict(list)
        for row in sorted(tables["sample"], key=lambda row: float(row["timestamp"])):
            self.samples[row["scene_token"]].append(row)
        # sample token -> channel -> key frame
        self.frames: dict[str, dict[str, Row]] = defaultdict(dict)
        for row in tables["sample_data"]:
            if row["is_key_frame"]:
                self.frames[row["sample_token"]][channels[row["calibrated_sensor_token"]]] = row
        self.boxes: dict[str, list[Row]] = defaultdict(list)
        for row in tables["sample_annotation"]:
            self.boxes[row["sample_token"]].append(row)


def _kind(category: str) -> AgentKind:
    if "pedestrian" in category:
        return AgentKind.PEDESTRIAN
    if category.endswith("bicycle"):
        return AgentKind.CYCLIST
    fixed = category.startswith(("movable_object", "static_object", "animal"))
    return AgentKind.OBSTACLE if fixed else AgentKind.VEHICLE


def _read_scene(path: Path, name: str, token: str, index: _Index) -> Log:
    samples = index.samples[token]
    if not samples:
        raise BadInput("has no sample", path=path, field=f"scene {name}")
    lidar = [index.frames[sample["token"]][_LIDAR] for sample in samples]
    stamps = np.array([float(row["timestamp"]) for row in lidar])
    times = (stamps - stamps[0]) * 1e-6
    poses = np.array([_pose(index.poses[row["ego_pose_token"]]) for row in lidar])
    can = path.parent / "can_bus" / f"{name}_pose.json"
    velocity, acceleration = _can_bus(can, stamps) if can.is_file() else (None, None)
    if velocity is not None:
        check_velocity(velocity, poses, times, can, "vel")
    return Log(
        source="nuscenes",
        log_id=name,
        times=times,
        poses=poses,
        velocity=velocity,
        acceleration=acceleration,
        agents=_agents(samples, times, index),
        images=_images(samples, times, path.parent, index),
        anchors=tuple(range(len(samples))),
        frame_names=tuple(str(sample["token"]) for sample in samples),
        frame_origin="rear_axle",
        missing=frozenset({"command", "signals"}),
    )


def _pose(row: Row) -> tuple[float, float, float]:
    x, y, _ = row["translation"]
    w, qx, qy, qz = row["rotation"]
    return float(x), float(y), float(quaternion_yaw(w, qx, qy, qz))


def _can_bus(path: Path, stamps: Float) -> tuple[Float, Float]:
    """Velocity and acceleration ``[T, 2]`` in the ego frame; NaN outside the recording."""
    rows = parse_objects(path.read_bytes(), path, ("utime", "vel", "accel"))
    with malformed(path):
        clock = np.array([float(row["utime"]) for row in rows])
        columns = np.array([(*row["vel"][:2], *row["accel"][:2]) for row in rows], dtype=np.float64)
        found = np.stack(
            [np.interp(stamps, clock, column, np.nan, np.nan) for column in columns.T], axis=-1
        )
    return found[:, :2], found[:, 2:]


def _agents(samples: list[Row], times: Float, index: _Index) -> AgentTracks:
    ids, kinds, clock, boxes = [], [], [], []
    for time, sample in zip(times, samples, strict=True):
        for row in index.boxes[sample["token"]]:
            width, length, height = (float(edge) for edge in row["size"])
            ids.append(str(row["instance_token"]))
            kinds.append(index.kinds[row["instance_token"]])
            clock.append(float(time))
            boxes.append((*_pose(row), length, width, height))
    return tracks_on_grid(times, ids, kinds, clock, np.array(boxes))


def _images(
    samples: list[Row], times: Float, root: Path, index: _Index
) -> dict[str, tuple[Float, tuple[ImageRef, ...]]]:
    """Pictures of the key frames that lie below ``root``."""
    found: dict[str, list[tuple[float, ImageRef]]] = defaultdict(list)
    for time, sample in zip(times, samples, strict=True):
        for channel, camera in CAMERAS.items():
            row = index.frames[sample["token"]].get(channel)
            place = str(row["filename"]) if row else ""
            if place.startswith("/") or ".." in PurePosixPath(place).parts:
                raise ValueError(f"unsafe picture path {place[:60]!r}")
            if place and (root / place).is_file():
                found[camera].append((float(time), ImageRef((root / place).as_posix())))
    return {
        camera: (np.array([time for time, _ in rows]), tuple(ref for _, ref in rows))
        for camera, rows in sorted(found.items())
    }
