"""Argoverse 2 sensor logs: one folder a log of about 16 s.

Frame origin: ego-vehicle frame, middle of the rear axle. Rate: poses come at about 170 Hz with stamps as
close as 5 ns, so they are resampled to the 10 Hz of the annotations before velocities are differentiated.
Boxes are in the ego frame at their own stamp. Missing: velocity, navigation command, signals.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from driveproof.datasets.av2_map import find_map, read_map
from driveproof.datasets.checks import malformed
from driveproof.datasets.columns import numbers, read_columns_of, seconds
from driveproof.datasets.motion import interpolate_poses, quaternion_yaw, tracks_on_grid
from driveproof.geometry.arrays import Float
from driveproof.geometry.se2 import poses_to_world
from driveproof.scene import AgentKind, AgentTracks, ImageRef, Log

_POSES = "city_SE3_egovehicle.feather"
_BOXES = ("annotations.feather", "annotations_with_ego.feather")
CAMERAS = {
    "ring_front_center": "front",
    "ring_front_left": "front_left",
    "ring_front_right": "front_right",
}
_PEDESTRIANS = {"PEDESTRIAN", "STROLLER", "WHEELCHAIR", "OFFICIAL_SIGNALER"}
_CYCLISTS = {"BICYCLE", "BICYCLIST", "WHEELED_DEVICE", "WHEELED_RIDER"}
_OBSTACLES = ("BOLLARD", "CONSTRUCTION", "SIGN", "STOP_SIGN", "MOBILE_PEDESTRIAN", "ANIMAL", "DOG")
_STEP_S = 0.1
EGO_SIZE = (4.877, 2.0)
"""Length and width in metres of the fleet's vehicle, as logs that annotate it say."""


def claims(path: Path) -> bool:
    """Whether the folder holds ego poses."""
    return (path / _POSES).is_file()


def read(path: Path) -> Iterator[Log]:
    """Yield the log of one folder.

    Raises
    ------
    BadInput
        Naming the file and the column.
    """
    source = path / _POSES
    columns = read_columns_of(source, ["timestamp_ns", "qw", "qx", "qy", "qz", "tx_m", "ty_m"])
    with malformed(source):
        origin = int(columns["timestamp_ns"].min())
        times = seconds(columns["timestamp_ns"], 1e-9, origin)
        yaw = quaternion_yaw(*(columns[q] for q in ("qw", "qx", "qy", "qz")))
        poses = np.concatenate([numbers(columns, ["tx_m", "ty_m"]), yaw[:, None]], axis=1)
        times, first = np.unique(times, return_index=True)
        poses = poses[first]
        usable = np.isfinite(poses).all(1)
        times, poses = times[usable], poses[usable]
    archive = find_map(path)
    clock, agents = _annotations(path, origin, times, poses)
    yield Log(
        source="av2_sensor",
        log_id=path.resolve().name,
        times=clock,
        poses=interpolate_poses(clock, times, poses),
        agents=agents,
        images=_images(path, origin),
        frame_origin="rear_axle",
        missing=frozenset({"command", "signals"} | (set() if agents else {"agents"})),
        ego_size=EGO_SIZE,
        load_map=None if archive is None else partial(read_map, archive),
    )


def _annotations(
    path: Path, origin: int, times: Float, poses: Float
) -> tuple[Float, AgentTracks | None]:
    """The 10 Hz clock of the log, and the boxes on it in the world, if the log has boxes."""
    grid = np.arange(times[0], times[-1], _STEP_S) if len(times) else np.zeros(0)
    source = next((path / name for name in _BOXES if (path / name).is_file()), None)
    if source is None:
        return grid, None
    sizes = ["length_m", "width_m", "height_m"]
    names = ["timestamp_ns", "track_uuid", "category", "qw", "qx", "qy", "qz", "tx_m", "ty_m"]
    columns = read_columns_of(source, names + sizes)
    with malformed(source):
        stamps = seconds(columns["timestamp_ns"], 1e-9, origin)
        yaw = quaternion_yaw(*(columns[q] for q in ("qw", "qx", "qy", "qz")))
        local = np.concatenate([numbers(columns, ["tx_m", "ty_m"]), yaw[:, None]], axis=1)
        world = poses_to_world(local, interpolate_poses(stamps, times, poses))
        boxes = np.concatenate([world, numbers(columns, sizes)], axis=1)
        clock = np.unique(stamps)
        others = np.flatnonzero(columns["category"] != "EGO_VEHICLE")
        agents = tracks_on_grid(
            clock,
            [str(columns["track_uuid"][i]) for i in others],
            [_kind(str(columns["category"][i])) for i in others],
            stamps[others],
            boxes[others],
        )
    return clock, agents


def _kind(category: str) -> AgentKind:
    if category in _PEDESTRIANS:
        return AgentKind.PEDESTRIAN
    if category in _CYCLISTS:
        return AgentKind.CYCLIST
    return AgentKind.OBSTACLE if category.startswith(_OBSTACLES) else AgentKind.VEHICLE


def _images(path: Path, origin: int) -> dict[str, tuple[Float, tuple[ImageRef, ...]]]:
    found: dict[str, tuple[Float, tuple[ImageRef, ...]]] = {}
    for folder, camera in CAMERAS.items():
        files = [f for f in (path / "sensors/cameras" / folder).glob("*.jpg") if f.stem.isdigit()]
        if files:
            files.sort(key=lambda file: int(file.stem))
            stamps = np.array([int(file.stem) - origin for file in files], dtype=np.float64) * 1e-9
            found[camera] = (stamps, tuple(ImageRef(file.as_posix()) for file in files))
    return found
