"""Bench2Drive clips: one tar, tar.gz or folder a drive, an annotation and pictures a frame.

Frame origin: the ego actor's location in CARLA (about the box centre, on the ground), taken from
``bounding_boxes`` and not from ``x, y``, which are the noisy GNSS estimate. World: CARLA's, turned
right-handed here. Rate: 10 Hz, the frame number is the clock. Missing: the route beyond the next command.
Known holes of the source: speed may be None (then it is differentiated from the poses), walkers carry
speed 0 and standing vehicles a wrong location (so box centres are used and velocities differentiated).
"""

from __future__ import annotations

import math
import re
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.datasets.archives import Archive, gunzip, open_archive
from driveproof.datasets.checks import check_velocity, malformed, parse_json
from driveproof.datasets.motion import tracks_on_grid
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float
from driveproof.geometry.carla_frame import from_carla_points, from_carla_yaw
from driveproof.geometry.kinematics import differentiate
from driveproof.geometry.se2 import rotate
from driveproof.scene import (
    AgentKind,
    AgentTracks,
    Command,
    ImageRef,
    LightState,
    Log,
    TrafficSignal,
)

RATE_HZ = 10.0
CAMERAS = {"rgb_front": "front", "rgb_front_left": "front_left", "rgb_front_right": "front_right"}
_ANNO = re.compile(r"(?P<clip>(?:[^/]+/)*)anno/(?P<frame>\d{5,6})\.json\.gz")
_PICTURE = re.compile(r"(?:[^/]+/)*camera/(?P<folder>rgb_\w+)/(?P<frame>\d{5,6})\.(?:jpg|png)")
_TOWN = re.compile(r"Town\d+(?:HD)?")
_MAX_ANNO_BYTES = 64 << 20
_LOOK_AT = 10_000
# carla.TrafficLightState, as the recorder writes it
_LIGHTS = (
    LightState.RED,
    LightState.YELLOW,
    LightState.GREEN,
    LightState.OFF,
    LightState.UNKNOWN,
)


def claims(path: Path) -> bool:
    """Whether ``path`` is a folder with annotations or an archive that lists one among its first members."""
    if path.is_dir():
        return any(path.glob("anno/*.json.gz")) or any(path.glob("*/anno/*.json.gz"))
    if not path.name.endswith((".tar", ".tar.gz", ".tgz")):
        return False
    try:
        with tarfile.open(path) as archive:
            first = islice(archive, _LOOK_AT)
            return any(_ANNO.fullmatch(m.name.removeprefix("./")) for m in first)
    except (OSError, EOFError, tarfile.TarError, zlib.error):
        return False


def read(path: Path) -> Iterator[Log]:
    """Yield the clips of ``path`` (usually one), in the order of their names.

    Raises
    ------
    BadInput
        Naming the archive, the member and the field.
    """
    with open_archive(path) as archive:
        clips: dict[str, list[tuple[int, str]]] = {}
        for name in archive.sizes:
            if match := _ANNO.fullmatch(name):
                clips.setdefault(match["clip"], []).append((int(match["frame"]), name))
        if not clips:
            raise BadInput("no frames (anno/00000.json.gz) here", path=path)
        for clip, frames in sorted(clips.items()):
            name = clip.rstrip("/").rsplit("/", 1)[-1] or _stem(path)
            yield _read_clip(archive, clip, name, sorted(frames))


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".tgz").removesuffix(".tar")


@dataclass
class _Detections:
    """Boxes of all frames, still in CARLA's frame: x, y, yaw in degrees, length, width, height."""

    ids: list[str] = field(default_factory=list)
    kinds: list[AgentKind] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    boxes: list[tuple[float, ...]] = field(default_factory=list)


def _read_clip(archive: Archive, clip: str, name: str, frames: list[tuple[int, str]]) -> Log:
    times: Float = np.array([frame for frame, _ in frames]) / RATE_HZ
    ego = np.full((len(frames), 6), np.nan)
    commands = np.zeros(len(frames), dtype=np.int64)
    detections = _Detections()
    signals: dict[int, tuple[TrafficSignal, ...]] = {}
    for index, (_, member) in enumerate(frames):
        data = gunzip(archive.read(member), _MAX_ANNO_BYTES, archive.path, member)
        anno = parse_json(data, archive.path, member)
        with malformed(archive.path, member):
            ego[index] = _ego_row(anno)
            commands[index] = _command(anno)
            found = _surroundings(anno, float(times[index]), detections)
        if found:
            signals[index] = found
    with malformed(archive.path):
        poses, acceleration = _right_handed(ego), from_carla_points(ego[:, 4:6])
        velocity = _velocity(ego[:, 3], poses, times)
        check_velocity(velocity, poses, times, archive.path, "speed")
        agents = _agents(detections, times)
    town = _TOWN.search(name)
    return Log(
        source="bench2drive",
        log_id=name,
        times=times,
        poses=poses,
        velocity=velocity,
        acceleration=acceleration,
        command=commands,
        agents=agents,
        signals=signals,
        images=_images(archive, clip),
        frame_names=tuple(f"{frame:05d}" for frame, _ in frames),
        frame_origin="box_center",
        town=town[0] if town else "",
        situation=name.split("_", 1)[0] if "_" in name else "",
    )


def _agents(detections: _Detections, times: Float) -> AgentTracks:
    rows = np.array(detections.boxes, dtype=np.float64).reshape(-1, 6)
    boxes = np.concatenate([_right_handed(rows), rows[:, 3:]], axis=1)
    return tracks_on_grid(times, detections.ids, detections.kinds, detections.times, boxes)


def _ego(anno: dict[str, Any]) -> dict[str, Any]:
    """The box of the ego: its class is "ego_vehicle" in the data, the first "vehicle" in the documentation."""
    boxes: list[dict[str, Any]] = anno["bounding_boxes"]
    return next((box for box in boxes if box["class"] == "ego_vehicle"), boxes[0])


def _ego_row(anno: dict[str, Any]) -> tuple[float, ...]:
    """CARLA x, y, yaw of the ego, forward speed, and acceleration x, y in its left-handed body frame."""
    ego = _ego(anno)
    x, y, _ = ego["location"]
    acceleration = anno.get("acceleration") or (None, None)
    return (
        _number(x),
        _number(y),
        _number(ego["rotation"][2]),
        _number(anno.get("speed")),
        _number(acceleration[0]),
        _number(acceleration[1]),
    )


def _number(value: Any) -> float:
    """A number, NaN for None; text and booleans are refused."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"expected a number, got {str(value)[:40]!r}")
    return float(value)


def _command(anno: dict[str, Any]) -> int:
    value = anno.get("command_near")
    return int(value) if isinstance(value, int) and 1 <= value <= 6 else int(Command.UNKNOWN)


def _right_handed(rows: Float) -> Float:
    """Poses ``[R, 3]`` from rows that start with CARLA's x, y and yaw in degrees."""
    heading = from_carla_yaw(rows[:, 2])
    return np.concatenate([from_carla_points(rows[:, :2]), heading[:, None]], axis=1)


def _velocity(speed: Float, poses: Float, times: Float) -> Float:
    """Forward speed as recorded; sideways, and where the speedometer said None, from the poses."""
    if len(times) < 2:
        return np.stack([speed, np.zeros_like(speed)], axis=-1)
    driven = rotate(differentiate(poses[:, :2], times), -poses[:, 2])
    return np.stack([np.where(np.isfinite(speed), speed, driven[:, 0]), driven[:, 1]], axis=-1)


def _surroundings(
    anno: dict[str, Any], time: float, detections: _Detections
) -> tuple[TrafficSignal, ...]:
    """Append the road users of a frame to ``detections``; return its lights and signs."""
    signals = []
    ego = _ego(anno)
    for box in anno["bounding_boxes"]:
        if box is ego:
            continue
        kind = _kind(box)
        if kind is not None:
            x, y, _ = box.get("center") or box["location"]
            length, width, height = (2.0 * _number(half) for half in box["extent"])
            yaw = _number(box["rotation"][2])
            detections.ids.append(str(box["id"]))
            detections.kinds.append(kind)
            detections.times.append(time)
            detections.boxes.append((_number(x), _number(y), yaw, length, width, height))
        elif signal := _signal(box, ego["location"]):
            signals.append(signal)
    return tuple(signals)


def _kind(box: dict[str, Any]) -> AgentKind | None:
    """What a box is as a road user; None for lights, signs and the ego."""
    name = box["class"]
    if name == "vehicle":
        return AgentKind.CYCLIST if box.get("base_type") == "bicycle" else AgentKind.VEHICLE
    if name in ("walker", "pedestrian"):
        return AgentKind.PEDESTRIAN
    static = str(box.get("type_id", "")).startswith("static.")
    return AgentKind.OBSTACLE if static else None


def _signal(box: dict[str, Any], ego_location: list[float]) -> TrafficSignal | None:
    """A light or sign where it stands; its distance is that of the place it governs, if it governs the ego."""
    type_id = str(box.get("type_id", ""))
    state, value = LightState.UNKNOWN, math.nan
    if box["class"] == "traffic_light":
        kind, state = "traffic_light", _light_state(box.get("state"))
    elif type_id.startswith("traffic.speed_limit"):
        kind, value = "speed_limit", float(type_id.rsplit(".", 1)[-1]) / 3.6
    elif type_id in ("traffic.stop", "traffic.yield"):
        kind = type_id.removeprefix("traffic.")
    else:
        return None
    x, y, _ = from_carla_points(box["location"])
    affects, trigger = bool(box.get("affects_ego")), box.get("trigger_volume_location")
    distance = math.dist(trigger[:2], ego_location[:2]) if affects and trigger else math.nan
    return TrafficSignal(
        str(box["id"]), kind, (float(x), float(y)), state, affects, distance, value
    )


def _light_state(value: Any) -> LightState:
    if isinstance(value, int) and 0 <= value < len(_LIGHTS):
        return _LIGHTS[value]
    name = str(value).lower()
    return LightState(name) if name in set(LightState) else LightState.UNKNOWN


def _images(archive: Archive, clip: str) -> dict[str, tuple[Float, tuple[ImageRef, ...]]]:
    """Pictures of the front cameras; a frame may lack any of them."""
    found: dict[str, list[tuple[int, str]]] = {}
    for name in archive.sizes:
        match = _PICTURE.fullmatch(name) if name.startswith(clip) else None
        if match and match["folder"] in CAMERAS:
            found.setdefault(CAMERAS[match["folder"]], []).append((int(match["frame"]), name))
    return {
        camera: (
            np.array([frame for frame, _ in sorted(entries)]) / RATE_HZ,
            tuple(archive.ref(name) for _, name in sorted(entries)),
        )
        for camera, entries in sorted(found.items())
    }
