"""PhysicalAI-Autonomous-Vehicles: a root folder of labels, zipped in chunks or unpacked; one log a clip of 20 s.

Frame origin: rig frame, middle of the rear axle. Everything in ``egomotion`` (velocity too) is in the
clip's ANCHOR frame, the rig pose at the clip's start: it is turned into the body here. Quaternions are
x, y, z, w. Boxes of ``obstacle.offline`` are in the rig frame at their own stamp. Rate: egomotion at about
100 Hz, of which every 0.1 s is kept. Missing: navigation command, signals, pictures (they are in videos).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from driveproof.datasets.archives import open_archive
from driveproof.datasets.checks import check_velocity, malformed
from driveproof.datasets.columns import numbers, read_columns_of, seconds
from driveproof.datasets.motion import interpolate_poses, quaternion_yaw, tracks_on_grid
from driveproof.errors import BadInput
from driveproof.geometry.arrays import Float, Int
from driveproof.geometry.se2 import poses_to_world, rotate
from driveproof.scene import AgentKind, AgentTracks, Log

_EGOMOTION, _OBSTACLES = "egomotion", "obstacle.offline"
_MAX_PARQUET_BYTES = 64 << 20
_STEP_US = 100_000
_KINDS = {
    "person": AgentKind.PEDESTRIAN,
    "stroller": AgentKind.PEDESTRIAN,
    "rider": AgentKind.CYCLIST,
    "protruding_object": AgentKind.OBSTACLE,
    "animal": AgentKind.OBSTACLE,
}
Place = tuple[Path, str]
"""A parquet: a file and "", or a zip and its member."""


def claims(path: Path) -> bool:
    """Whether the folder holds egomotion labels."""
    return (path / "labels" / _EGOMOTION).is_dir()


def read(path: Path) -> Iterator[Log]:
    """Yield one log a clip, in the order of the clip names.

    Raises
    ------
    BadInput
        Naming the file or zip member, and the column.
    """
    clips = _clips(path, _EGOMOTION)
    if not clips:
        raise BadInput("holds no egomotion", path=path / "labels" / _EGOMOTION)
    obstacles = _clips(path, _OBSTACLES)
    for clip in sorted(clips):
        yield _read_clip(clip, clips[clip], obstacles.get(clip))


def _clips(root: Path, label: str) -> dict[str, Place]:
    """Clip name -> where its parquet is; an unpacked file wins over the zip it came from."""
    folder, suffix = root / "labels" / label, f".{label}.parquet"
    found: dict[str, Place] = {}
    for chunk in sorted(folder.glob("*.zip")):
        with open_archive(chunk) as archive:
            for name in archive.sizes:
                if name.endswith(suffix):
                    found[name.rsplit("/", 1)[-1].removesuffix(suffix)] = (chunk, name)
    for file in sorted(folder.glob(f"*{suffix}")):
        found[file.name.removesuffix(suffix)] = (file, "")
    return found


def _columns(
    place: Place, names: list[str]
) -> dict[str, np.ndarray[tuple[int], np.dtype[np.generic]]]:
    path, member = place
    if not member:
        return read_columns_of(path, names)
    with open_archive(path) as archive:
        data = archive.read(member, _MAX_PARQUET_BYTES)
    return read_columns_of(path, names, data, member)


def _read_clip(clip: str, motion: Place, obstacles: Place | None) -> Log:
    names = ["timestamp", "qx", "qy", "qz", "qw", "x", "y", "vx", "vy"]
    columns = _columns(motion, names)
    path, field = motion[0], motion[1] or None
    with malformed(path, field):
        stamps = columns["timestamp"].astype(np.int64)
        yaw = quaternion_yaw(*(columns[q] for q in ("qw", "qx", "qy", "qz")))
        poses = np.concatenate([numbers(columns, ["x", "y"]), yaw[:, None]], axis=1)
        velocity = rotate(numbers(columns, ["vx", "vy"]), -yaw)
        kept = _thinned(stamps)
        times = seconds(stamps, 1e-6, 0)
    check_velocity(velocity[kept], poses[kept], times[kept], path, f"{field or clip}: vx, vy")
    agents = None
    if obstacles is not None:
        agents = _agents(obstacles, times, poses, kept)
    return Log(
        source="physical_ai",
        log_id=clip,
        times=times[kept],
        poses=poses[kept],
        velocity=velocity[kept],
        agents=agents,
        frame_origin="rear_axle",
        missing=frozenset({"command", "signals", "images"} | (set() if agents else {"agents"})),
    )


def _thinned(stamps: Int) -> Int:
    """Indices of the first sample of every 0.1 s; all of them if the clock does not increase."""
    if (np.diff(stamps) <= 0).any():
        return np.arange(len(stamps))
    # a sample that comes half a period early still belongs to its tick
    ticks = (stamps - stamps[0] + _STEP_US // 20) // _STEP_US
    return np.unique(ticks, return_index=True)[1]


def _agents(place: Place, times: Float, poses: Float, kept: Int) -> AgentTracks:
    sizes = ["size_x", "size_y", "size_z"]
    turn = ["orientation_w", "orientation_x", "orientation_y", "orientation_z"]
    names = ["timestamp_us", "track_id", "label_class", "center_x", "center_y", *sizes, *turn]
    columns = _columns(place, names)
    with malformed(place[0], place[1] or None):
        clock = seconds(columns["timestamp_us"].astype(np.int64), 1e-6, 0)
        yaw = quaternion_yaw(*(columns[name] for name in turn))
        local = np.concatenate([numbers(columns, ["center_x", "center_y"]), yaw[:, None]], axis=1)
        usable = np.isfinite(poses).all(1)
        rig = interpolate_poses(clock, times[usable], poses[usable])
        boxes = np.concatenate([poses_to_world(local, rig), numbers(columns, sizes)], axis=1)
        return tracks_on_grid(
            times[kept],
            [str(name) for name in columns["track_id"]],
            [_KINDS.get(str(name), AgentKind.VEHICLE) for name in columns["label_class"]],
            clock,
            boxes,
        )
