"""Made logs of the formats that keep a log in one file."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from maker_motion import (
    JPEG,
    ORIGIN,
    SPEED,
    YAW_RATE,
    expected_waypoints,
    lead_poses,
    states_of,
    times_of,
    world_motion,
)

from driveproof.datasets import waymo_pb2
from driveproof.datasets.bench2drive_writer import ClipWriter
from driveproof.datasets.tfrecord import frame_records
from driveproof.geometry import rotate
from driveproof.testing import motion


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


def make_waymo_e2e(path: Path, frames: int = 3, future: bool = True) -> Path:
    """Frames of one drive; states are in the ego frame already; calibrated pictures in jumbled order."""
    records = []
    for index in range(frames):
        message = waymo_pb2.E2EDFrame()
        message.frame.context.name = f"drive-{index:03d}"
        message.intent = 2
        for name in (3, 1, 2, 8):
            message.frame.images.add(name=name, image=JPEG + bytes([name]))
        steps = [(message.past_states, np.arange(-15, 1) / 4)]
        if future:
            steps.append((message.future_states, np.arange(1, 21) / 4))
        for states, times in steps:
            poses, body = motion(times, speed=SPEED, yaw_rate=YAW_RATE)
            states.pos_x.extend(poses[:, 0])
            states.pos_y.extend(poses[:, 1])
            if times[0] < 0:
                velocity = rotate(body, poses[:, 2])
                states.vel_x.extend(velocity[:, 0])
                states.vel_y.extend(velocity[:, 1])
                turned = rotate(np.array([0.0, SPEED * YAW_RATE]), poses[:, 2])
                states.accel_x.extend(turned[:, 0])
                states.accel_y.extend(turned[:, 1])
        records.append(message.SerializeToString())
    path.write_bytes(frame_records(records))
    return path


def make_womd(path: Path) -> Path:
    """One scenario of 9.1 s whose own car is track 1 of 3, with a red light."""
    times = np.arange(91) / 10
    scenario = waymo_pb2.Scenario(
        scenario_id="made", timestamps_seconds=times + 7.0, sdc_track_index=1
    )
    for number, (kind, ahead) in enumerate(((1, 1.25), (1, 0.0), (2, 2.0))):
        track = scenario.tracks.add(id=100 + number, object_type=kind)
        for x, y, heading, vx, vy in states_of(times, ahead=ahead):
            track.states.add(center_x=x, center_y=y, heading=heading, velocity_x=vx, velocity_y=vy)
            track.states[-1].MergeFrom(
                waymo_pb2.ObjectState(length=4, width=2, height=1, valid=True)
            )
    for _ in times:
        light = scenario.dynamic_map_states.add().lane_states.add(lane=5, state=4)
        light.stop_point.x, light.stop_point.y = ORIGIN[:2]
    path.write_bytes(frame_records([scenario.SerializeToString()]))
    return path


def make_womd_json(path: Path) -> Path:
    """The same scenario in GPUDrive's layout; the second car is invalid for a while."""
    times = np.arange(91) / 10
    objects = []
    for number, ahead in enumerate((1.25, 0.0)):
        states = states_of(times, ahead=ahead)
        valid = [not (number == 0 and 10 <= i < 25) for i in range(91)]
        objects.append(
            {
                "position": [{"x": s[0], "y": s[1], "z": 0.0} for s in states.tolist()],
                "heading": states[:, 2].tolist(),
                "velocity": [{"x": s[3], "y": s[4]} for s in states.tolist()],
                "valid": valid,
                "length": 4.0,
                "width": 2.0,
                "height": 1.5,
                "type": "vehicle",
                "id": number,
            }
        )
    scenario = {
        "name": "n",
        "scenario_id": "made",
        "objects": objects,
        "roads": [],
        "tl_states": {},
    }
    path.write_text(json.dumps(scenario | {"metadata": {"sdc_track_index": 1}}))
    return path


def make_scenarionet(path: Path) -> Path:
    """A pickle of numpy arrays in containers, 10 s at 10 Hz."""
    times = times_of(10.0, 10.0)
    tracks = {}
    for name, ahead in (("ego", 0.0), ("other", 1.25)):
        states, column = states_of(times, ahead=ahead), np.ones((len(times), 1))
        tracks[name] = {
            "type": "VEHICLE",
            "state": {
                "position": np.concatenate([states[:, :2], 0 * column], axis=1),
                "heading": states[:, 2],
                "velocity": states[:, 3:].astype(np.float32),
                "valid": np.ones(len(times)),
                "length": 4.0 * column,
                "width": 2.0 * column,
                "height": 1.5 * column,
            },
        }
    metadata = {"ts": times, "sdc_id": "ego", "scenario_id": "made", "coordinate": "right-handed"}
    path.write_bytes(pickle.dumps({"id": "made", "tracks": tracks, "metadata": metadata}))
    return path


def make_av2_forecasting(path: Path) -> Path:
    """11 s of the ego, a car that appears late and a background track that does not count."""
    rows: list[dict[str, Any]] = []
    for name, kind, ahead, first in (
        ("AV", "vehicle", 0.0, 0),
        ("17", "vehicle", 1.25, 30),
        ("18", "background", 2.0, 0),
    ):
        for step, state in enumerate(states_of(np.arange(110) / 10, ahead=ahead)):
            if step >= first:
                keys = ("position_x", "position_y", "heading", "velocity_x", "velocity_y")
                rows.append(dict(zip(keys, map(float, state), strict=True)))
                rows[-1] |= {"track_id": name, "object_type": kind, "timestep": step}
                rows[-1] |= {"scenario_id": "made"}
    pq.write_table(pa.Table.from_pylist(rows[::-1]), path)
    return path


def plain_arrays(rows: int = 5) -> dict[str, Any]:
    """Windows that somebody has cut already."""
    return {
        "traj": np.repeat(expected_waypoints()[None], rows, axis=0).astype(np.float32),
        "v0": np.tile([SPEED, 0.0], (rows, 1)).astype(np.float32),
        "record_key": np.array([f"womd/a/{i}" for i in range(rows)]),
        "scene_key": np.array([f"womd/{'ab'[i % 2]}" for i in range(rows)]),
        "source_id": np.zeros(rows, dtype=np.int16),
        "source_names": np.array(["womd", "other"]),
    }


def make_plain_npz(path: Path) -> Path:
    """As a numpy archive."""
    np.savez_compressed(path, **plain_arrays())
    return path


def make_plain_parquet(path: Path) -> Path:
    """As a parquet with nested lists."""
    arrays = plain_arrays()
    table = {key: arrays[key].tolist() for key in ("traj", "v0", "record_key", "scene_key")}
    pq.write_table(pa.table(table | {"source": ["womd"] * 5}), path)
    return path


def make_kitti(path: Path) -> Path:
    """Camera poses of 10 s: x right, y down, z forward."""
    lines = []
    for x, y, heading in world_motion(times_of(10.0, 10.0))[0]:
        cos, sin = np.cos(heading), np.sin(heading)
        matrix = [[cos, 0, -sin, -y], [0, 1, 0, 0], [sin, 0, cos, x]]
        lines.append(" ".join(f"{value:.12e}" for row in matrix for value in row))
    path.write_text("\n".join(lines) + "\n")
    return path


def make_interaction(path: Path) -> Path:
    """Two cars on the circle and a walker, 10 s."""
    rows = ["track_id,frame_id,timestamp_ms,agent_type,x,y,vx,vy,psi_rad,length,width"]
    for name, ahead in (("1", 0.0), ("2", 1.25), ("P1", 3.0)):
        for step, s in enumerate(states_of(times_of(10.0, 10.0), ahead=ahead).tolist()):
            agent, box = ("car", f"{s[2]},4.0,1.8") if name != "P1" else ("pedestrian", ",,")
            rows.append(
                f"{name},{step + 1},{100 * (step + 1)},{agent},{s[0]},{s[1]},{s[3]},{s[4]},{box}"
            )
    path.write_text("\n".join(rows) + "\n")
    return path


def make_commonroad(path: Path, version: str = "2020a", source: str = "NGSIM") -> Path:
    """Two cars on the circle, 10 s, in either version of the format."""
    obstacles = []
    for number, ahead in ((42, 0.0), (43, 1.25)):
        states = []
        for step, (x, y, heading, vx, vy) in enumerate(
            states_of(times_of(10.0, 10.0), ahead=ahead)
        ):
            tag = "state" if step else "initialState"
            states.append(
                f"<{tag}><position><point><x>{x}</x><y>{y}</y></point></position>"
                f"<orientation><exact>{heading}</exact></orientation><time><exact>{step}</exact></time>"
                f"<velocity><exact>{np.hypot(vx, vy)}</exact></velocity></{tag}>"
            )
        tag, role = (
            ("dynamicObstacle", "") if version == "2020a" else ("obstacle", "<role>dynamic</role>")
        )
        shape = "<shape><rectangle><length>4.2</length><width>1.8</width></rectangle></shape>"
        obstacles.append(
            f'<{tag} id="{number}">{role}<type>car</type>{shape}{states[0]}'
            f"<trajectory>{''.join(states[1:])}</trajectory></{tag}>"
        )
    path.write_text(
        f'<?xml version="1.0"?><commonRoad benchmarkID="MADE-1" commonRoadVersion="{version}" '
        f'source="{source}" timeStepSize="0.1">{"".join(obstacles)}</commonRoad>'
    )
    return path
