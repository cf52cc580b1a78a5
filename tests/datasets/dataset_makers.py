"""Tiny valid files of every format, from closed-form motion: a car at 8 m/s that turns left at 0.2 rad/s."""

from __future__ import annotations

import json
import pickle
import struct
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from driveproof.datasets import waymo_pb2
from driveproof.datasets.bench2drive_writer import ClipWriter
from driveproof.datasets.tfrecord import frame_records
from driveproof.errors import BadInput
from driveproof.geometry import poses_to_local, rotate
from driveproof.geometry.arrays import Float
from driveproof.scene import FUTURE_TIMES
from driveproof.testing import motion

SPEED, YAW_RATE = 8.0, 0.2
ORIGIN = (1000.0, -500.0, 2.0)
"""World pose at the start of every made log: far out and turned, so that mixed-up frames show."""
JPEG = b"\xff\xd8\xff\xe0 picture \xff\xd9"


def problem_of(call: Callable[[], object]) -> str:
    """The text of the BadInput that ``call`` raises, or nothing; anything else it raises is a failure."""
    try:
        call()
    except BadInput as error:
        return str(error)
    return ""


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


def _times(seconds: float, rate: float) -> Float:
    return np.arange(round(seconds * rate) + 1) / rate


def _states(times: Float, *, ahead: float = 0.0) -> Float:
    """``[T, 5]`` x, y, heading, vx, vy in the world, ``ahead`` seconds further on the circle."""
    poses, velocity = world_motion(times + ahead)
    return np.concatenate([poses, velocity], axis=1)


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
        for x, y, heading, vx, vy in _states(times, ahead=ahead):
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
        states = _states(times, ahead=ahead)
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
    times = _times(10.0, 10.0)
    tracks = {}
    for name, ahead in (("ego", 0.0), ("other", 1.25)):
        states, column = _states(times, ahead=ahead), np.ones((len(times), 1))
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


def make_nuscenes(folder: Path, can_bus: bool = True) -> Path:
    """Tables of two scenes of 20 s in shuffled order, with pictures, a walker and a CAN bus."""
    tables = folder / "v1.0-mini"
    tables.mkdir(parents=True)
    channels = ("LIDAR_TOP", "CAM_FRONT", "CAM_BACK")
    rows: dict[str, list[dict[str, Any]]] = {
        "sensor": [{"token": f"s{c}", "channel": c, "modality": "x"} for c in channels],
        "calibrated_sensor": [{"token": f"c{c}", "sensor_token": f"s{c}"} for c in channels],
        "category": [
            {"token": "car", "name": "vehicle.car"},
            {"token": "walker", "name": "human.pedestrian.adult"},
        ],
        "instance": [],
    }
    names = ("scene", "sample", "sample_data", "ego_pose", "sample_annotation")
    rows |= {name: [] for name in names}
    start = 1_532_402_927_647_951
    for scene in ("scene-0002", "scene-0001"):
        rows["scene"].append({"token": scene, "name": scene})
        rows["instance"].append({"token": f"{scene}-car", "category_token": "car"})
        for i, time in enumerate(_times(19.5, 2.0)):
            token, stamp = f"{scene}-{i}", start + round(time * 1e6)
            rows["sample"].append({"token": token, "timestamp": stamp, "scene_token": scene})
            pose = world_motion(np.array([time]))[0][0]
            other = lead_poses(np.array([time]))[0]
            for channel in channels:
                key = f"{token}-{channel}"
                picture = f"samples/{channel}/{key}.jpg"
                rows["ego_pose"].append(
                    {"token": key, "translation": [pose[0], pose[1], 0.0], "timestamp": stamp}
                    | {"rotation": yaw_quaternion(pose[2])}
                )
                rows["sample_data"].append(
                    {
                        "token": key,
                        "sample_token": token,
                        "ego_pose_token": key,
                        "filename": picture,
                    }
                    | {"calibrated_sensor_token": f"c{channel}", "timestamp": stamp}
                    | {"is_key_frame": True}
                )
                if channel == "CAM_FRONT":
                    (folder / picture).parent.mkdir(parents=True, exist_ok=True)
                    (folder / picture).write_bytes(JPEG)
            rows["sample_annotation"].append(
                {"sample_token": token, "instance_token": f"{scene}-car", "size": [1.9, 4.5, 1.6]}
                | {"translation": [other[0], other[1], 1.0], "rotation": yaw_quaternion(other[2])}
            )
        if can_bus:
            (folder / "can_bus").mkdir(exist_ok=True)
            can = [
                {
                    "utime": start + round(t * 1e6),
                    "vel": [SPEED, 0.0, 0.0],
                    "accel": [0.0, 1.6, 9.8],
                }
                for t in _times(20.0, 50.0)
            ]
            (folder / "can_bus" / f"{scene}_pose.json").write_text(json.dumps(can))
    for name, content in rows.items():
        content.reverse()
        (tables / f"{name}.json").write_text(json.dumps(content))
    return tables


def make_navsim(folder: Path, annotated: bool = True) -> Path:
    """A log of 20 s at 2 Hz in the layout of OpenScene, with pictures of the front camera."""
    path = folder / "navsim_logs/mini/2021.05.12.22.00.38_veh-35.pkl"
    path.parent.mkdir(parents=True)
    frames = []
    for i, time in enumerate(_times(20.0, 2.0)):
        pose, other = world_motion(np.array([time]))[0][0], lead_poses(np.array([time]))[0]
        local = poses_to_local(other, pose)
        picture = f"log/CAM_F0/{i}.jpg"
        blob = folder / "sensor_blobs/mini" / picture
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(JPEG)
        frame: dict[str, Any] = {
            "token": f"token{i}",
            "timestamp": 1_620_857_000_000_000 + round(time * 1e6),
            "log_name": path.stem,
            "ego2global_translation": np.array([pose[0], pose[1], 0.3]),
            "ego2global_rotation": np.array(yaw_quaternion(pose[2])),
            "ego_dynamic_state": [SPEED, 0.0, 0.0, SPEED * YAW_RATE],
            "driving_command": np.array([1, 0, 0, 0]),
            "cams": {"CAM_F0": {"data_path": picture}},
        }
        if annotated:
            frame["anns"] = {
                "gt_boxes": np.array([[local[0], local[1], 0.0, 4.5, 1.9, 1.6, local[2]]]),
                "gt_names": np.array(["vehicle"]),
                "track_tokens": ["lead"],
            }
        frames.append(frame)
    path.write_bytes(pickle.dumps(frames))
    return path


def make_physical_ai(root: Path, zipped: bool = True) -> Path:
    """Two clips of 20 s at 100 Hz in an anchor frame that is turned by 2 rad against the start heading."""
    times = _times(20.0, 100.0)
    states = _states(times)
    stamps = np.round(times * 1e6).astype(np.int64)
    turn = [yaw_quaternion(heading) for heading in states[:, 2]]
    motion_table = {
        "timestamp": stamps,
        **{f"q{axis}": [q[k] for q in turn] for k, axis in enumerate("wxyz")},
        **dict(zip(("x", "y", "vx", "vy"), states[:, [0, 1, 3, 4]].T, strict=True)),
    }
    clock = _times(20.0, 10.0)
    local = poses_to_local(lead_poses(clock), world_motion(clock)[0])
    turned = [yaw_quaternion(heading) for heading in local[:, 2]]
    boxes = {
        "timestamp_us": np.round(clock * 1e6).astype(np.int64),
        "track_id": ["lead"] * len(clock),
        "label_class": ["automobile"] * len(clock),
        "center_x": local[:, 0],
        "center_y": local[:, 1],
        **{
            f"size_{axis}": [edge] * len(clock)
            for axis, edge in zip("xyz", (4.5, 1.9, 1.6), strict=True)
        },
        **{f"orientation_{axis}": [q[k] for q in turned] for k, axis in enumerate("wxyz")},
    }
    for label, table in (("egomotion", motion_table), ("obstacle.offline", boxes)):
        folder = root / "labels" / label
        folder.mkdir(parents=True)
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table(table), sink)
        data = sink.getvalue().to_pybytes()
        if zipped:
            with zipfile.ZipFile(folder / f"{label}.chunk_0000.zip", "w") as archive:
                for clip in ("clip-b", "clip-a"):
                    archive.writestr(f"{clip}.{label}.parquet", data)
        else:
            for clip in ("clip-b", "clip-a"):
                (folder / f"{clip}.{label}.parquet").write_bytes(data)
    return root


def make_av2_sensor(folder: Path) -> Path:
    """16 s of poses with jittered and doubled stamps, boxes in the ego frame at 10 Hz, pictures at 20 Hz."""
    folder.mkdir(parents=True)
    start = 315_966_265_000_000_000
    stamps = np.arange(0, 16_000_000_000, 5_000_000)
    stamps = np.sort(np.concatenate([stamps, stamps[::3] + 5]))
    poses, _ = world_motion(stamps * 1e-9)
    turn = [yaw_quaternion(heading) for heading in poses[:, 2]]
    table = {
        "timestamp_ns": stamps + start,
        **{f"q{axis}": [q[k] for q in turn] for k, axis in enumerate("wxyz")},
        "tx_m": poses[:, 0],
        "ty_m": poses[:, 1],
    }
    feather.write_feather(pa.table(table), folder / "city_SE3_egovehicle.feather")
    clock = _times(15.9, 10.0)
    local = poses_to_local(lead_poses(clock), world_motion(clock)[0])
    turned = [yaw_quaternion(heading) for heading in local[:, 2]]
    boxes = {
        "timestamp_ns": np.round(clock * 1e9).astype(np.int64) + start,
        "track_uuid": ["lead"] * len(clock),
        "category": ["REGULAR_VEHICLE"] * len(clock),
        "tx_m": local[:, 0],
        "ty_m": local[:, 1],
        **{f"q{axis}": [q[k] for q in turned] for k, axis in enumerate("wxyz")},
        **dict.fromkeys(("length_m", "width_m", "height_m"), np.full(len(clock), 2.0)),
    }
    feather.write_feather(pa.table(boxes), folder / "annotations.feather")
    pictures = folder / "sensors/cameras/ring_front_center"
    pictures.mkdir(parents=True)
    for time in _times(15.9, 20.0):
        (pictures / f"{start + round(time * 1e9)}.jpg").write_bytes(JPEG)
    return folder


def make_av2_forecasting(path: Path) -> Path:
    """11 s of the ego, a car that appears late and a background track that does not count."""
    rows: list[dict[str, Any]] = []
    for name, kind, ahead, first in (
        ("AV", "vehicle", 0.0, 0),
        ("17", "vehicle", 1.25, 30),
        ("18", "background", 2.0, 0),
    ):
        for step, state in enumerate(_states(np.arange(110) / 10, ahead=ahead)):
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
    for x, y, heading in world_motion(_times(10.0, 10.0))[0]:
        cos, sin = np.cos(heading), np.sin(heading)
        matrix = [[cos, 0, -sin, -y], [0, 1, 0, 0], [sin, 0, cos, x]]
        lines.append(" ".join(f"{value:.12e}" for row in matrix for value in row))
    path.write_text("\n".join(lines) + "\n")
    return path


def make_comma2k19(folder: Path) -> Path:
    """10 s at 20 Hz, in ECEF at latitude 0, longitude 0 (east is y, north is z), camera 2 degrees off."""
    (folder / "global_pose").mkdir(parents=True)
    times = _times(10.0, 20.0)
    states = _states(times)
    zero = np.zeros(len(times))
    mounted = states[:, 2] + np.radians(2.0)
    arrays = {
        "times": times + 100.0,
        # far out in the plane the sphere would curve away, so the plane starts at its own origin
        "positions": np.stack([zero + 6.37e6, *(states[:, :2] - states[0, :2]).T], axis=-1),
        "velocities": np.stack([zero, states[:, 3], states[:, 4]], axis=-1),
        # device x (forward) to ECEF y cos + z sin: x -> y, y -> z, z -> x is a turn of 120 degrees
        # about (1, 1, 1); the heading then turns about ECEF x
        "orientations": np.array(
            [_quaternion_product(_about_x(a), (0.5, 0.5, 0.5, 0.5)) for a in mounted]
        ),
    }
    for name, array in arrays.items():
        with (folder / "global_pose" / f"frame_{name}").open("wb") as stream:
            np.save(stream, array)
    return folder


def _about_x(angle: float) -> tuple[float, float, float, float]:
    return float(np.cos(angle / 2)), float(np.sin(angle / 2)), 0.0, 0.0


def _quaternion_product(a: Sequence[float], b: Sequence[float]) -> tuple[float, ...]:
    w, v = a[0] * b[0] - np.dot(a[1:], b[1:]), np.cross(a[1:], b[1:])
    return (w, *(a[0] * np.array(b[1:]) + b[0] * np.array(a[1:]) + v))


def make_interaction(path: Path) -> Path:
    """Two cars on the circle and a walker, 10 s."""
    rows = ["track_id,frame_id,timestamp_ms,agent_type,x,y,vx,vy,psi_rad,length,width"]
    for name, ahead in (("1", 0.0), ("2", 1.25), ("P1", 3.0)):
        for step, s in enumerate(_states(_times(10.0, 10.0), ahead=ahead).tolist()):
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
        for step, (x, y, heading, vx, vy) in enumerate(_states(_times(10.0, 10.0), ahead=ahead)):
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


def blosc_chunk(data: bytes, item: int, block: int | None = None, split: bool = False) -> bytes:
    """A Blosc 1 chunk: shuffled bytes, LZ4, one stream a block or one a byte of the item."""
    block = block or max(len(data) // item * item, 1)  # as c-blosc: whole items in a block
    codec = pa.Codec("lz4_raw")
    starts, body = [], b""
    count = -(-len(data) // block)
    for index in range(count):
        plain = data[index * block : (index + 1) * block]
        whole = len(plain) // item * item
        shuffled = (
            np.frombuffer(plain, np.uint8, whole).reshape(-1, item).T.tobytes() + plain[whole:]
        )
        full = len(plain) == block and split and item <= 16 and block // item >= 128
        edge = len(shuffled) // (item if full else 1)
        starts.append(16 + 4 * count + len(body))
        for k in range(item if full else 1):
            part = shuffled[k * edge : (k + 1) * edge]
            packed = codec.compress(part).to_pybytes()
            packed = part if len(packed) >= len(part) else packed
            body += struct.pack("<I", len(packed)) + packed
    flags = 0x1 | 1 << 5 | (0 if split else 0x10)
    table = struct.pack(f"<{count}I", *starts)
    size = 16 + len(table) + len(body)
    return struct.pack("<BBBBIII", 2, 1, flags, item, len(data), block, size) + table + body


def make_l5kit(folder: Path) -> Path:
    """One scene of 10 s and a car ahead, in chunks of 64 rows."""
    times = _times(10.0, 10.0)
    poses, lead = world_motion(times)[0], lead_poses(times)
    count = len(times)
    turn = np.zeros((count, 3, 3))
    turn[:, 2, 2] = 1.0
    turn[:, 0, 0] = turn[:, 1, 1] = np.cos(poses[:, 2])
    turn[:, 1, 0], turn[:, 0, 1] = np.sin(poses[:, 2]), -np.sin(poses[:, 2])
    rows = np.arange(count)
    tables: dict[str, dict[str, Any]] = {
        "scenes": {
            "frame_index_interval": np.array([[0, count]], "<i8"),
            "host": np.array(["host-a101"], "<U16"),
            "start_time": np.array([1_571_846_863_319_362_048], "<i8"),
        },
        "frames": {
            "timestamp": 1_571_846_863_319_362_048 + np.round(times * 1e9).astype("<i8"),
            "agent_index_interval": np.stack([rows, rows + 1], axis=-1).astype("<i8"),
            "ego_translation": np.concatenate([poses[:, :2], np.zeros((count, 1))], axis=1),
            "ego_rotation": turn,
        },
        "agents": {
            "centroid": lead[:, :2],
            "extent": np.tile([4.5, 1.9, 1.6], (count, 1)).astype("<f4"),
            "yaw": lead[:, 2].astype("<f4"),
            "track_id": np.full(count, 7, "<u8"),
            "label_probabilities": np.tile(np.eye(17, dtype="<f4")[3], (count, 1)),
        },
    }
    for name, columns in tables.items():
        (folder / name).mkdir(parents=True)
        fields = [(key, c.dtype.str, c.shape[1:]) for key, c in columns.items()]
        length = len(next(iter(columns.values())))
        table = np.zeros(-(-length // 64) * 64, dtype=fields)
        for key, column in columns.items():
            table[key][:length] = column
        header = {
            "shape": [length],
            "chunks": [64],
            "dtype": [
                [key, kind, list(shape)] if shape else [key, kind] for key, kind, shape in fields
            ],
            "compressor": {"id": "blosc"},
            "filters": None,
        }
        (folder / name / ".zarray").write_text(json.dumps(header))
        for index in range(len(table) // 64):
            data = table[64 * index : 64 * index + 64].tobytes()
            (folder / name / str(index)).write_bytes(blosc_chunk(data, table.dtype.itemsize % 256))
    return folder


MAKERS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "bench2drive": ("Accident_Town03_Route1_W2.tar", make_bench2drive),
    "waymo_e2e": ("frames.tfrecord", make_waymo_e2e),
    "womd": ("scenarios.tfrecord", make_womd),
    "womd_json": ("scenario.json", make_womd_json),
    "scenarionet": ("sd_made.pkl", make_scenarionet),
    "nuscenes": ("nuscenes", make_nuscenes),
    "navsim": ("openscene", make_navsim),
    "physical_ai": ("physical", make_physical_ai),
    "av2_sensor": ("av2-log", make_av2_sensor),
    "av2_forecasting": ("scenario_made.parquet", make_av2_forecasting),
    "kitti": ("03.txt", make_kitti),
    "comma2k19": ("drive_40", make_comma2k19),
    "l5kit": ("scenes.zarr", make_l5kit),
    "interaction": ("vehicle_tracks_000.csv", make_interaction),
    "commonroad": ("MADE-1.xml", make_commonroad),
    "plain": ("windows.npz", make_plain_npz),
}
"""Format -> a file or folder name that fits it, and the maker."""
