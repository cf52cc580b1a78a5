"""Made logs of the formats that keep a log in a folder."""

from __future__ import annotations

import json
import pickle
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
from maker_motion import (
    JPEG,
    SPEED,
    YAW_RATE,
    lead_poses,
    states_of,
    times_of,
    world_motion,
    yaw_quaternion,
)

from driveproof.geometry import poses_to_local


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
        for i, time in enumerate(times_of(19.5, 2.0)):
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
                for t in times_of(20.0, 50.0)
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
    for i, time in enumerate(times_of(20.0, 2.0)):
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
    times = times_of(20.0, 100.0)
    states = states_of(times)
    stamps = np.round(times * 1e6).astype(np.int64)
    turn = [yaw_quaternion(heading) for heading in states[:, 2]]
    motion_table = {
        "timestamp": stamps,
        **{f"q{axis}": [q[k] for q in turn] for k, axis in enumerate("wxyz")},
        **dict(zip(("x", "y", "vx", "vy"), states[:, [0, 1, 3, 4]].T, strict=True)),
    }
    clock = times_of(20.0, 10.0)
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
    clock = times_of(15.9, 10.0)
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
    for time in times_of(15.9, 20.0):
        (pictures / f"{start + round(time * 1e9)}.jpg").write_bytes(JPEG)
    return folder


def make_comma2k19(folder: Path) -> Path:
    """10 s at 20 Hz, in ECEF at latitude 0, longitude 0 (east is y, north is z), camera 2 degrees off."""
    (folder / "global_pose").mkdir(parents=True)
    times = times_of(10.0, 20.0)
    states = states_of(times)
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
    times = times_of(10.0, 10.0)
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
