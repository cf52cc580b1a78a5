"""Tiny valid files of every format, from closed-form motion: a car at 8 m/s that turns left at 0.2 rad/s."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from driveproof.datasets.bench2drive_writer import ClipWriter
from driveproof.geometry import rotate
from driveproof.geometry.arrays import Float
from driveproof.scene import FUTURE_TIMES
from driveproof.testing import motion

SPEED, YAW_RATE = 8.0, 0.2
ORIGIN = (1000.0, -500.0, 2.0)
"""World pose at the start of every made log: far out and turned, so that mixed-up frames show."""
JPEG = b"\xff\xd8\xff\xe0 picture \xff\xd9"


def expected_waypoints() -> Float:
    """``[10, 2]`` of every moment: on a circle all moments look alike."""
    return motion(FUTURE_TIMES, speed=SPEED, yaw_rate=YAW_RATE)[0][:, :2]


def world_motion(times: Float) -> tuple[Float, Float]:
    """Poses ``[T, 3]`` in the world and velocity ``[T, 2]`` in the world."""
    poses, body = motion(times, speed=SPEED, yaw_rate=YAW_RATE)
    world = np.concatenate(
        [rotate(poses[:, :2], ORIGIN[2]) + np.array(ORIGIN[:2]), poses[:, 2:] + ORIGIN[2]], axis=1
    )
    return world, rotate(body, world[:, 2])


def yaw_quaternion(heading: float) -> tuple[float, float, float, float]:
    """w, x, y, z of a turn about z."""
    return float(np.cos(heading / 2)), 0.0, 0.0, float(np.sin(heading / 2))


def lead_poses(times: Float, gap: float = 10.0) -> Float:
    """``[T, 3]`` of a car that drives ``gap`` metres of arc ahead on the same circle."""
    return world_motion(times + gap / SPEED)[0]


def bench2drive_annos(frames: int = 80) -> list[dict[str, Any]]:
    """Annotations in CARLA's left-handed frame and degrees, with a lead car, a walker, a light and a sign."""
    times = np.arange(frames) / 10
    poses, _ = world_motion(times)
    lead = lead_poses(times)
    annos = []
    for pose, other in zip(poses, lead, strict=True):
        x, y, yaw = pose[0], -pose[1], -np.degrees(pose[2])
        box = {"extent": [2.4, 0.9, 0.75], "rotation": [0.0, 0.0, yaw], "location": [x, y, 0.0]}
        ahead = [other[0], -other[1], 0.75]
        turned = [0.0, 0.0, -np.degrees(other[2])]
        wrong = {"location": [0.0, 0.0, 0.0], "distance": 10.0}
        annos.append(
            {
                "x": x + 1.4,  # the GNSS estimate lies elsewhere
                "y": y - 0.9,
                "theta": None,
                "speed": SPEED,
                "command_near": 1,
                "acceleration": [0.0, -SPEED * YAW_RATE, 9.8],
                "bounding_boxes": [
                    {"class": "ego_vehicle", "id": "1", **box},
                    {"class": "vehicle", "id": "2", "base_type": "car", **box, **wrong}
                    | {"center": ahead, "rotation": turned},
                    {"class": "walker", "id": "3", "speed": 0.0, **box, "center": [x + 9, y, 0.9]},
                    {"class": "traffic_light", "id": "4", "state": 0, "affects_ego": True, **box}
                    | {"trigger_volume_location": [x + 3.0, y + 4.0, 0.0]},
                    {
                        "class": "traffic_sign",
                        "id": "5",
                        "type_id": "traffic.speed_limit.36",
                        **box,
                    },
                    {"class": "traffic_sign", "id": "6", "type_id": "static.prop.trafficwarning"}
                    | box
                    | {"center": [x, y + 5.0, 1.0]},
                ],
            }
        )
    return annos


def make_bench2drive(path: Path, frames: int = 80) -> Path:
    """One clip; every second frame has pictures."""
    with ClipWriter(path) as clip:
        for index, anno in enumerate(bench2drive_annos(frames)):
            folders = ("rgb_front", "rgb_front_left", "rgb_back") if index % 2 == 0 else ()
            clip.add_frame(anno, dict.fromkeys(folders, JPEG))
    return path
