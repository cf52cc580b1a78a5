"""NAVSIM / OpenScene logs: one pickle a log (``navsim_logs/<split>/<log>.pkl``), read without running it.

Frame origin: rear axle. World: nuPlan's map frame, quaternions are w, x, y, z. Rate: 2 Hz. Velocity and
acceleration are recorded in the body frame; boxes in the ego frame. Missing: positions of traffic lights
(only lane connectors are named), boxes in test exports.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from driveproof.datasets.checks import check_velocity, malformed
from driveproof.datasets.motion import quaternion_yaw, tracks_on_grid
from driveproof.datasets.unpickle import load_pickle
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.geometry.se2 import poses_to_world
from driveproof.scene import AgentKind, AgentTracks, Command, ImageRef, Log

CAMERAS = {"CAM_F0": "front", "CAM_L0": "front_left", "CAM_R0": "front_right"}
# driving_command is one-hot over these
_COMMANDS = (Command.LEFT, Command.STRAIGHT, Command.RIGHT, Command.UNKNOWN)
_KINDS = {
    "vehicle": AgentKind.VEHICLE,
    "pedestrian": AgentKind.PEDESTRIAN,
    "bicycle": AgentKind.CYCLIST,
    "traffic_cone": AgentKind.OBSTACLE,
    "barrier": AgentKind.OBSTACLE,
    "czone_sign": AgentKind.OBSTACLE,
    "generic_object": AgentKind.OBSTACLE,
}


def claims(path: Path) -> bool:
    """Whether the file is a pickle outside ScenarioNet's naming (a pickle is not opened to look)."""
    return path.is_file() and path.suffix == ".pkl" and path.parent.parent.name == "navsim_logs"


def read(path: Path) -> Iterator[Log]:
    """Yield the log of one pickle.

    Raises
    ------
    BadInput
        Naming the file, the frame and the field; also if the pickle asks for more than arrays.
    """
    frames = load_pickle(path)
    if not isinstance(frames, list) or not frames:
        raise BadInput("expected a list of frames", path=path)
    with malformed(path):
        frames = sorted(frames, key=lambda frame: int(frame["timestamp"]))
        start = int(frames[0]["timestamp"])
        times = np.array([int(frame["timestamp"]) - start for frame in frames]) * 1e-6
    rows = np.array([_ego(frame, path, f"frame {i}") for i, frame in enumerate(frames)])
    check_velocity(rows[:, 3:5], rows[:, :3], times, path, "ego_dynamic_state")
    with malformed(path):
        agents = _agents(frames, times, rows[:, :3])
        log = Log(
            source="navsim",
            log_id=str(frames[0]["log_name"]),
            times=times,
            poses=rows[:, :3],
            velocity=rows[:, 3:5],
            acceleration=rows[:, 5:7],
            command=rows[:, 7].astype(np.int64),
            agents=agents,
            images=_images(frames, times, path),
            frame_names=tuple(str(frame["token"]) for frame in frames),
            frame_origin="rear_axle",
            missing=frozenset({"signals"} | (set() if agents else {"agents"})),
        )
    yield log


def _ego(frame: dict[str, Any], path: Path, field: str) -> tuple[float, ...]:
    """x, y, heading in the world; vx, vy, ax, ay in the body frame; command number."""
    with malformed(path, field):
        x, y, _ = np.asarray(frame["ego2global_translation"], dtype=np.float64)
        w, qx, qy, qz = np.asarray(frame["ego2global_rotation"], dtype=np.float64)
        vx, vy, ax, ay = np.asarray(frame["ego_dynamic_state"], dtype=np.float64)
        hot = np.asarray(frame["driving_command"]).reshape(len(_COMMANDS))
        command = _COMMANDS[int(hot.argmax())] if hot.any() else Command.UNKNOWN
        heading = float(quaternion_yaw(w, qx, qy, qz))
    return float(x), float(y), heading, vx, vy, ax, ay, float(command)


def _agents(frames: list[dict[str, Any]], times: Float, poses: Float) -> AgentTracks | None:
    """Boxes of all frames as tracks in the world; None if no frame has annotations."""
    ids: list[str] = []
    kinds: list[AgentKind] = []
    clock, boxes = [], []
    annotated = [(i, frame["anns"]) for i, frame in enumerate(frames) if frame.get("anns")]
    for index, anns in annotated:
        # x y z l w h yaw
        found = np.asarray(anns["gt_boxes"], dtype=np.float64).reshape(-1, 7)
        if len(found) != len(anns["track_tokens"]) or len(found) != len(anns["gt_names"]):
            raise ValueError(f"frame {index}: anns of different lengths")
        world = poses_to_world(found[:, [0, 1, 6]], poses[index])
        boxes.append(np.concatenate([world, found[:, 3:6]], axis=1))
        ids += [str(token) for token in anns["track_tokens"]]
        kinds += [_KINDS.get(str(name), AgentKind.OBSTACLE) for name in anns["gt_names"]]
        clock += [times[index]] * len(found)
    if not annotated:
        return None
    return tracks_on_grid(times, ids, kinds, clock, np.concatenate(boxes))


def _images(
    frames: list[dict[str, Any]], times: Float, path: Path
) -> dict[str, tuple[Float, tuple[ImageRef, ...]]]:
    """Pictures that lie where the layout says: ``sensor_blobs/<split>`` beside ``navsim_logs/<split>``."""
    root = path.parent.parent.parent / "sensor_blobs" / path.parent.name
    found: dict[str, tuple[Float, tuple[ImageRef, ...]]] = {}
    for name, camera in CAMERAS.items():
        kept = []
        for time, frame in zip(times, frames, strict=True):
            place = str((frame.get("cams") or {}).get(name, {}).get("data_path", ""))
            if place.startswith("/") or ".." in PurePosixPath(place).parts:
                raise ValueError(f"unsafe picture path {place[:60]!r}")
            if place and (root / place).is_file():
                kept.append((float(time), ImageRef((root / place).as_posix())))
        if kept:
            found[camera] = (np.array([t for t, _ in kept]), tuple(ref for _, ref in kept))
    return found
