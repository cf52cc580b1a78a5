"""Clips in Bench2Drive's annotation format, made of straight drives along the lanes of a town."""

from __future__ import annotations

import gzip
import json
import math
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.maps import LaneKind, TownMap, load_town
from driveproof.sim.recorder.matrices import inverse, pose_matrix, rows
from driveproof.sim.recorder.rig import CAMERAS

CLIP = "Accident_{town}_Route{route:03d}_Weather1"
MODELS = (
    ("vehicle.lincoln.mkz_2020", "car", "30,90,170"),
    ("vehicle.nissan.patrol", "car", "190,30,35"),
    ("vehicle.mercedes.sprinter", "van", "225,225,225"),
    ("vehicle.dodge.charger_police", "car", "0,0,0"),
    ("vehicle.bh.crossbike", "bicycle", "40,110,60"),
)


def straight_lanes(town: TownMap, least: float = 60.0) -> list[int]:
    """Driving lanes without a bend, the longest first."""
    lanes = town.lanes
    found = [
        int(lane)
        for lane in lanes.of_kind(LaneKind.DRIVING)
        if lanes.junction[lane] < 0
        and lanes.length[lane] > least
        and np.ptp(np.unwrap(lanes.heading[lanes.points(int(lane))])) < 0.05
    ]
    return sorted(found, key=lambda lane: -lanes.length[lane])


def _box(number: int, pose: tuple[float, float, float], speed: float) -> dict[str, Any]:
    type_id, base, colour = MODELS[number % len(MODELS)]
    x, y, yaw = pose[0], -pose[1], -math.degrees(pose[2])
    to_world = pose_matrix(x, y, 0.0, yaw)
    corners = [[sx * 2.4, sy * 0.9, sz * 0.75, 1.0] for sx in (1, -1) for sy in (1, -1) for sz in (1, -1)]  # fmt: skip
    return {
        "class": "vehicle",
        "state": "dynamic",
        "id": str(100 + number),
        "type_id": type_id,
        "base_type": base,
        "location": [x, y, 0.0],
        "rotation": [0.0, 0.0, yaw],
        "bbx_loc": [0.0, 0.0, 0.75],
        "center": [x, y, 0.75],
        "extent": [2.4, 0.9, 0.75],
        "world_cord": (np.array(corners) @ to_world.T)[:, :3].tolist(),
        "semantic_tags": [14],
        "color": colour,
        "num_points": 120,
        "distance": 10.0,
        "speed": speed,
        "brake": 0.0,
        "light_state": "0",
        "road_id": 1,
        "lane_id": -1,
        "section_id": 0,
        "world2vehicle": rows(inverse(to_world)),
    }


def annotation(
    town: TownMap, lane: int, seconds: float, vehicles: int, speed: float = 6.0
) -> dict[str, Any]:
    """A frame: the ego along a lane, others around it, each along the lane nearest to it."""
    line = town.lanes.polyline(lane)
    s = 15.0 + speed * seconds
    ego_pose = (*map(float, line.at(s)), float(line.heading(s)))
    ego = _box(0, ego_pose, speed) | {"class": "ego_vehicle", "id": "1"}
    ego["world2ego"] = ego.pop("world2vehicle")
    rng = np.random.default_rng(lane)
    boxes = [ego]
    around = rng.uniform([-30.0, -12.0], [45.0, 12.0], (vehicles, 2))
    cos, sin = math.cos(ego_pose[2]), math.sin(ego_pose[2])
    start = line.at(15.0)
    places = start + around @ np.array([[cos, sin], [-sin, cos]])
    near = town.nearest_lane(places)
    for number, (x, y) in enumerate(places.tolist(), start=1):
        part = town.lanes.points(int(near.lane[number - 1]))
        heading = float(
            np.interp(
                near.arc[number - 1], town.lanes.arc[part], np.unwrap(town.lanes.heading[part])
            )
        )
        own = float(rng.choice([0.0, 4.0, 8.0]))
        moved = own * seconds
        place = (x + moved * math.cos(heading), y + moved * math.sin(heading), heading)
        boxes.append(_box(number, place, own))
    sensors = {}
    to_ego = pose_matrix(ego_pose[0], -ego_pose[1], 0.0, -math.degrees(ego_pose[2]))
    for mount in CAMERAS.values():
        to_world = to_ego @ mount.cam2ego
        sensors[mount.sensor] = {
            "location": to_world[:3, 3].tolist(),
            "rotation": [0.0, 0.0, 0.0],
            "world2cam": rows(inverse(to_world)),
            **mount.fixed,
        }
    ahead = line.at(s + 30.0)
    return {
        "x": ego_pose[0],
        "y": -ego_pose[1],
        "throttle": 0.3,
        "steer": 0.0,
        "brake": 0.0,
        "reverse": False,
        "theta": 0.0,
        "speed": speed,
        "x_command_far": float(ahead[0]),
        "y_command_far": -float(ahead[1]),
        "command_far": 4,
        "x_command_near": float(ahead[0]),
        "y_command_near": -float(ahead[1]),
        "command_near": 4,
        "should_brake": False,
        "x_target": float(ahead[0]),
        "y_target": -float(ahead[1]),
        "next_command": 4,
        "weather": {"cloudiness": 10.0, "precipitation": 0.0, "sun_altitude_angle": 45.0},
        "acceleration": [0.0, 0.0, 9.8],
        "angular_velocity": [0.0, 0.0, 0.0],
        "bounding_boxes": boxes,
        "sensors": sensors,
    }


def write_clip(
    folder: Path, town_name: str = "Town05", route: int = 1, frames: int = 20, vehicles: int = 30
) -> Path:
    """A tar with one clip of annotations."""
    town = load_town(town_name)
    lanes = straight_lanes(town)
    lane = lanes[route % min(len(lanes), 4)]
    name = CLIP.format(town=town_name, route=route)
    path = folder / f"{name}.tar"
    with tarfile.open(path, "w") as archive:
        for index in range(frames):
            anno = annotation(town, lane, index / 10.0, vehicles)
            data = gzip.compress(json.dumps(anno).encode(), mtime=0)
            member = tarfile.TarInfo(f"{name}/anno/{index:05d}.json.gz")
            member.size = len(data)
            archive.addfile(member, BytesIO(data))
    return path
